"""The words that functions of `adapters` begin with: a name says what is done, not what comes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tests.architecture.source import Function, Module, read_modules

_VERBS = """
add advance aggregate answer append apply approve ask assemble attempt begin build buy call capture catch check choose
close collect compare complete compute confirm connect count cut decode describe digest discover encode enter estimate
exchange execute expect explain fetch find finish format gather get grow guard halve hash join keep leave list load
make mark measure name note open pack pad pair parse pause post publish put quarantine rank read record refresh refuse
remember remove replace replay reply report request require rewind run sample save seal sell send set settle show
shrink silence simulate sort split spread start sum swap sweep take tell unpack unwrap update verify wait wrap write
"""

VERBS = frozenset(_VERBS.split())
"""Look for one that says the same before you add another."""

QUESTIONS = frozenset({"is", "has", "can", "allows", "delivers", "refuses"})
"""For functions that return a bool."""

CONVERSIONS = frozenset({"from", "to"})
"""For what gives the same in another form: ``from_record``, ``to_json``."""

WORDS = VERBS | QUESTIONS | CONVERSIONS


def read_adapters() -> list[Module]:
    """Return the modules in which functions begin with one of `WORDS`."""
    return [module for name, module in read_modules().items() if f"{name}.".startswith("adapters.")]


def find_nouns(modules: Iterable[Module]) -> set[str]:
    """Return the names that begin with another word."""
    return {name for module in modules for name in list_names(module) if first_word(name) not in WORDS}


def list_names(module: Module) -> Iterator[str]:
    """Yield the names of functions and methods, without properties and the methods of Python's own protocols."""
    for function in module.functions():
        if not function.name.startswith("__") and not _is_property(function):
            yield function.name


def first_word(name: str) -> str:
    """Return what a name begins with."""
    return name.lstrip("_").partition("_")[0]


def _is_property(function: Function) -> bool:
    named = {node.id for node in function.decorator_list if isinstance(node, ast.Name)}
    return not named.isdisjoint({"property", "cached_property"})

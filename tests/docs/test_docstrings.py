"""Examples in docstrings print what they say, and the site's reference has every public name."""

from __future__ import annotations

import doctest
import pkgutil
import re
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

import adapters
import routing_engine
from routing_engine import analysis, formats, markets

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = "".join(path.read_text(encoding="utf-8") for path in sorted((DOCS / "reference").glob("*.md")))
NAMED = set(re.findall(r"^::: (\S+)$", REFERENCE, re.MULTILINE))


def list_modules_with_examples() -> list[str]:
    """Return the modules of the public packages in whose source an example stands."""
    found = []
    for package in (routing_engine, adapters):
        (folder,) = package.__path__
        sources = {path: path.read_text(encoding="utf-8") for path in Path(folder).rglob("*.py")}
        found += [path.relative_to(Path(folder).parent) for path, text in sources.items() if ">>> " in text]
    return sorted(".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in found)


@pytest.mark.parametrize("name", list_modules_with_examples())
def test_examples_print_what_they_say(name: str) -> None:
    result = doctest.testmod(import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0


def test_every_public_name_is_in_the_reference() -> None:
    for package in (routing_engine, markets, formats):
        assert {f"{package.__name__}.{name}" for name in package.__all__} <= NAMED


def test_every_question_of_the_analysis_is_in_the_reference() -> None:
    for module in pkgutil.iter_modules(analysis.__path__, f"{analysis.__name__}."):
        own = [name for name, value in vars(import_module(module.name)).items() if is_function_of(value, module.name)]
        questions = {name for name in own if re.match(r"(measure_|find_cycles$|sweep$|fill_route$)", name)}
        assert {f"{module.name}.{name}" for name in questions} <= NAMED


def is_function_of(value: object, module: str) -> bool:
    """Tell whether a value is a function that a module defines."""
    return isinstance(value, FunctionType) and value.__module__ == module

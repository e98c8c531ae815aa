"""Sizes that the rules of `CONTRIBUTING.md` bound: lines of files and functions, parameters of functions."""

from __future__ import annotations

from pathlib import Path

from tests.architecture.source import ROOT, Function, read_modules

MAX_FILE_LINES = 250
MAX_FUNCTION_LINES = 40
MAX_PARAMETERS = 8
MIGRATIONS = "api.storage.migrations.versions."
"""Generated once and never changed afterwards: no rule holds for them."""


def list_long_files(root: Path = ROOT) -> dict[str, int]:
    """Return modules of more than `MAX_FILE_LINES` lines, with their lines."""
    lines = {module.name: module.text.count("\n") for module in read_modules(root).values()}
    return {name: count for name, count in lines.items() if count > MAX_FILE_LINES and not name.startswith(MIGRATIONS)}


def list_functions(root: Path = ROOT) -> dict[str, tuple[int, int]]:
    """Return all functions, as ``module:name``, with their lines and their parameters."""
    return {
        f"{module.name}:{function.name}": (count_lines(function), count_parameters(function))
        for module in read_modules(root).values()
        if not module.name.startswith(MIGRATIONS)
        for function in module.functions()
    }


def list_wide_functions(root: Path = ROOT) -> dict[str, int]:
    """Return functions of more than `MAX_PARAMETERS` parameters, with how many."""
    return {name: count for name, (_, count) in list_functions(root).items() if count > MAX_PARAMETERS}


def count_lines(function: Function) -> int:
    """Return the lines of a function from its ``def`` to its end, docstring included."""
    assert function.end_lineno
    return function.end_lineno - function.lineno + 1


def count_parameters(function: Function) -> int:
    """Return how many parameters a caller has to think of: ``self`` and ``cls`` are none."""
    given = function.args
    names = [arg.arg for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in {"self", "cls"}]) + bool(given.vararg) + bool(given.kwarg)

"""What a solver is, and how one is named: by an entry point, ``module:object``, or the address of a service."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Protocol

from benchmarks.harness.answer import Answer
from routing_engine import RouteRequest, Snapshot
from routing_engine.errors import BrokenExtension
from routing_engine.extensions import describe_error, load_extension

ENTRY_POINTS = "routing_engine.solvers"
"""Group in which packages name their solvers: each a class, or whatever gives a solver when it is called."""


class Unsupported(Exception):
    """A solver does not take a market, or needs something that is not installed; the text says which."""


class UnknownSolver(Exception):
    """No solver has this name, or it cannot be loaded; the text has the remedy."""


class Solver(Protocol):
    """Finds routes on one market after the other; made anew in a process of its own for each.

    It may also have ``remote = True``, where another process works for it, so that its processor time and memory are
    not known; ``cpu_clock()``, seconds of processor time where those of its own process are not all; and ``close()``.
    """

    name: str
    version: str

    def load(self, snapshot: Snapshot) -> None:
        """Take a market; its time is the solver's start.

        Raises
        ------
        Unsupported
            If it does not take this one.
        """
        ...

    def solve(self, request: RouteRequest, gas_values: Mapping[int, float]) -> Answer | Mapping[str, Any] | None:
        """Return an answer, also as its JSON document; None where it finds no route.

        Parameters
        ----------
        request : RouteRequest
            With names looked up: its tokens are tokens.
        gas_values : mapping of int to float
            What one unit of gas costs on each chain, in smallest units of `token_out`, or of `token_in` for
            ``exact_out``: as it will be counted.
        """
        ...


def list_solvers() -> list[str]:
    """Return the names of installed solvers."""
    return sorted({entry.name for entry in entry_points(group=ENTRY_POINTS)})


def check_name(name: str) -> None:
    """Refuse a name that no installed solver has, before anything is measured.

    Raises
    ------
    UnknownSolver
        With those that are installed.
    """
    if ":" not in name and name not in list_solvers():
        known = ", ".join(list_solvers()) or "none"
        raise UnknownSolver(f"no solver is called {name!r}; installed: {known}; or write module:object or http://…")


def make_solver(name: str) -> Solver:
    """Return a new solver.

    Parameters
    ----------
    name : str
        An entry point's name; ``module:object``; or ``http://…`` or ``https://…``.

    Raises
    ------
    UnknownSolver
        If there is none, or it cannot be loaded.
    Unsupported
        If what it needs is missing.
    """
    if name.startswith(("http://", "https://")):
        from benchmarks.harness.http import HttpSolver

        return HttpSolver(name)
    make = _load_object(name) if ":" in name else _load_entry(name)
    solver: Solver = make() if callable(make) else make
    for needed in ("load", "solve"):
        if not callable(getattr(solver, needed, None)):
            raise UnknownSolver(f"{name} has no method {needed!r}, as a solver has")
    return solver


def _load_entry(name: str) -> Any:
    check_name(name)
    try:
        return load_extension(next(iter(entry_points(group=ENTRY_POINTS, name=name))))
    except BrokenExtension as error:
        raise UnknownSolver(str(error)) from error


def _load_object(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:
        raise UnknownSolver(f"{name} cannot be loaded: {describe_error(error)}") from error
    return found

"""The next state of a market."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    M = TypeVar("M", bound=DataclassInstance)


def advance(market: M, **changes: Any) -> M:
    """Return the market's next state, with other values in some fields: one that a swap leads to, and so a valid one.

    The same as `dataclasses.replace`, three to six times as fast. Every swap gives a state and few are looked at, so it
    is neither checked again nor built by the constructor.
    """
    kind = type(market)
    state = object.__new__(kind)
    for name, write in _writers(kind):
        write(state, changes[name] if name in changes else getattr(market, name))
    return state


@cache
def _writers(kind: type) -> tuple[tuple[str, Callable[[object, Any], None]], ...]:
    """List the fields of a frozen dataclass with slots, each with what writes to it."""
    return tuple((field.name, getattr(kind, field.name).__set__) for field in fields(kind))

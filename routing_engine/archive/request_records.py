"""Requests as JSON values, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from routing_engine.model import Token
from routing_engine.request import RouteRequest
from routing_engine.route import Side

_NAMES = [field.name for field in fields(RouteRequest)]
_PLAIN = frozenset({bool, float, int, str})
"""Types of what JSON has as it is."""


def describe_request(request: RouteRequest) -> dict[str, Any]:
    """Return every field of a request, defaults too: they may be others in another version."""
    record = {name: _describe(getattr(request, name)) for name in _NAMES}
    return record | {"amount": str(request.amount)}


def read_request(record: Mapping[str, Any]) -> RouteRequest:
    """Inverse of `describe_request`; tokens are names, which the router that is asked looks up.

    Raises
    ------
    InvalidRequest
        Naming the field whose value is out of bounds.
    TypeError
        If a field is missing or is none of a request's.
    """
    prices = record.get("gas_prices")
    given = dict(record) | {"amount": _read_number(record.get("amount"))}
    if isinstance(prices, Mapping):
        given["gas_prices"] = {_read_number(chain_id): _read_number(wei) for chain_id, wei in prices.items()}
    return RouteRequest(**given)


def _describe(value: Any) -> Any:
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, Token):
        return value.key
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return {str(key): str(each) for key, each in sorted(value.items())}
    return str(value) if isinstance(value, Side) else value


def _read_number(value: Any) -> Any:
    """Return the integer that a digit string stands for; anything else as it is, for the request to refuse."""
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() else value

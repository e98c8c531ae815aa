"""Columns that tell of tokens and their amounts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from routing_engine.frames.column import Column, Kind
from routing_engine.model import Token


def describe_ends(ends: Iterable[tuple[Token, Token]]) -> tuple[Column, ...]:
    """Return the tokens that go in and come out: their short names, and what tells tokens of one name apart."""
    given, taken = zip(*ends, strict=True) if (ends := list(ends)) else ((), ())
    return (
        Column("token_in", Kind.TEXT, [str(token) for token in given]),
        Column("token_out", Kind.TEXT, [str(token) for token in taken]),
        Column("key_in", Kind.TEXT, [token.key for token in given], is_detail=True),
        Column("key_out", Kind.TEXT, [token.key for token in taken], is_detail=True),
    )


def describe_amounts(name: str, amounts: Sequence[int], tokens: Sequence[Token]) -> tuple[Column, Column]:
    """Return amounts twice: exact in smallest units, and as whole tokens to calculate with."""
    whole = [float(token.to_whole(amount)) for token, amount in zip(tokens, amounts, strict=True)]
    return (
        Column(name, Kind.UNITS, list(amounts), unit="smallest units", is_detail=True),
        Column(f"{name}_whole", Kind.NUMBER, whole, unit="whole tokens"),
    )

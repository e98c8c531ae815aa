"""A row for each route: what results and quotes have in common as tables."""

from __future__ import annotations

import math
from collections.abc import Sequence

from routing_engine.fixed_point import BPS
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.tokens import describe_amounts
from routing_engine.model import Token
from routing_engine.route import Route


def describe_routes(routes: Sequence[Route | None], ends: Sequence[tuple[Token, Token]]) -> tuple[Column, ...]:
    """Return amounts, costs and sizes of routes; where there is none: 0 units, and NaN.

    Where `gas_priced` is false, what gas is worth is unknown, and net amounts are as large as those before gas.

    Parameters
    ----------
    routes : sequence of Route or None
        A row each.
    ends : sequence of (Token, Token)
        What was asked for, in the same order.
    """

    def units(name: str) -> list[int]:
        return [getattr(route, name) if route else 0 for route in routes]

    def numbers(name: str, factor: float = 1.0) -> list[float]:
        return [getattr(route, name) * factor if route else math.nan for route in routes]

    def counts(name: str) -> list[int]:
        return [len(getattr(route, name)) if route else 0 for route in routes]

    given, taken = [end[0] for end in ends], [end[1] for end in ends]
    return (
        *describe_amounts("amount_in", units("amount_in"), given),
        *describe_amounts("amount_out", units("amount_out"), taken),
        *describe_amounts("amount_out_net", units("amount_out_net"), taken),
        *describe_amounts("amount_in_gross", units("amount_in_gross"), given),
        Column("price", Kind.NUMBER, numbers("price"), unit="whole tokens out per whole token in"),
        Column("price_impact_bps", Kind.NUMBER, numbers("price_impact", BPS), unit="bps"),
        Column("gas", Kind.COUNT, units("gas"), unit="gas"),
        Column("gas_priced", Kind.FLAG, [route is not None and route.gas_priced for route in routes]),
        Column("fill_time_s", Kind.COUNT, units("fill_time_s"), unit="s"),
        Column("paths", Kind.COUNT, counts("paths")),
        Column("markets", Kind.COUNT, counts("hops")),
        Column("legs", Kind.COUNT, counts("legs")),
    )

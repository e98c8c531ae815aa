"""A row for each direction of each market."""

from __future__ import annotations

import math
from collections.abc import Iterable

from routing_engine.frames.column import Column, Kind
from routing_engine.frames.tokens import describe_amounts, describe_ends
from routing_engine.market import Market


def describe_directions(markets: Iterable[Market]) -> tuple[Column, ...]:
    """Return what each market offers in its present state, in the order of the markets.

    `price` is that of a vanishing amount, after proportional fees; `fee` the part of the mid price that is lost there,
    NaN where there is no way back.
    """
    rows = [(market, *edge) for market in markets for edge in market.edges()]
    ends = [(token_in, token_out) for _, token_in, token_out in rows]
    limits = [market.limits(*edge) for market, *edge in rows]
    curves = [market.curve(*edge) for market, *edge in rows]
    rates = {(market.id, *edge): market.spot_price(*edge) for market, *edge in rows}
    prices = [rates[market.id, *edge] * 10.0 ** (edge[0].decimals - edge[1].decimals) for market, *edge in rows]
    turns = [rates[market.id, *edge] * rates.get((market.id, *reversed(edge)), math.nan) for market, *edge in rows]
    given = [end[0] for end in ends]
    return (
        Column("market_id", Kind.TEXT, [market.id for market, *_ in rows]),
        Column("kind", Kind.TEXT, [market.kind for market, *_ in rows]),
        Column("protocol", Kind.TEXT, [market.protocol for market, *_ in rows]),
        *describe_ends(ends),
        Column("chain_in", Kind.COUNT, [token_in.chain_id for token_in, _ in ends]),
        Column("chain_out", Kind.COUNT, [token_out.chain_id for _, token_out in ends]),
        Column("price", Kind.NUMBER, prices, unit="whole tokens out per whole token in"),
        Column("fee", Kind.NUMBER, [1.0 - math.sqrt(turn) for turn in turns], unit="part of 1"),
        *describe_amounts("min_amount_in", [each.min_amount_in for each in limits], given),
        *describe_amounts("max_amount_in", [each.max_amount_in for each in limits], given),
        Column("gas", Kind.COUNT, [int(curve.gas) for curve in curves], unit="gas"),
        Column("fill_time_s", Kind.COUNT, [int(curve.fill_time_s) for curve in curves], unit="s"),
    )

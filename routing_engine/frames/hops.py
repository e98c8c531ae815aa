"""A row for each hop of a route."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from routing_engine.fixed_point import BPS
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.tokens import describe_amounts, describe_ends
from routing_engine.model import Hop


def describe_hops(hops: Sequence[Hop]) -> tuple[Column, ...]:
    """Return what each market does; `share` is its part of what all hops spend of its input token."""
    spent: Counter[str] = Counter()
    for hop in hops:
        spent[hop.token_in.key] += hop.amount_in
    ends = [(hop.token_in, hop.token_out) for hop in hops]
    given, taken = [end[0] for end in ends], [end[1] for end in ends]
    paid, received = [hop.amount_in for hop in hops], [hop.amount_out for hop in hops]
    shares = [hop.amount_in / max(spent[hop.token_in.key], 1) for hop in hops]
    scales = [10.0 ** (token_in.decimals - token_out.decimals) for token_in, token_out in ends]
    prices = [hop.amount_out / max(hop.amount_in, 1) * scale for hop, scale in zip(hops, scales, strict=True)]
    return (
        Column("chain_id", Kind.COUNT, [hop.token_in.chain_id for hop in hops]),
        Column("protocol", Kind.TEXT, [hop.protocol for hop in hops]),
        Column("market_id", Kind.TEXT, [hop.market_id for hop in hops]),
        *describe_ends(ends),
        *describe_amounts("amount_in", paid, given),
        *describe_amounts("amount_out", received, taken),
        Column("share", Kind.NUMBER, shares, unit="part of 1"),
        Column("price", Kind.NUMBER, prices, unit="whole tokens out per whole token in"),
        Column("price_impact_bps", Kind.NUMBER, [hop.price_impact * BPS for hop in hops], unit="bps"),
        Column("gas", Kind.COUNT, [hop.gas for hop in hops], unit="gas"),
        Column("fill_time_s", Kind.COUNT, [hop.fill_time_s for hop in hops], unit="s"),
        Column("is_bridge", Kind.FLAG, [hop.is_bridge for hop in hops]),
    )

"""The conformance suite for markets: what every kind must keep, checked on one market in a few milliseconds."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from math import isfinite
from typing import Unpack

from adapters.testing.probe import NotConforming, Probe, Tolerances
from routing_engine.errors import QuoteRefused
from routing_engine.market import Limits, Market

RELATIVE_ERROR = 1e-9
"""How far the float64 curve may be from the exact quote, beside integer rounding."""


def check_market(market: Market, *, seed: int = 0, samples: int = 16, **tolerances: Unpack[Tolerances]) -> None:
    """Check every property that the engine relies on.

    The record restores the market; quotes change nothing and repeat; limits are served, and what lies outside or
    is no integer is refused; a larger input never gives less, and two trades never more than one; a round trip gains
    nothing; exact-out is the least sufficient input; the float curve follows the exact quote, and its inverse the
    curve.

    Parameters
    ----------
    market : Market
        Not changed.
    seed, samples : int
        Which amounts to try, and how many in each direction.
    **tolerances
        By how much less a property may hold: see `Tolerances`.

    Raises
    ------
    NotConforming
        If a property does not hold.
    """
    before = json.dumps(market.to_record())
    _check_record(market, before)
    rng = random.Random(seed)
    for token_in, token_out in market.edges():
        limits = market.limits(token_in, token_out)
        amounts = _spread(rng, limits, samples)
        probe = Probe(
            market=market, token_in=token_in, token_out=token_out, limits=limits, amounts=amounts, **tolerances
        )
        served = (amount for amount in amounts if amount in (amounts[0], amounts[-1]) or not probe.is_gap(amount))
        probe = replace(probe, amounts=tuple(served))
        probe.require(1 <= limits.min_amount_in <= limits.max_amount_in, "an open direction needs limits, minimum >= 1")
        for check in PROPERTIES:
            check(probe)
    if json.dumps(market.to_record()) != before:
        raise NotConforming(f"{market.id}: quoting changed the market")


def check_quotes(probe: Probe) -> None:
    """Quoting gives the hop of the swap."""
    for amount in probe.amounts:
        quoted = probe.market.quote_exact_in(probe.token_in, probe.token_out, amount)
        probe.require(quoted == probe.sell(amount), f"input {amount} is quoted otherwise than it is swapped")


def check_limits(probe: Probe) -> None:
    """Both limits are served; the amounts just outside are refused, and those that are no integers."""
    swap, limits = probe.market.swap_exact_in, probe.limits
    probe.sell(limits.min_amount_in)
    probe.sell(limits.max_amount_in)
    outside = () if probe.serves_beyond else (limits.min_amount_in - 1, limits.max_amount_in + 1)
    for amount in (-1, 0, *outside):
        probe.require(probe.refuses(swap, amount), f"input {amount} is outside the limits, but not refused")
    largest = probe.sell(limits.max_amount_in).amount_out
    for amount in (-1, 0, largest + int(largest * probe.dip) + 1):
        probe.require(probe.refuses(probe.market.swap_exact_out, amount), f"output {amount} is possible for no input")
    same = probe.refuses(lambda token, _, amount: probe.market.swap_exact_in(token, token, amount), probe.amounts[0])
    probe.require(same, "a token is exchanged for itself")
    for each in (probe.market.swap_exact_in, probe.market.swap_exact_out):
        probe.require(probe.refuses_inexact(each), "an amount that is no int must be refused first: refuse_inexact")


def check_hops(probe: Probe) -> None:
    """Hops state their market, direction and amounts, and repeat when asked again."""
    market = probe.market
    for amount in probe.amounts:
        hop = probe.sell(amount)
        stated = (hop.market_id, hop.protocol, hop.token_in, hop.token_out, hop.amount_in)
        expected = (market.id, market.protocol, probe.token_in, probe.token_out, amount)
        probe.require(stated == expected, f"the hop states {stated} instead of {expected}")
        probe.require(hop.amount_out > 0, f"input {amount} gives nothing, but is not refused")
        probe.require(min(hop.gas, hop.fill_time_s, *(fee.amount for fee in hop.fees)) >= 0, "a cost is negative")
        probe.require(probe.sell(amount) == hop, f"the second quote of {amount} differs from the first")
        spot = market.spot_price(probe.token_in, probe.token_out)
        probe.require(hop.spot_price == spot, f"the hop's spot price {hop.spot_price} is not the market's {spot}")


def check_monotone(probe: Probe) -> None:
    """Larger inputs never give less, not even one unit larger."""
    last, bound = probe.sell(probe.amounts[0]), probe.limits.max_amount_in
    neighbours = {min(amount + 1, bound) for amount in probe.amounts}
    for amount in sorted(neighbours.union(probe.amounts)):
        if probe.is_gap(amount):
            continue
        hop = probe.sell(amount)
        more = hop.amount_out >= last.amount_out - int(last.amount_out * probe.dip)
        probe.require(more, f"input {amount} gives {hop.amount_out}, but {last.amount_in} gave {last.amount_out}")
        last = hop


def check_one_trade_beats_two(probe: Probe) -> None:
    """Selling in two parts, one after the other, never gives more than selling at once."""
    for amount in probe.amounts:
        part = amount // 3
        if part < probe.limits.min_amount_in:
            continue
        if probe.is_gap(part):
            continue
        first, after = probe.market.swap_exact_in(probe.token_in, probe.token_out, part)
        try:
            second, _ = after.swap_exact_in(probe.token_in, probe.token_out, amount - part)
        except QuoteRefused:
            continue
        together = first.amount_out + second.amount_out
        whole = probe.sell(amount).amount_out
        saved = probe.split_units * (1.0 + probe.market.spot_price(probe.token_in, probe.token_out))
        allowed = whole + int(whole * probe.split_gain) + int(saved)
        probe.require(together <= allowed, f"{part} and then {amount - part} give {together}, at once {whole}")


def check_round_trip(probe: Probe) -> None:
    """Selling, then buying back with all that was received, never gains."""
    for amount in probe.amounts:
        hop, after = probe.market.swap_exact_in(probe.token_in, probe.token_out, amount)
        if (probe.token_out, probe.token_in) not in after.edges():
            continue
        try:
            back, _ = after.swap_exact_in(probe.token_out, probe.token_in, hop.amount_out)
        except QuoteRefused:
            continue
        most = amount + probe.trip_units
        probe.require(back.amount_out <= most, f"a round trip turns {amount} into {back.amount_out}")


def check_exact_out(probe: Probe) -> None:
    """Exact-out is the exact-in swap of the least input that suffices."""
    for amount in probe.amounts:
        offered = probe.sell(amount).amount_out
        for wanted in {offered, max(1, offered - 1), offered // 2 + 1}:
            hop = probe.buy(wanted)
            probe.require(hop.amount_out >= wanted, f"asked for {wanted}, got {hop.amount_out}")
            probe.require(probe.sell(hop.amount_in) == hop, f"output {wanted} is not the exact-in swap of its input")
            less = hop.amount_in - 1
            if less >= probe.limits.min_amount_in and not probe.is_gap(less):
                probe.require(probe.sell(less).amount_out < wanted, f"input {less} would suffice for {wanted}")


def check_curve(probe: Probe) -> None:
    """Float curves follow the exact quote within the limits; their inverse undoes them."""
    curve, units = probe.market.curve(probe.token_in, probe.token_out), probe.rounding_units
    spot = probe.market.spot_price(probe.token_in, probe.token_out)
    low, high = float(probe.limits.min_amount_in), float(probe.limits.max_amount_in)
    in_units = units * (1.0 + 1.0 / spot)
    ends = abs(curve.x_max - high) <= RELATIVE_ERROR * high + in_units
    bounds_fit = ends and curve.x_min <= low * (1.0 + RELATIVE_ERROR)
    probe.require(bounds_fit, f"the curve's range {curve.x_min} to {curve.x_max} is not that of {probe.limits}")
    for amount in probe.amounts:
        x = min(max(float(amount), curve.x_min), curve.x_max)
        exact, y = probe.sell(amount).amount_out, curve(x)
        allowed = RELATIVE_ERROR * exact + units * (1.0 + spot)
        probe.require(isfinite(y) and abs(y - exact) <= allowed, f"at {amount} the curve gives {y}, exact is {exact}")
        # Near the end float64 cannot tell the outputs of many inputs apart, so nothing can be inverted there.
        if y < (1.0 - 1e-6) * curve(curve.x_max):
            again = curve(curve.inverse(y))
            probe.require(abs(again - y) <= RELATIVE_ERROR * y, f"the inverse of {y} leads to {again}")


PROPERTIES: tuple[Callable[[Probe], None], ...] = (
    check_limits,
    check_hops,
    check_monotone,
    check_one_trade_beats_two,
    check_round_trip,
    check_exact_out,
    check_curve,
    check_quotes,
)
"""What `check_market` runs, in this order, on each direction."""


def _check_record(market: Market, written: str) -> None:
    tokens = {token.key: token for token in market.tokens}
    restored = type(market).from_record(json.loads(written), tokens)
    if restored != market:
        raise NotConforming(f"{market.id}: its record restores another market")


def _spread(rng: random.Random, limits: Limits, samples: int) -> tuple[int, ...]:
    """Pick amounts evenly over the magnitudes between the limits, and the limits."""
    low, high = limits.min_amount_in, limits.max_amount_in
    picked = {min(high, max(low, int(low * (high / low) ** rng.random()))) for _ in range(samples)}
    return tuple(sorted({low, *picked, high}))

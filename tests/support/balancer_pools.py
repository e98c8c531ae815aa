"""Hypothesis strategies: Balancer's pools, over the magnitudes that real ones have."""

from __future__ import annotations

from hypothesis import strategies as st

from routing_engine.amm.balancer.stable import AMP_PRECISION, MAX_AMP, MIN_AMP, Invariant
from routing_engine.fixed_point import WAD
from routing_engine.markets import BalancerLinearPool, BalancerStablePool, BalancerV1Pool, WeightedPool
from routing_engine.model import Token
from tests.support.strategies import magnitudes, make_token

BALANCER_KINDS = {"balancer_linear", "balancer_stable", "balancer_v1", "weighted"}
"""What `tests.conformance.test_balancer` checks."""

FEES = st.one_of(st.sampled_from((10**12, 4 * 10**14, 3 * 10**15, 10**17)), magnitudes(10**12, 10**17))


@st.composite
def baskets(draw: st.DrawFn, most: int) -> tuple[Token, ...]:
    """Tokens of different decimals."""
    count = draw(st.integers(2, most))
    return tuple(make_token(n + 1, draw(st.sampled_from((6, 8, 18, 18, 0)))) for n in range(count))


@st.composite
def balances_of(draw: st.DrawFn, tokens: tuple[Token, ...]) -> tuple[int, ...]:
    """From a thousandth of a whole token to a billion of them."""
    return tuple(
        draw(magnitudes(max(10**6, 10 ** (token.decimals - 3)), 10 ** (token.decimals + 9))) for token in tokens
    )


@st.composite
def weights_of(draw: st.DrawFn, count: int) -> tuple[int, ...]:
    """Weights of at least 1 %: equal ones, whole percents, or any."""
    unit = draw(st.sampled_from((WAD // 100, 1)))
    parts = [draw(st.integers(WAD // 100 // unit, WAD // 2 // count // unit)) for _ in range(count - 1)]
    if draw(st.booleans()):
        parts = [WAD // unit // count] * (count - 1)
    return (*(part * unit for part in parts), WAD - sum(parts) * unit)


@st.composite
def weighted_pools(draw: st.DrawFn) -> WeightedPool:
    tokens = draw(baskets(4))
    return WeightedPool(
        id="1:0xweighted",
        protocol="balancer_v2",
        tokens=tokens,
        balances=draw(balances_of(tokens)),
        weights=draw(weights_of(len(tokens))),
        fee_e18=draw(FEES),
        multiplies_powers=draw(st.booleans()),
    )


def weighted_rounding(pool: WeightedPool) -> int:
    """Bound the units that rounding costs: ratios and powers have steps of 1e-18 of a balance."""
    max_average_price = max(pool.weights) / min(pool.weights)
    return 4 + int((4 + max_average_price) * max(pool.balances) / WAD)


@st.composite
def stable_pools(draw: st.DrawFn) -> BalancerStablePool:
    """Pools from balance to a thousand to one, with rates or without."""
    tokens = draw(baskets(4))
    rates = tuple(draw(st.one_of(st.just(WAD), magnitudes(WAD // 2, 3 * WAD))) for _ in tokens)
    scales = tuple(rate * 10 ** (18 - token.decimals) for token, rate in zip(tokens, rates, strict=True))
    depth = draw(magnitudes(10**21, 10**28))
    shares = [draw(st.integers(1, 1000)) for _ in tokens]
    balances = (depth * share // 500 * WAD // scale for share, scale in zip(shares, scales, strict=True))
    return BalancerStablePool(
        id="1:0xstable",
        protocol="balancer_v2",
        tokens=tokens,
        balances=tuple(balances),
        scales=scales,
        amp=draw(magnitudes(MIN_AMP, MAX_AMP)),
        fee_e18=draw(FEES),
        invariant=draw(st.sampled_from(Invariant)),
    )


def stable_rounding(pool: BalancerStablePool) -> int:
    """Bound the units that rounding costs: terms divided by the amplification have steps of a thousand of 1e-18."""
    return 8 + int(4 * AMP_PRECISION * WAD / min(pool.scales))


@st.composite
def v1_pools(draw: st.DrawFn) -> BalancerV1Pool:
    tokens = draw(baskets(4))
    weights = st.one_of(st.sampled_from((WAD, 2 * WAD, 5 * WAD)), st.integers(WAD, 50 * WAD))
    return BalancerV1Pool(
        id="1:0xv1",
        protocol="balancer_v1",
        tokens=tokens,
        balances=draw(balances_of(tokens)),
        weights=tuple(draw(weights) for _ in tokens),
        fee_e18=draw(magnitudes(10**12, 10**17)),
    )


def v1_rounding(pool: BalancerV1Pool) -> int:
    """Bound the units that rounding costs: ratios and powers have steps of 1e-18 of a balance."""
    max_average_price = max(pool.weights) / min(pool.weights)
    return 4 + int((30 + max_average_price) * max(pool.balances) / WAD)


@st.composite
def linear_pools(draw: st.DrawFn) -> BalancerLinearPool:
    """Pools below, between and above their targets."""
    decimals = draw(st.sampled_from((6, 8, 18)))
    unit = 10 ** (18 - decimals)
    tokens = (make_token(1, decimals), make_token(2, decimals), make_token(3))
    rate, main = draw(magnitudes(WAD // 2, 3 * WAD)), draw(magnitudes(10**6, 10 ** (decimals + 9)))
    wrapped = draw(magnitudes(10**6, 10 ** (decimals + 9)))
    lower, upper = sorted(draw(st.one_of(st.just(0), magnitudes(WAD, 10**27))) for _ in range(2))
    worth = (main + wrapped * rate // WAD) * unit
    return BalancerLinearPool(
        id="1:0xlinear",
        protocol="balancer_v2",
        tokens=tokens,
        balances=(main, wrapped, max(1, worth * WAD // draw(magnitudes(WAD, 2 * WAD)))),
        rate_e18=rate,
        lower_target=lower,
        upper_target=upper,
        fee_e18=draw(magnitudes(10**12, 10**17)),
    )


def linear_rounding(pool: BalancerLinearPool) -> int:
    return 8

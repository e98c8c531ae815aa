"""The curves of Curve's pools: their inverses, and what lies outside their limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from routing_engine.amm.cryptoswap.exchange import CryptoRules, Method, find_invariant, scaled
from routing_engine.amm.stableswap import FEE_SCALE, Product
from routing_engine.fixed_point import WAD
from routing_engine.markets.cryptoswap.pool import CryptoSwapPool
from routing_engine.markets.stableswap.pool import StableSwapPool
from tests.support.strategies import make_token

FIRST, SECOND, THIRD = TOKENS = tuple(make_token(90 + number) for number in range(3))
GROWING_FEE = StableSwapPool(
    id="1:0xng",
    protocol="curve",
    tokens=TOKENS,
    balances=(10**24, 2 * 10**24, 15 * 10**23),
    rates=(WAD,) * 3,
    amp=20_000,
    fee_e10=4_000_000,
    admin_fee_e10=FEE_SCALE // 2,
    multiplier_e10=2 * FEE_SCALE,
    product=Product.LAST,
)


def crypto_pool(count: int, method: Method) -> CryptoSwapPool:
    """Return a pool of so many coins, a little out of balance."""
    prices = (2_000 * WAD, 30_000 * WAD)[: count - 1]
    balances = (10**25, 6 * 10**21, 4 * 10**20)[:count]
    gamma = 145_000_000_000_000 if count == 2 else 11_809_167_828_997
    rules = CryptoRules(method, 400_000 if count == 2 else 1_707_629, gamma, 5_000_000, 30_000_000, 10**15)
    return CryptoSwapPool(
        id="1:0xcrypto",
        protocol="curve",
        tokens=TOKENS[:count],
        balances=balances,
        price_scale=prices,
        d=find_invariant(scaled(balances, (1,) * count, prices), rules),
        ann=rules.ann,
        gamma=rules.gamma,
        mid_fee=rules.mid_fee,
        out_fee=rules.out_fee,
        fee_gamma=rules.fee_gamma,
        method=method,
    )


POOLS = {
    "growing fee": GROWING_FEE,
    "two coins": crypto_pool(2, Method.CLOSED_FORM),
    "three coins": crypto_pool(3, Method.CLOSED_FORM),
    "stable mathematics": crypto_pool(2, Method.STABLE),
}


@pytest.fixture(params=POOLS)
def pool(request):
    return POOLS[request.param]


def test_the_inverse_undoes_the_curve(pool):
    curve = pool.curve(SECOND, FIRST)
    for x in np.geomspace(2 * curve.x_min, 0.99 * curve.x_max, 40):
        assert curve.inverse(curve(x)) == pytest.approx(x, rel=1e-9)


def test_curves_follow_the_exact_pool_down_to_its_smallest_swaps(pool):
    curve, bounds = pool.curve(FIRST, SECOND), pool.limits(FIRST, SECOND)
    for x in np.geomspace(max(bounds.min_amount_in, 1e12), bounds.max_amount_in * 0.999, 40):
        exact = pool.swap_exact_in(FIRST, SECOND, int(x))[0].amount_out
        assert curve(float(int(x))) == pytest.approx(exact, rel=2e-9, abs=2)


def test_a_fee_that_grows_faster_than_the_output_ends_the_curve():
    steep = replace(GROWING_FEE, fee_e10=40_000_000, multiplier_e10=20 * FEE_SCALE)
    curve = steep.curve(FIRST, SECOND)
    assert curve.x_max < GROWING_FEE.curve(FIRST, SECOND).x_max
    top = curve(curve.x_max)
    assert top > curve(0.99 * curve.x_max)
    assert math.isnan(curve(1.01 * curve.x_max))
    assert math.isnan(curve.inverse(1.001 * top))
    assert curve.inverse(0.999 * top) < curve.x_max

"""Concentrated liquidity against the bytecode of Uniswap v4's pool manager and quoter."""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import isqrt

import pytest

from adapters.testing import check_market
from routing_engine.amm.concentrated.swap_loop import swap
from routing_engine.amm.concentrated.tick_math import MAX_TICK, tick_at_sqrt_ratio
from routing_engine.errors import QuoteRefused
from routing_engine.markets import ConcentratedPool
from tests.support.evm import Evm, Reverted
from tests.support.strategies import most_steps
from tests.support.uniswap_v4 import V4, V4Pool

QUOTES_PER_POOL = 180
TRADES_PER_POOL = 30


@dataclass(frozen=True)
class Case:
    """A pool to build: its fees and spacing, its price in smallest units, and where its liquidity lies."""

    name: str
    fee_pips: int
    protocol_fees: tuple[int, int]
    spacing: int
    price: float
    width: int
    native: bool


CASES = (
    Case("native coin, no protocol fee", 500, (0, 0), 10, 3123.45e-12, 600, native=True),
    Case("tokens, protocol fee both ways", 3_000, (1_000, 333), 60, 1234.5, 3_000, native=False),
    Case("protocol fee one way", 100, (0, 25), 1, 1.0003, 40, native=False),
    Case("native coin, fee of the protocol only", 0, (777, 1), 8, 7e5, 500, native=True),
    Case("high fee", 990_000, (1_000, 1_000), 200, 1e-7, 20_000, native=False),
    Case("odd fee", 2_751, (501, 0), 55, 42.0, 2_000, native=True),
)


def build(case: Case) -> V4Pool:
    """Deploy the pool and provide positions around its price, with gaps, neighbours and overlaps."""
    rng = random.Random(case.name)
    price = isqrt(int(case.price * 2**96 * 2**96))
    pool = V4.deploy(Evm()).create(
        case.fee_pips, case.spacing, price, native=case.native, protocol_fees=case.protocol_fees
    )
    centre, span = tick_at_sqrt_ratio(price) // case.spacing, case.width // case.spacing
    for _ in range(25):
        lower = centre + rng.randint(-2 * span, 2 * span)
        upper = lower + rng.randint(1, span)
        pool.provide(lower * case.spacing, upper * case.spacing, 10 ** rng.randint(12, 20))
    edge = MAX_TICK // case.spacing * case.spacing
    pool.provide(-edge, edge, 10**13)
    return pool


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def deployed(request) -> V4Pool:
    return build(request.param)


def around(rng: random.Random, capacity: int, count: int) -> list[int]:
    """Pick amounts from one unit to beyond what the liquidity can take, and those at the very edge."""
    picked = [max(1, int(capacity ** rng.uniform(0, 1.01))) for _ in range(count - 4)]
    return [*picked, 1, capacity - 1, capacity, capacity + 1]


def check_exact_in(deployed: V4Pool, market: ConcentratedPool, zero_for_one: bool, amount: int) -> None:
    """Compare one exact-in quote with the quoter's."""
    sold, bought = market.tokens if zero_for_one else market.tokens[::-1]
    try:
        amount_out = deployed.quote(zero_for_one, amount, exact_in=True)
    except Reverted:
        amount_out = 0
    if amount_out:
        assert market.swap_exact_in(sold, bought, amount)[0].amount_out == amount_out
    else:
        with pytest.raises(QuoteRefused):
            market.swap_exact_in(sold, bought, amount)


def check_exact_out(deployed: V4Pool, market: ConcentratedPool, zero_for_one: bool, amount: int) -> None:
    """Compare one exact-out quote with the quoter's, and check that no less would do."""
    sold, bought = market.tokens if zero_for_one else market.tokens[::-1]
    try:
        asked = deployed.quote(zero_for_one, amount, exact_in=False)
    except Reverted:
        with pytest.raises(QuoteRefused):
            market.swap_exact_out(sold, bought, amount)
        return
    assert swap(market, zero_for_one, amount, exact_in=False).amount_in == asked
    hop, _ = market.swap_exact_out(sold, bought, amount)
    assert hop.amount_in <= asked
    assert deployed.quote(zero_for_one, hop.amount_in, exact_in=True) == hop.amount_out >= amount
    if hop.amount_in > 1:
        assert deployed.quote(zero_for_one, hop.amount_in - 1, exact_in=True) < amount


def test_quotes_equal_the_quoters(deployed, record_property):
    market, rng = deployed.read(), random.Random(50)
    for zero_for_one in (True, False):
        everything = swap(market, zero_for_one, market.largest_amount)
        for amount in around(rng, everything.amount_in, QUOTES_PER_POOL // 4):
            check_exact_in(deployed, market, zero_for_one, amount)
        for amount in around(rng, everything.amount_out, QUOTES_PER_POOL // 4):
            check_exact_out(deployed, market, zero_for_one, amount)
    record_property(
        "evm_cases", ("uniswap v4: quoter quotes, and that one unit less input would not do", QUOTES_PER_POOL)
    )


def test_real_swaps_leave_the_predicted_state(deployed, record_property):
    market, rng = deployed.read(), random.Random(51)
    for number in range(TRADES_PER_POOL):
        sold, bought = rng.choice(market.edges())
        zero_for_one = sold == market.token0
        if number % 2:
            limits = market.limits(sold, bought)
            amount = max(limits.min_amount_in, int((limits.max_amount_in // 2) ** rng.random()))
            hop, market = market.swap_exact_in(sold, bought, amount)
        else:
            capacity = swap(market, zero_for_one, market.largest_amount).amount_out
            hop, market = market.swap_exact_out(sold, bought, max(1, int((capacity // 2) ** rng.random())))
        assert deployed.trade(zero_for_one, hop.amount_in, exact_in=True) == (hop.amount_in, hop.amount_out)
        assert deployed.read() == market
    record_property("evm_cases", ("uniswap v4: real swaps (amounts and pool state after)", TRADES_PER_POOL))


def test_the_pool_conforms(deployed):
    market = deployed.read()
    check_market(market, samples=6, rounding_units=4 * most_steps(market))


def test_protocol_fees_are_itemised(deployed):
    market = deployed.read()
    for sold, bought in market.edges():
        limits = market.limits(sold, bought)
        hop, _ = market.swap_exact_in(sold, bought, limits.max_amount_in // 3)
        names = {fee.name: fee.amount for fee in hop.fees}
        protocol_pips = market.protocol_fee0_pips if sold == market.token0 else market.protocol_fee1_pips
        assert names.get("protocol_fee", 0) == min(hop.amount_in * protocol_pips // 10**6, sum(names.values()))


def test_amounts_beyond_128_bits_are_refused():
    pool = V4.deploy(Evm()).create(3_000, 60, 2**96, native=False, protocol_fees=(0, 0))
    pool.provide(-887_220, 887_220, 10**21)
    market = pool.read()
    assert market.limits(*market.tokens).max_amount_in == market.largest_amount == 2**127 - 1
    amount_out = pool.quote(True, 2**127 - 1, exact_in=True)
    assert market.swap_exact_in(*market.tokens, 2**127 - 1)[0].amount_out == amount_out
    with pytest.raises(Reverted):
        pool.quote(True, 2**127, exact_in=True)
    with pytest.raises(QuoteRefused):
        market.swap_exact_in(*market.tokens, 2**127)
    assert market.curve(*market.tokens).x_max == 2.0**127

"""Concentrated liquidity against the bytecode of Uniswap v3's pool, router and quoter."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from math import isqrt

import pytest

from routing_engine.amm.concentrated.swap_loop import MAX_AMOUNT, least_input, swap
from routing_engine.amm.concentrated.tick_math import MAX_TICK, sqrt_ratio_at_tick, tick_at_sqrt_ratio
from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.markets import ConcentratedPool
from tests.support.evm import Evm, Reverted
from tests.support.uniswap import V3, V3Pool

QUOTES_PER_POOL = 560
TRADES_PER_POOL = 60


@dataclass(frozen=True)
class Case:
    """A pool to build: its fee and spacing, its price in smallest units, and where its liquidity lies."""

    name: str
    fee_pips: int
    spacing: int
    price: float
    positions: int
    width: int
    full_range: bool


CASES = (
    Case("stable 6/6 decimals", 100, 1, 1.0003, 30, 40, full_range=False),
    Case("stable 18/6 decimals", 100, 1, 0.9998e-12, 25, 60, full_range=True),
    Case("eth/usdc 18/6 decimals", 500, 10, 3123.45e-12, 40, 600, full_range=True),
    Case("usdc/eth 6/18 decimals", 500, 10, 1e12 / 3123.45, 40, 600, full_range=False),
    Case("18/18 decimals", 3000, 60, 1234.5, 30, 3000, full_range=True),
    Case("8/18 decimals", 3000, 60, 13.4e10, 12, 1200, full_range=False),
    Case("long tail", 10_000, 200, 1e-7, 25, 20_000, full_range=True),
    Case("fork's tier", 2_500, 50, 42.0, 50, 2_000, full_range=False),
    Case("no fee", 0, 8, 7e5, 20, 500, full_range=True),
)


def build(case: Case) -> V3Pool:
    """Deploy the pool and mint positions around its price, with gaps, neighbours and overlaps."""
    rng = random.Random(case.name)
    pool = V3.deploy(Evm()).create(case.fee_pips, case.spacing, isqrt(int(case.price * 2**96 * 2**96)))
    centre = tick_at_sqrt_ratio(pool.contract("slot0")[0]) // case.spacing
    span = case.width // case.spacing
    value = 10 ** rng.randint(17, 20)
    for _ in range(case.positions):
        lower = centre + rng.randint(-2 * span, 2 * span)
        upper = lower + rng.randint(1, span)
        amount1 = max(1_000, int(value * case.price))
        size = rng.choice((1, 1, 10, 1_000))
        pool.mint(lower * case.spacing, upper * case.spacing, value * size, amount1 * size)
    if case.full_range:
        edge = MAX_TICK // case.spacing * case.spacing
        pool.mint(-edge, edge, value // 100, max(1_000, int(value * case.price) // 100))
    return pool


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def deployed(request) -> V3Pool:
    return build(request.param)


def up_to(rng: random.Random, capacity: int) -> int:
    """Pick an amount, evenly over the magnitudes."""
    return max(1, int(capacity ** rng.random()))


def around(rng: random.Random, capacity: int, count: int) -> list[int]:
    """Pick amounts from one unit to beyond what the liquidity can take, and those at the very edge."""
    picked = [max(1, int(capacity ** rng.uniform(0, 1.01))) for _ in range(count - 4)]
    return [*picked, 1, capacity - 1, capacity, capacity + 1]


def check_exact_in(deployed: V3Pool, market: ConcentratedPool, zero_for_one: bool, amount: int) -> int:
    """Compare one exact-in quote with the quoter's; return the ticks crossed."""
    done = swap(market, zero_for_one, amount)
    amount_out, price_after, crossed = deployed.quote(zero_for_one, amount, exact_in=True)
    assert (done.amount_out, done.sqrt_price_x96) == (amount_out, price_after)
    sold, bought = market.tokens if zero_for_one else market.tokens[::-1]
    if done.filled and amount_out:
        assert market.swap_exact_in(sold, bought, amount)[0].amount_out == amount_out
    else:
        with pytest.raises(QuoteRefused):
            market.swap_exact_in(sold, bought, amount)
    return crossed


def check_exact_out(deployed: V3Pool, market: ConcentratedPool, zero_for_one: bool, amount: int) -> int:
    """Compare one exact-out quote with the quoter's, which reverts where the liquidity ends."""
    done = swap(market, zero_for_one, amount, exact_in=False)
    sold, bought = market.tokens if zero_for_one else market.tokens[::-1]
    if not done.filled:
        with pytest.raises(Reverted):
            deployed.quote(zero_for_one, amount, exact_in=False)
        with pytest.raises(QuoteRefused) as refused:
            market.swap_exact_out(sold, bought, amount)
        assert refused.value.reason is Refusal.INSUFFICIENT_LIQUIDITY
        return 0
    amount_in, price_after, crossed = deployed.quote(zero_for_one, amount, exact_in=False)
    assert (done.amount_in, done.sqrt_price_x96) == (amount_in, price_after)
    hop, _ = market.swap_exact_out(sold, bought, amount)
    assert hop.amount_in <= amount_in
    assert hop.amount_out >= amount
    return crossed


def test_quotes_equal_the_quoters(deployed, record_property):
    market, rng, crossed = deployed.read(), random.Random(30), []
    for zero_for_one in (True, False):
        everything = swap(market, zero_for_one, MAX_AMOUNT)
        for amount in around(rng, everything.amount_in, QUOTES_PER_POOL // 4):
            crossed.append(check_exact_in(deployed, market, zero_for_one, amount))
        for amount in around(rng, everything.amount_out, QUOTES_PER_POOL // 4):
            crossed.append(check_exact_out(deployed, market, zero_for_one, amount))
    record_property("evm_cases", ("uniswap v3: quoter quotes (amount and price after)", len(crossed)))
    record_property("evm_cases", ("uniswap v3: initialised ticks crossed in these quotes", sum(crossed)))


def test_the_least_input_is_the_least_for_the_quoter_too(deployed, record_property):
    market, rng = deployed.read(), random.Random(31)
    for zero_for_one in (True, False):
        capacity = swap(market, zero_for_one, MAX_AMOUNT).amount_out
        for _ in range(20):
            wanted = up_to(rng, capacity)
            least = least_input(market, zero_for_one, wanted)
            assert deployed.quote(zero_for_one, least.amount_in, exact_in=True)[0] == least.amount_out >= wanted
            if least.amount_in > 1:
                assert deployed.quote(zero_for_one, least.amount_in - 1, exact_in=True)[0] < wanted
    record_property("evm_cases", ("uniswap v3: least inputs, sufficient, and one unit less is not", 40))


def trade(deployed: V3Pool, market: ConcentratedPool, rng: random.Random, number: int) -> ConcentratedPool:
    """Swap once for real; return the state that the engine predicts."""
    sold, bought = rng.choice(market.edges())
    zero_for_one = sold == market.token0
    everything = swap(market, zero_for_one, MAX_AMOUNT)
    if number % 3 == 0:
        least = market.limits(sold, bought).min_amount_in
        hop, after = market.swap_exact_in(sold, bought, max(least, up_to(rng, everything.amount_in // 2)))
        assert deployed.trade(zero_for_one, hop.amount_in, exact_in=True) == hop.amount_out
    elif number % 3 == 1:
        hop, after = market.swap_exact_out(sold, bought, up_to(rng, everything.amount_out // 2))
        assert deployed.trade(zero_for_one, hop.amount_in, exact_in=True) == hop.amount_out
    else:
        done = swap(market, zero_for_one, up_to(rng, everything.amount_out // 2), exact_in=False)
        assert deployed.trade(zero_for_one, done.amount_out, exact_in=False) == done.amount_in
        after = replace(market, sqrt_price_x96=done.sqrt_price_x96, tick=done.tick, liquidity=done.liquidity)
    return after


def test_real_swaps_leave_the_predicted_state(deployed, record_property):
    market, rng = deployed.read(), random.Random(32)
    for number in range(TRADES_PER_POOL):
        market = trade(deployed, market, rng, number)
        assert deployed.read() == market
    record_property("evm_cases", ("uniswap v3: router swaps (amount and pool state after)", TRADES_PER_POOL))


def test_swaps_from_exactly_on_a_tick(deployed, record_property):
    """Arrive at initialised ticks from above and from below, then quote both ways."""
    rng, quotes = random.Random(33), 0
    for _ in range(8):
        market = deployed.read()
        index = rng.choice(market.ticks)[0]
        goal = sqrt_ratio_at_tick(index)
        falling = goal < market.sqrt_price_x96
        if goal != market.sqrt_price_x96:
            deployed.trade(falling, MAX_AMOUNT, exact_in=True, limit=goal)
        market = deployed.read()
        assert market.sqrt_price_x96 == goal
        for zero_for_one in (True, False):
            everything = swap(market, zero_for_one, MAX_AMOUNT)
            for capacity, check in ((everything.amount_in, check_exact_in), (everything.amount_out, check_exact_out)):
                for _ in range(4 if capacity > 1 else 0):
                    check(deployed, market, zero_for_one, up_to(rng, capacity))
                    quotes += 1
    record_property("evm_cases", ("uniswap v3: quoter quotes from exactly on an initialised tick", quotes))


def test_the_coarser_formula_where_a_product_does_not_fit_256_bits(record_property):
    """With the widest spacing one word spans all prices, so one step can be long enough to overflow."""
    deployed = V3.deploy(Evm()).create(2_999, 16_383, 2**150)
    deployed.mint(-54 * 16_383, 54 * 16_383, 2**68, 2**174)
    market, rng = deployed.read(), random.Random(34)
    capacity = swap(market, True, MAX_AMOUNT)
    for _ in range(200):
        amount = 2 ** rng.randint(100, 180) + rng.randint(0, 2**90)
        assert amount < capacity.amount_in
        check_exact_in(deployed, market, True, amount)
        wanted = capacity.amount_out - up_to(rng, capacity.amount_out)
        check_exact_out(deployed, market, True, wanted)
        least = least_input(market, True, wanted)
        assert deployed.quote(True, least.amount_in, exact_in=True)[0] >= wanted
        assert deployed.quote(True, least.amount_in - 1, exact_in=True)[0] < wanted
    record_property("evm_cases", ("uniswap v3: quoter quotes in the overflow branch of the price formula", 400))

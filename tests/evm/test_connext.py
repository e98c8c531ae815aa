"""StableSwap against the bytecode of Connext's pool and its library ``SwapUtilsExternal``."""

from __future__ import annotations

import random

import pytest

from routing_engine.errors import QuoteRefused
from tests.evm.test_uniswap_v2 import log_uniform
from tests.support.connext import StableSwaps
from tests.support.evm import Evm, Reverted

POOLS = 30
QUOTES_PER_POOL = 60
SWAPS_PER_POOL = 12
LEAST_PER_POOL = 6


@pytest.fixture(scope="module")
def pools():
    """Deploy pools of two to four coins, most of them far from balance, of all coefficients and fees."""
    swaps, rng, found = StableSwaps.deploy(Evm()), random.Random(31), []
    for _ in range(POOLS):
        decimals = [rng.choice((2, 6, 8, 18)) for _ in range(rng.choice((2, 2, 3, 4)))]
        worth = log_uniform(rng, 10**21, 10**29)
        balances = [max(10, worth * rng.randint(1, 100) // 100 // 10 ** (18 - each)) for each in decimals]
        amp = log_uniform(rng, 1, 10**6 - 1)
        found.append(swaps.create(decimals, balances, amp, rng.randint(0, 10**8), rng.randint(0, 10**10)))
    return found


def pair_of(rng, pool):
    i, j = rng.sample(range(len(pool.tokens)), 2)
    return i, j, pool.tokens[i], pool.tokens[j]


def engine_quote(pool, sold, bought, amount_in):
    try:
        return pool.swap_exact_in(sold, bought, amount_in)[0].amount_out
    except QuoteRefused:
        return 0


def test_quotes_equal_the_contracts_at_every_size(pools, record_property):
    rng, reverted = random.Random(32), 0
    for deployed in pools:
        pool = deployed.read()
        for _ in range(QUOTES_PER_POOL):
            i, j, sold, bought = pair_of(rng, pool)
            amount_in = log_uniform(rng, 1, 10**6 * pool.balances[i])
            try:
                quoted = deployed.quote(i, j, amount_in)
            except Reverted:
                quoted, reverted = 0, reverted + 1
            assert engine_quote(pool, sold, bought, amount_in) == quoted
    assert reverted < POOLS * QUOTES_PER_POOL // 20
    record_property("evm_cases", ("connext stable swap: quotes", POOLS * QUOTES_PER_POOL))


def test_swaps_pay_what_is_quoted_and_leave_the_same_pool(pools, record_property):
    rng = random.Random(33)
    for deployed in pools:
        pool = deployed.read()
        for _ in range(SWAPS_PER_POOL):
            i, j, sold, bought = pair_of(rng, pool)
            limits = pool.limits(sold, bought)
            amount_in = log_uniform(rng, limits.min_amount_in, max(limits.min_amount_in, pool.balances[i]))
            hop, after = pool.swap_exact_in(sold, bought, amount_in)
            assert deployed.swap(i, j, amount_in) == hop.amount_out
            pool = deployed.read()
            assert pool == after
    record_property("evm_cases", ("connext stable swap: swaps with the state after", POOLS * SWAPS_PER_POOL))


def test_one_unit_less_than_the_least_input_buys_less(pools, record_property):
    rng = random.Random(34)
    for deployed in pools:
        pool = deployed.read()
        for _ in range(LEAST_PER_POOL):
            i, j, sold, bought = pair_of(rng, pool)
            wanted = log_uniform(rng, 1, max(1, pool.balances[j] * 9 // 10))
            least = pool.swap_exact_out(sold, bought, wanted)[0].amount_in
            assert deployed.quote(i, j, least) >= wanted
            if least > pool.limits(sold, bought).min_amount_in:
                assert deployed.quote(i, j, least - 1) < wanted
    record_property("evm_cases", ("connext stable swap: least inputs", POOLS * LEAST_PER_POOL))

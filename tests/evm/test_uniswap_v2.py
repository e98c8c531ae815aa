"""Constant product against the bytecode of Uniswap v2's router, pair and WETH9."""

from __future__ import annotations

import random

import pytest

from routing_engine.amm.constant_product import MAX_RESERVE, get_amount_in, get_amount_out, library_amount_in
from routing_engine.markets import NativeWrap
from routing_engine.model import NATIVE_ADDRESS, Token
from tests.support.evm import ACTOR, Evm, Reverted
from tests.support.uniswap import V2, described, read_pair, two_tokens

QUOTES = 20_000
PAIRS = 24
SWAPS_PER_PAIR = 40


@pytest.fixture(scope="module")
def v2() -> V2:
    return V2.deploy(Evm())


def log_uniform(rng: random.Random, low: int, high: int) -> int:
    return max(low, min(high, int(low * (high / low) ** rng.random())))


def test_quotes_equal_the_routers(v2, record_property):
    rng = random.Random(20)
    for _ in range(QUOTES):
        reserve_in, reserve_out = (log_uniform(rng, 2, MAX_RESERVE) for _ in range(2))
        amount_in, amount_out = log_uniform(rng, 1, MAX_RESERVE), log_uniform(rng, 1, reserve_out - 1)
        quoted_out = v2.router("getAmountOut", amount_in, reserve_in, reserve_out)
        assert get_amount_out(amount_in, reserve_in, reserve_out, 3000) == quoted_out
        quoted_in = v2.router("getAmountIn", amount_out, reserve_in, reserve_out)
        assert library_amount_in(amount_out, reserve_in, reserve_out, 3000) == quoted_in
        least = get_amount_in(amount_out, reserve_in, reserve_out, 3000)
        assert quoted_in - 1 <= least <= quoted_in
        assert v2.router("getAmountOut", least, reserve_in, reserve_out) >= amount_out
    record_property("evm_cases", ("uniswap v2: router quotes (getAmountOut, getAmountIn)", 2 * QUOTES))


def pay(pair, sold, amount_in, amounts_out):
    """Send the input, then take the output, as a router would."""
    sold("transfer", pair.address, amount_in)
    pair("swap", *amounts_out, ACTOR, b"")


def must_revert(v2, *trade):
    checkpoint = v2.evm.engine.snapshot()
    with pytest.raises(Reverted):
        pay(*trade)
    v2.evm.engine.revert(checkpoint)


def test_pairs_pay_exactly_what_is_quoted_and_not_a_unit_more(v2, record_property):
    rng = random.Random(21)
    for _ in range(PAIRS):
        contracts = two_tokens(v2.evm)
        pair = v2.pair(*contracts, *(log_uniform(rng, 10**6, 10**30) for _ in range(2)))
        for number in range(SWAPS_PER_PAIR):
            pool = read_pair(pair, *contracts)
            sold, bought = rng.choice(pool.edges())
            way = 1 if sold == pool.token0 else -1
            reserve_in, reserve_out = (pool.reserve0, pool.reserve1)[::way]
            if number % 2:
                limits = pool.limits(sold, bought)
                most = min(limits.max_amount_in, max(limits.min_amount_in, 100 * reserve_in))
                hop, after = pool.swap_exact_in(sold, bought, log_uniform(rng, limits.min_amount_in, most))
            else:
                hop, after = pool.swap_exact_out(sold, bought, log_uniform(rng, 1, max(1, reserve_out // 2)))
            trade = (pair, contracts[::way][0])
            must_revert(v2, *trade, hop.amount_in, (0, hop.amount_out + 1)[::way])
            pay(*trade, hop.amount_in, (0, hop.amount_out)[::way])
            assert read_pair(pair, *contracts) == after
    record_property("evm_cases", ("uniswap v2: pair swaps, each refused for a unit more", PAIRS * SWAPS_PER_PAIR))


def test_the_pair_refuses_one_unit_less_than_the_least_input(v2, record_property):
    rng = random.Random(22)
    contracts = two_tokens(v2.evm)
    pair = v2.pair(*contracts, 123_456_789 * 10**12, 987_654_321)
    for _ in range(300):
        pool, way = read_pair(pair, *contracts), rng.choice((1, -1))
        reserves = (pool.reserve0, pool.reserve1)[::way]
        amount_out = log_uniform(rng, 1, reserves[1] // 3)
        least = get_amount_in(amount_out, *reserves, 3000)
        must_revert(v2, pair, contracts[::way][0], least - 1, (0, amount_out)[::way])
        pay(pair, contracts[::way][0], least, (0, amount_out)[::way])
        after = read_pair(pair, *contracts)
        assert (after.reserve0, after.reserve1)[::way] == (reserves[0] + least, reserves[1] - amount_out)
    record_property("evm_cases", ("uniswap v2: pair swaps at the least input, each refused for a unit less", 300))


def test_where_the_division_is_exact_the_pair_takes_one_unit_less_than_the_library_asks(v2, record_property):
    contracts = two_tokens(v2.evm)
    reserves = (997 * 10**12, 10**12)
    pair = v2.pair(*contracts, *reserves)
    left_over = [2**two * 5**five for two in range(13) for five in range(12)]
    for left in left_over:
        amount_out = 10**12 - left
        least = get_amount_in(amount_out, *reserves, 3000)
        assert v2.router("getAmountIn", amount_out, *reserves) == least + 1
        must_revert(v2, pair, contracts[0], least - 1, (0, amount_out))
        checkpoint = v2.evm.engine.snapshot()
        pay(pair, contracts[0], least, (0, amount_out))
        v2.evm.engine.revert(checkpoint)
    record_property("evm_cases", ("uniswap v2: pair swaps one unit below getAmountIn", len(left_over)))


def test_a_pair_overflows_just_above_the_maximum(v2):
    contracts = two_tokens(v2.evm)
    pair = v2.pair(*contracts, 10**30, 10**30)
    pool = read_pair(pair, *contracts)
    sold, bought = (described(contract) for contract in contracts)
    maximum = pool.limits(sold, bought).max_amount_in
    hop, after = pool.swap_exact_in(sold, bought, maximum)
    must_revert(v2, pair, contracts[0], maximum + 1, (0, hop.amount_out))
    pay(pair, contracts[0], maximum, (0, hop.amount_out))
    assert read_pair(pair, *contracts) == after


def test_wrapping_is_one_for_one(v2):
    native = Token(chain_id=1, address=NATIVE_ADDRESS, symbol="ETH", decimals=18)
    wrapped = Token(chain_id=1, address=v2.weth.address.lower(), symbol="WETH", decimals=18)
    wrap, engine = NativeWrap(id="1:weth", native=native, wrapped=wrapped), v2.evm.engine
    rng = random.Random(23)
    for _ in range(50):
        amount = log_uniform(rng, 1, 10**24)
        before = engine.get_balance(ACTOR), v2.weth("balanceOf", ACTOR)
        deposit, _ = wrap.swap_exact_in(native, wrapped, amount)
        v2.weth("deposit", value=amount)
        assert engine.get_balance(ACTOR) == before[0] - deposit.amount_in
        assert v2.weth("balanceOf", ACTOR) == before[1] + deposit.amount_out
        withdrawal, _ = wrap.swap_exact_out(wrapped, native, amount)
        v2.weth("withdraw", withdrawal.amount_in)
        assert (engine.get_balance(ACTOR), v2.weth("balanceOf", ACTOR)) == before

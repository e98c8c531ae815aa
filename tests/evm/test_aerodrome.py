"""Pools of Aerodrome, and so of Velodrome v2, against the contract: what it answers, what it refuses, its reserves."""

from __future__ import annotations

import random

import pytest

from routing_engine.errors import QuoteRefused
from tests.support.aerodrome import Pools
from tests.support.evm import Evm, Reverted

pytestmark = pytest.mark.xdist_group("aerodrome")

DECIMALS = ((6, 6), (18, 18), (6, 18), (18, 6), (8, 2))
CASES_PER_POOL = 160
LEAST_PER_POOL = 40
FEES = (0, 1, 5, 30, 100, 300)


@pytest.fixture(
    scope="module", params=[(each, stable) for stable in (True, False) for each in DECIMALS[: 3 + 2 * stable]]
)
def pools(request):
    decimals, stable = request.param
    return Pools.deploy(Evm(), decimals, stable=stable)


def draw(rng, pools):
    """Return reserves, a fee, the coin sold and an amount: dust to far beyond depth, balanced or not at all."""
    whole, ratio = 10 ** rng.uniform(-1, 11), 10 ** rng.choice((rng.uniform(-0.3, 0.3), rng.uniform(-6, 6)))
    reserves = tuple(
        max(1, int(whole * factor * 10**each)) for factor, each in zip((1, ratio), pools.decimals, strict=True)
    )
    sold = rng.randint(0, 1)
    far = rng.random() < 0.05
    amount_in = max(1, int(reserves[sold] * 10 ** (rng.uniform(2, 30) if far else rng.uniform(-7, 1.5))))
    return reserves, rng.choice(FEES), sold, amount_in


def run_contract(pools, reserves, fee, sold, amount_in):
    """Return what the contract pays and its reserves afterwards, or None; what it then refuses is tried less a unit."""
    try:
        offered = pools.quote(sold, amount_in)
    except Reverted:
        return None
    for amount_out in range(offered, max(0, offered - 2), -1):
        pools.set(reserves, fee)
        try:
            return amount_out, pools.swap(sold, amount_in, amount_out)
        except Reverted:
            continue
    return None


def run_engine(pool, sold, amount_in):
    try:
        hop, after = pool.swap_exact_in(pool.tokens[sold], pool.tokens[1 - sold], amount_in)
    except QuoteRefused:
        return None
    return hop.amount_out, (after.reserve0, after.reserve1)


def test_what_the_contract_serves_is_served_and_nothing_else(pools, record_property):
    rng, refused = random.Random(f"{pools.decimals} {pools.stable}"), 0
    for _ in range(CASES_PER_POOL):
        reserves, fee, sold, amount_in = draw(rng, pools)
        pool = pools.set(reserves, fee)
        answer = run_contract(pools, reserves, fee, sold, amount_in)
        assert run_engine(pool, sold, amount_in) == answer, (reserves, fee, sold, amount_in)
        refused += answer is None
    assert refused < CASES_PER_POOL // 2
    kind = "stable" if pools.stable else "volatile"
    record_property("evm_cases", (f"aerodrome, {kind}: swaps with the state after, or refused by both", CASES_PER_POOL))


def test_the_least_input_is_the_least_that_the_contract_serves(pools, record_property):
    rng, compared = random.Random(f"{pools.decimals} {pools.stable} least"), 0
    while compared < LEAST_PER_POOL:
        reserves, fee, sold, amount_in = draw(rng, pools)
        pool = pools.set(reserves, fee)
        try:
            wanted = pool.swap_exact_in(pool.tokens[sold], pool.tokens[1 - sold], amount_in)[0].amount_out
            hop, _ = pool.swap_exact_out(pool.tokens[sold], pool.tokens[1 - sold], wanted)
        except QuoteRefused:
            continue
        assert run_contract(pools, reserves, fee, sold, hop.amount_in)[0] == hop.amount_out >= wanted
        pools.set(reserves, fee)
        less = run_contract(pools, reserves, fee, sold, hop.amount_in - 1)
        assert less is None or less[0] < wanted, (reserves, fee, sold, hop.amount_in)
        compared += 1
    record_property("evm_cases", ("aerodrome: least inputs", compared))


def test_a_pool_of_six_decimals_panics_where_its_solver_scales_twice():
    """Seen at these very numbers by others: a unit of input more is served again."""
    pools = Pools.deploy(Evm(), (6, 6), stable=True)
    pool = pools.set((5436052, 1988545), 100)
    with pytest.raises(Reverted):
        pools.quote(0, 146921)
    with pytest.raises(QuoteRefused, match="the contract reverts"):
        pool.swap_exact_in(*pool.tokens, 146921)
    assert pool.swap_exact_in(*pool.tokens, 146922)[0].amount_out == pools.quote(0, 146922)
    assert pool.swap_exact_out(*pool.tokens, 116283)[0].amount_in == 146922

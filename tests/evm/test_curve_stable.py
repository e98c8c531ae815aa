"""StableSwap NG, with fees flat and growing, against the contract's source: what it pays and what it refuses."""

from __future__ import annotations

import random

import pytest

from routing_engine.amm.stableswap import FEE_SCALE
from routing_engine.errors import QuoteRefused
from tests.support.curve import StablePool
from tests.support.evm import Evm, Reverted

POOLS, SWAPS_PER_POOL = 8, 50
FARTHEST = 100
"""Times the balance. Beyond, prices may leave 128 bits, on which this commit reverts; later ones cap them."""


def draw_pool(rng):
    """Deploy a pool of two to four coins, in balance or up to a thousand times away from it."""
    decimals, worth = [rng.choice((6, 8, 18)) for _ in range(rng.choice((2, 2, 3, 4)))], 10 ** rng.uniform(19, 29)
    tilts = (10 ** rng.choice((rng.uniform(-0.3, 0.3), rng.uniform(-3, 0))) for _ in decimals)
    balances = [int(worth * tilt / 10 ** (18 - each)) + 1 for tilt, each in zip(tilts, decimals, strict=True)]
    fee, multiplier = rng.choice(((1_000_000, 0), (1_000_000, 20), (4_000_000, 5), (100_000_000, 20), (100_000, 900)))
    return StablePool.deploy(Evm(), decimals, rng.choice((1, 10, 100, 2_000)), fee, multiplier * FEE_SCALE, balances)


def run_contract(deployed, i, j, amount_in):
    """Return what the contract pays and its balances afterwards, or None; the contract stays as it was."""
    engine = deployed.contract.evm.engine
    before = engine.snapshot()
    try:
        paid = deployed.swap(i, j, amount_in)
        return (paid, deployed.read().balances) if paid else None
    except Reverted:
        return None
    finally:
        engine.revert(before)


@pytest.mark.parametrize("seed", range(2))
def test_a_pool_serves_what_the_contract_serves(seed, record_property):
    """Also where a growing fee takes more than a larger amount adds."""
    rng, beyond = random.Random(seed), 0
    for deployed in [draw_pool(rng) for _ in range(POOLS)]:
        pool = deployed.read()
        for _ in range(SWAPS_PER_POOL):
            i, j = rng.sample(range(len(pool.tokens)), 2)
            sold, bought = pool.tokens[i], pool.tokens[j]
            most = FARTHEST * pool.balances[i]
            amount_in = max(1, int(most * 10 ** rng.choice((rng.uniform(-14, 0), rng.uniform(-3, 0)))))
            try:
                hop, after = pool.swap_exact_in(sold, bought, amount_in)
                found = hop.amount_out, after.balances
            except QuoteRefused:
                found = None
            assert found == run_contract(deployed, i, j, amount_in), (pool, sold, amount_in)
            beyond += found is not None and amount_in > pool.limits(sold, bought).max_amount_in
    assert beyond > 0
    name = "curve stable swap NG, growing fee: swaps with the state after, or refused by both"
    record_property("evm_cases", (name, POOLS * SWAPS_PER_POOL))

"""Stargate's fees against the bytecode of its fee library and its pool."""

from __future__ import annotations

import random

import pytest

from routing_engine.amm.stargate_fee import FeeTerms, apply_fee
from routing_engine.errors import QuoteRefused
from tests.support.evm import ACTOR, Evm, Reverted
from tests.support.stargate import EID, StargatePool

FEES = (0, 1, 17, 60, 600, 3_000, 200_000, 999_999)
CASES = 1_500
QUOTES = 400
SENDS = 60


def random_terms(rng: random.Random) -> FeeTerms:
    """Pick zones and fees, which need not rise, and a reward."""
    bounds = sorted(int(10 ** rng.uniform(0, 15)) for _ in range(2))
    return FeeTerms(*bounds, *(rng.choice(FEES) for _ in range(4)))


def test_the_fee_library(record_property):
    rng, pool = random.Random(61), StargatePool.deploy(Evm(), 6)
    for number in range(CASES):
        if number % 10 == 0:
            terms = random_terms(rng)
            pool.configure(terms)
        edge = rng.choice((*terms[:2], terms[0] + 1, terms[1] + 1, int(10 ** rng.uniform(0, 17))))
        deficit = rng.choice((0, int(10 ** rng.uniform(0, 15))))
        amount = edge + rng.choice((0, deficit))
        request = (ACTOR, EID, amount, deficit, False, True)
        expected = apply_fee(terms, amount, deficit)
        if expected < 0:
            with pytest.raises(Reverted):
                pool.fee_library("applyFeeView", request)
        else:
            assert pool.fee_library("applyFeeView", request) == expected
    record_property("evm_cases", ("stargate v2: fee library", CASES))


def deployed(rng: random.Random, decimals: int) -> StargatePool:
    """Deploy a pool with fees that rise, and funds of random size."""
    pool = StargatePool.deploy(Evm(), decimals)
    bounds = sorted(int(10 ** rng.uniform(6, 13)) for _ in range(2))
    fees = sorted(rng.choice(FEES[:-1]) for _ in range(3))
    pool.configure(FeeTerms(*bounds, *fees, rng.choice((0, 60, 600))))
    pool.fund(
        pooled=int(10 ** rng.uniform(6, 14)),
        offset=rng.choice((0, int(10 ** rng.uniform(4, 13)))),
        treasury=rng.choice((0, int(10 ** rng.uniform(0, 12)))),
        credit=int(10 ** rng.uniform(9, 14)),
    )
    return pool


@pytest.mark.parametrize("decimals", [6, 8, 18])
@pytest.mark.parametrize("seed", range(3))
def test_quotes_and_sends_of_the_pool(decimals, seed, record_property):
    rng = random.Random(f"stargate {decimals} {seed}")
    pool = deployed(rng, decimals)
    lane = pool.read()
    for _ in range(QUOTES):
        amount = int((lane.credit * pool.unit) ** rng.uniform(0, 1))
        taken, arrives = pool.quote(amount)
        assert taken == amount // pool.unit * pool.unit
        if arrives and arrives // pool.unit <= lane.credit:
            assert lane.swap_exact_in(*lane.tokens, amount)[0].amount_out == arrives // pool.unit
        else:
            with pytest.raises(QuoteRefused):
                lane.swap_exact_in(*lane.tokens, amount)
    sends = 0
    for _ in range(SENDS):
        limits = lane.limits(*lane.tokens)
        if limits.max_amount_in // 9 < limits.min_amount_in:
            break
        amount = rng.randint(limits.min_amount_in, limits.max_amount_in // 9)
        hop, lane = lane.swap_exact_in(*lane.tokens, amount)
        assert pool.send(amount) == hop.amount_out * pool.unit
        assert pool.read() == lane
        sends += 1
    assert sends > 10
    record_property("evm_cases", ("stargate v2: sends (amount and pool state after)", sends))
    record_property("evm_cases", ("stargate v2: pool's quotes", QUOTES))

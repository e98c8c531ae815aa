"""Crypto pools against the contracts' source: what they pay, what they refuse, what is left, D."""

from __future__ import annotations

import random

import pytest

from routing_engine.amm.cryptoswap.curves import newton_invariant
from routing_engine.amm.cryptoswap.exchange import CryptoRules, Method
from routing_engine.amm.cryptoswap.three_coins import solve_three
from routing_engine.errors import QuoteRefused
from routing_engine.fixed_point import WAD
from tests.support.curve import TwoCoins, deploy_three_coin_mathematics
from tests.support.evm import Evm, Reverted

# One process compiles the contract.
pytestmark = pytest.mark.xdist_group("curve crypto")
DECIMALS = ((18, 18), (6, 18))
POOLS, SWAPS_PER_POOL = 8, 60
STATES = 300


def draw_pool(rng, decimals):
    """Deploy a pool of any size, price and steepness, in balance or up to fifty times away from it."""
    mid_fee = rng.choice((500_000, 3_000_000, 26_000_000))
    rules = CryptoRules(
        Method.NEWTON,
        ann=int(10 ** rng.uniform(4.6, 7.6)),
        gamma=int(10 ** rng.uniform(10.1, 16.6)),
        mid_fee=mid_fee,
        out_fee=mid_fee * rng.randint(1, 20),
        fee_gamma=int(10 ** rng.uniform(13, 17)),
    )
    price, worth, tilt = int(10 ** rng.uniform(14, 23)), 10 ** rng.uniform(19, 28), 10 ** rng.uniform(-1.5, 1.5)
    balances = int(worth / 10 ** (18 - decimals[0])), int(worth * tilt * WAD / price / 10 ** (18 - decimals[1]))
    return TwoCoins.deploy(Evm(), decimals, rules, price, balances)


def run_contract(deployed, sold, amount_in):
    """Return what the contract pays and its balances afterwards, or None; the contract stays as it was."""
    engine = deployed.contract.evm.engine
    before = engine.snapshot()
    try:
        paid = deployed.swap(sold, amount_in)
        return (paid, deployed.read().balances) if paid else None
    except Reverted:
        return None
    finally:
        engine.revert(before)


def run_engine(pool, sold, amount_in):
    try:
        hop, after = pool.swap_exact_in(pool.tokens[sold], pool.tokens[1 - sold], amount_in)
    except QuoteRefused as refusal:
        return None, refusal.detail
    return (hop.amount_out, after.balances), ""


@pytest.mark.parametrize("decimals", DECIMALS)
def test_a_pool_of_two_coins_serves_what_the_contract_serves(decimals, record_property):
    """Dust of a part in 1e18 to fifty times the depth.

    Only where profits are not known, and a swap leaves the value of a share as it was to 18 digits or nearly so, is one
    refused that the contract serves: its fee is less than a part in 1e17 of the pool.
    """
    rng, in_doubt = random.Random(f"{decimals}"), 0
    for deployed in [draw_pool(rng, decimals) for _ in range(POOLS)]:
        for _ in range(SWAPS_PER_POOL):
            pool, sold = deployed.read(), rng.randint(0, 1)
            amount_in = max(1, int(pool.balances[sold] * 10 ** rng.choice((rng.uniform(-18, 0), rng.uniform(-3, 1.7)))))
            answer, (found, reason) = run_contract(deployed, sold, amount_in), run_engine(pool, sold, amount_in)
            if answer and found is None and "might make a loss" in reason:
                assert amount_in * pool.mid_fee < 10**-7 * pool.balances[sold]
                in_doubt += 1
                continue
            assert found == answer, (pool, sold, amount_in)
    assert in_doubt < POOLS * SWAPS_PER_POOL // 50
    name = "curve crypto pools, before NG: swaps with the state after, or refused by both"
    record_property("evm_cases", (name, POOLS * SWAPS_PER_POOL - in_doubt))


def test_a_balance_of_three_coins_and_d_are_the_contracts_or_refused_by_both(record_property):
    mathematics, rng, compared, refused = deploy_three_coin_mathematics(Evm()), random.Random(3), 0, 0

    def ask(name, *arguments):
        try:
            return mathematics(name, *arguments)
        except Reverted:
            return None

    for _ in range(STATES):
        ann, gamma, worth = (
            int(10 ** rng.uniform(5.43, 8.43)),
            int(10 ** rng.uniform(10, 16.69)),
            10 ** rng.uniform(17, 33),
        )
        xs = [int(worth * 10 ** rng.choice((rng.uniform(-0.3, 0.3), rng.uniform(-2, 2)))) for _ in range(3)]
        d = ask("newton_D", ann, gamma, xs, 0)
        assert try_to(newton_invariant, xs, ann, gamma, 0) == d
        i, j = rng.sample(range(3), 2)
        xs[i] += int(xs[i] * 10 ** rng.uniform(-18, 2))
        answer = ask("get_y", ann, gamma, xs, d, j) if d else None
        assert d is None or try_to(solve_three, xs, j, d, ann, gamma) == (answer and tuple(answer))
        if answer:
            xs[j] = answer[0]
            assert try_to(newton_invariant, xs, ann, gamma, answer[1]) == ask("newton_D", ann, gamma, xs, answer[1])
        compared, refused = compared + 2 + (answer is not None), refused + (answer is None)
    assert 0 < refused < STATES // 2
    record_property("evm_cases", ("curve tricrypto NG: balances and D, or refused by both", compared))


def try_to(function, *arguments):
    try:
        return function(*arguments)
    except ArithmeticError:
        return None

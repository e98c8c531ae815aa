"""Weighted pools against the bytecode of Balancer's vault and of three generations of its pools."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from routing_engine.amm.balancer.weighted import MAX_RATIO, amount_before_fee, in_given_out
from routing_engine.fixed_point import WAD, div_up, mul_div_up
from routing_engine.markets import WeightedPool
from tests.support.balancer import GIVEN_IN, GIVEN_OUT, NOBODY, Pool, Vault, compiled, described
from tests.support.evm import ACTOR, Contract, Evm

POOLS, TRADES = 18, 30
ABI = "20230206-weighted-pool-v3/WeightedPool"
GENERATIONS = {
    "first": "deprecated/20210418-weighted-pool/WeightedPoolFactory",
    "second": "20220908-weighted-pool-v2/WeightedPoolFactory",
    "third": "20230206-weighted-pool-v3/WeightedPoolFactory",
}


@pytest.fixture(scope="module")
def vault() -> Vault:
    return Vault.deploy(Evm())


@pytest.fixture(params=GENERATIONS)
def generation(request) -> str:
    return request.param


@pytest.fixture
def factory(vault, generation) -> Contract:
    code, arguments = compiled(GENERATIONS[generation]), [vault.contract.address]
    if generation != "first":
        arguments.append(vault.fee_provider().address)
    if generation == "third":
        arguments.extend(("1", "1"))
    return vault.evm.deploy(code, *arguments)


def log_uniform(rng: random.Random, low: int, high: int) -> int:
    return max(low, min(high, int(low * (high / low) ** rng.random())))


def random_weights(rng: random.Random, count: int) -> list[int]:
    """Equal weights, 80 and 20 percent, or any from one percent up."""
    if count == 2 and rng.random() < 0.5:
        return rng.choice(([WAD // 2, WAD // 2], [8 * WAD // 10, 2 * WAD // 10], [WAD // 3, WAD - WAD // 3]))
    parts = [rng.randrange(WAD // 100, WAD // count) for _ in range(count - 1)]
    return [*parts, WAD - sum(parts)]


def create(vault: Vault, factory: Contract, generation: str, rng: random.Random) -> tuple[Pool, WeightedPool]:
    """Deploy and fill a random pool; return it and the engine's description."""
    tokens = vault.tokens([rng.choice((6, 8, 18, 18)) for _ in range(rng.choice((2, 2, 3, 4)))])
    weights, fee = random_weights(rng, len(tokens)), log_uniform(rng, 10**12, 10**17)
    addresses = [token.address for token, _ in tokens]
    rates = [] if generation == "first" else [[NOBODY] * len(tokens)]
    pool = vault.pool(factory("create", "Pool", "POOL", addresses, weights, *rates, fee, ACTOR), ABI)
    balances = [log_uniform(rng, 10 ** max(decimals - 1, 5), 10 ** (decimals + 8)) for _, decimals in tokens]
    pool.join(addresses, balances)
    market = WeightedPool(
        id=f"1:0x{pool.id.hex()}",
        protocol="balancer_v2",
        tokens=tuple(described(token, decimals) for token, decimals in tokens),
        balances=tuple(balances),
        weights=tuple(weights),
        fee_e18=fee,
        multiplies_powers=generation != "first",
    )
    assert pool.balances() == market.balances
    return pool, market


def contract_input(market: WeightedPool, sold: int, bought: int, amount_out: int) -> int:
    """Return what the pool asks for an output, from the engine's functions."""
    unit_in, unit_out = (10 ** (18 - market.tokens[index].decimals) for index in (sold, bought))
    asked = in_given_out(
        market.balances[sold] * unit_in,
        mul_div_up(market.weights[bought], WAD, market.weights[sold]),
        market.balances[bought] * unit_out,
        amount_out * unit_out,
        multiplies=market.multiplies_powers,
    )
    return amount_before_fee(div_up(asked, unit_in), market.fee_e18)


def moved(market: WeightedPool, sold: int, bought: int, amount_in: int, amount_out: int) -> WeightedPool:
    balances = list(market.balances)
    balances[sold] += amount_in
    balances[bought] -= amount_out
    return replace(market, balances=tuple(balances))


def trade(pool: Pool, market: WeightedPool, rng: random.Random, number: int) -> WeightedPool:
    """Swap once for real, given the input or the output; return the state that the engine predicts."""
    sold, bought = rng.choice(market.edges())
    bounds = market.limits(sold, bought)
    indexes = market.tokens.index(sold), market.tokens.index(bought)
    if number % 2:
        hop, after = market.swap_exact_in(sold, bought, log_uniform(rng, bounds.min_amount_in, bounds.max_amount_in))
        assert pool.swap(GIVEN_IN, sold, bought, hop.amount_in) == hop.amount_out
        return after
    unit, balance = 10 ** (18 - bought.decimals), market.balances[indexes[1]]
    amount_out = log_uniform(rng, 1, balance * unit * MAX_RATIO // WAD // unit)
    amount_in = contract_input(market, *indexes, amount_out)
    assert pool.swap(GIVEN_OUT, sold, bought, amount_out) == amount_in
    return moved(market, *indexes, amount_in, amount_out)


def test_swaps_for_given_inputs_and_outputs(vault, factory, generation, record_property):
    rng = random.Random(generation)
    for _ in range(POOLS):
        pool, market = create(vault, factory, generation, rng)
        for number in range(TRADES):
            market = trade(pool, market, rng, number)
            assert pool.balances() == market.balances
    name = (
        f"balancer weighted, {generation} generation: vault swaps (amount and balances after), given in and given out"
    )
    record_property("evm_cases", (name, POOLS * TRADES))


def test_the_least_input_suffices_and_one_unit_less_does_not(vault, factory, generation, record_property):
    rng, cases = random.Random(generation), 0
    for _ in range(6):
        pool, market = create(vault, factory, generation, rng)
        for sold, bought in market.edges():
            bounds = market.limits(sold, bought)
            most = market.swap_exact_in(sold, bought, bounds.max_amount_in)[0].amount_out
            assert pool.refuses(GIVEN_IN, sold, bought, bounds.max_amount_in + 1)
            for _ in range(8):
                wanted = log_uniform(rng, 1, most)
                hop, _ = market.swap_exact_out(sold, bought, wanted)
                assert pool.ask(GIVEN_IN, sold, bought, hop.amount_in) == hop.amount_out >= wanted
                if hop.amount_in > 1:
                    assert pool.ask(GIVEN_IN, sold, bought, hop.amount_in - 1) < wanted
                cases += 1
    record_property("evm_cases", ("balancer weighted: least inputs, sufficient, and one unit less is not", cases))

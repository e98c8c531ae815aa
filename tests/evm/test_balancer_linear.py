"""Linear pools against the bytecode of Balancer's vault, Aave's and ERC-4626 pools."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from routing_engine.fixed_point import WAD
from routing_engine.markets import BalancerLinearPool
from tests.support.balancer import GIVEN_IN, Pool, Vault, answering_token, compiled, described, mock_token
from tests.support.evm import ACTOR, Contract, Evm

SWAPS, SWAPS_PER_POOL = 540, 60
ABI = "20230213-yearn-linear-pool/YearnLinearPool"
FACTORIES = {
    "aave": "deprecated/20211208-aave-linear-pool/AaveLinearPoolFactory",
    "erc4626": "20220404-erc4626-linear-pool-v2/ERC4626LinearPoolFactory",
}
PREMINTED = 2**112 - 1


@pytest.fixture(scope="module")
def vault() -> Vault:
    return Vault.deploy(Evm())


@pytest.fixture(params=FACTORIES)
def name(request) -> str:
    return request.param


@pytest.fixture
def factory(vault, name) -> Contract:
    return vault.evm.deploy(compiled(FACTORIES[name]), vault.contract.address)


def log_uniform(rng: random.Random, low: int, high: int) -> int:
    return max(low, min(high, int(low * (high / low) ** rng.random())))


def wrapper(vault: Vault, name: str, main: Contract, decimals: int, rate: int) -> Contract:
    """Deploy a wrapped token, which is also its own lending pool."""
    underlying = int(main.address, 16)
    if name == "erc4626":
        return answering_token(
            vault.evm, decimals, {"asset()": underlying, "convertToAssets(uint256)": rate // 10 ** (18 - decimals)}
        )
    pool = answering_token(vault.evm, decimals, {"getReserveNormalizedIncome(address)": rate * 10**9})
    answers = {"ASSET()": underlying, "LENDING_POOL()": int(pool.address, 16)}
    return answering_token(vault.evm, decimals, answers)


def create(vault: Vault, factory: Contract, name: str, rng: random.Random) -> tuple[Pool, BalancerLinearPool]:
    """Deploy a pool, fill it and set its targets; return it and the engine's description."""
    decimals = rng.choice((6, 8, 18))
    main, rate = mock_token(vault.evm, decimals), log_uniform(rng, WAD, 2 * WAD)
    wrapped = wrapper(vault, name, main, decimals, rate)
    fee, upper = log_uniform(rng, 10**12, 10**17), 10**6 * WAD
    pool = vault.pool(factory("create", "P", "P", main.address, wrapped.address, upper, fee, ACTOR), ABI)
    for token in (main, wrapped):
        token("approve", vault.contract.address, 2**256 - 1)
    market = BalancerLinearPool(
        id=f"1:0x{pool.id.hex()}",
        protocol="balancer_v2",
        tokens=(described(main, decimals), described(wrapped, decimals), described(pool.contract, 18)),
        balances=(0, 0, 0),
        rate_e18=pool.contract("getWrappedTokenRate"),
        lower_target=0,
        upper_target=upper,
        fee_e18=fee,
    )
    sold, share = market.tokens[0], market.tokens[2]
    pool.swap(GIVEN_IN, sold, share, int(10**decimals * rng.uniform(3 * 10**5, 9 * 10**5)))
    pool.swap(GIVEN_IN, market.tokens[1], share, int(10**decimals * 10 ** rng.uniform(4, 7)))
    lower = rng.choice((0, 10**5, 3 * 10**5)) * WAD
    pool.contract("setTargets", lower, upper)
    return pool, replace(market, lower_target=lower, balances=balances_of(pool, market))


def balances_of(pool: Pool, market: BalancerLinearPool) -> tuple[int, ...]:
    """Return the vault's balances of main and wrapped, and the shares that are out."""
    addresses = pool.vault.contract("getPoolTokens", pool.id)[0]
    held = dict(zip((address.lower() for address in addresses), pool.balances(), strict=True))
    main, wrapped, share = (held[token.address] for token in market.tokens)
    assert pool.contract("getVirtualSupply") == PREMINTED - share
    return main, wrapped, PREMINTED - share


def test_swaps_between_main_wrapped_and_share(vault, factory, name, record_property):
    rng, pool, market = random.Random(name), None, None
    for number in range(SWAPS):
        if number % SWAPS_PER_POOL == 0:
            pool, market = create(vault, factory, name, rng)
        sold, bought = rng.choice(market.edges())
        bounds = market.limits(sold, bought)
        # To cross both targets often, amounts are mostly large; now and then one takes all there is.
        most = min(bounds.max_amount_in, 10 ** (sold.decimals + 7))
        amount = rng.choice((log_uniform(rng, bounds.min_amount_in, most), rng.randint(bounds.min_amount_in, most)))
        hop, market = market.swap_exact_in(sold, bought, amount)
        assert pool.swap(GIVEN_IN, sold, bought, amount) == hop.amount_out
        assert balances_of(pool, market) == market.balances
    record_property("evm_cases", (f"balancer linear, {name}: vault swaps (amount and balances after)", SWAPS))


def test_limits_and_least_inputs_are_the_vaults(vault, factory, name, record_property):
    rng, cases = random.Random(name), 0
    for _ in range(8):
        pool, market = create(vault, factory, name, rng)
        for sold, bought in market.edges():
            bounds = market.limits(sold, bought)
            if bounds.max_amount_in < 2**110:
                assert pool.refuses(GIVEN_IN, sold, bought, bounds.max_amount_in + 1)
            capacity = market.swap_exact_in(sold, bought, bounds.max_amount_in)[0].amount_out
            assert pool.ask(GIVEN_IN, sold, bought, bounds.max_amount_in) == capacity
            for _ in range(6):
                wanted = log_uniform(rng, 1, capacity)
                hop, _ = market.swap_exact_out(sold, bought, wanted)
                assert pool.ask(GIVEN_IN, sold, bought, hop.amount_in) == hop.amount_out >= wanted
                assert hop.amount_in == 1 or pool.ask(GIVEN_IN, sold, bought, hop.amount_in - 1) < wanted
                cases += 1
    record_property("evm_cases", ("balancer linear: least inputs, sufficient, and one unit less is not", cases))

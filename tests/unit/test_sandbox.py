"""The sandbox market is large, connected, consistent and the same everywhere."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from itertools import permutations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from routing_engine.market import Market
from routing_engine.markets import BridgeLane, ConcentratedPool, ConstantProductPool, NativeWrap, market_from_record
from routing_engine.model import Token
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from routing_engine.reference.transfers import transfers_of
from routing_engine.sandbox import gas_prices, sandbox_markets, usd_prices
from routing_engine.token_fields import Transfers

DAY = 86_400
FIVE_CHAINS = (1, 10, 137, 8453, 42161)


@pytest.fixture(scope="module")
def markets() -> tuple[Market, ...]:
    return sandbox_markets()


@pytest.fixture(scope="module")
def lanes(markets: tuple[Market, ...]) -> dict[str, BridgeLane]:
    return {market.id: market for market in markets if isinstance(market, BridgeLane)}


@pytest.fixture(scope="module")
def pools(markets: tuple[Market, ...]) -> list[ConstantProductPool | ConcentratedPool]:
    return [market for market in markets if isinstance(market, ConstantProductPool | ConcentratedPool)]


def token_index(markets: tuple[Market, ...]) -> dict[Token, int]:
    """Number every token of the market."""
    return {token: number for number, token in enumerate({t: None for market in markets for t in market.tokens})}


def best_rates(markets: tuple[Market, ...], index: dict[Token, int]) -> npt.NDArray[np.float64]:
    """Best marginal rate from each token to each other one, after proportional fees; 0 where none."""
    rates = np.zeros((len(index), len(index)))
    for market in markets:
        for token_in, token_out in market.edges():
            at = index[token_in], index[token_out]
            rates[at] = max(rates[at], market.spot_price(token_in, token_out))
    return rates


def test_counts(markets: tuple[Market, ...], pools: list[ConstantProductPool | ConcentratedPool]) -> None:
    kinds = Counter(type(market) for market in markets)
    assert len(pools) >= 400
    assert kinds[ConstantProductPool] >= 100
    assert kinds[ConcentratedPool] >= 100
    assert kinds[NativeWrap] == 5
    assert kinds[BridgeLane] >= 200
    assert len({market.id for market in markets}) == len(markets)
    for chain_id in FIVE_CHAINS:
        here = [pool for pool in pools if pool.token0.chain_id == chain_id]
        assert len(here) >= 50
        assert len({pool.protocol for pool in here}) >= 4


def test_every_listed_token_that_moves_exact_amounts_is_traded(markets: tuple[Market, ...]) -> None:
    traded = {(token.chain_id, token.address): token for market in markets for token in market.tokens}
    listed = {
        item: info
        for info in token_registry.tokens()
        for item in info.addresses.items()
        if transfers_of(info.on(item[0])) is Transfers.EXACT
    }
    assert len(listed) == sum(len(info.addresses) for info in token_registry.tokens()) - 1
    assert set(traded) == set(listed)
    for item, token in traded.items():
        assert (token.symbol, token.decimals) == (listed[item].symbol, listed[item].decimals)


def test_every_token_has_a_pool_with_a_hub(pools: list[ConstantProductPool | ConcentratedPool]) -> None:
    hubs = {"USDC", "WETH", "ETH", "POL", "WPOL"}
    met = {token for pool in pools for token, other in permutations(pool.tokens, 2) if other.symbol in hubs}
    assert met == {token for pool in pools for token in pool.tokens}


def test_every_token_reaches_every_other_within_four_hops(markets: tuple[Market, ...]) -> None:
    index = token_index(markets)
    step = (best_rates(markets, index) > 0) | np.eye(len(index), dtype=bool)
    within_two = step @ step
    assert not step.all()
    assert (within_two @ within_two).all()


def test_every_chain_pair_has_a_lane_for_every_bridged_asset(lanes: dict[str, BridgeLane]) -> None:
    joined = {(lane.token_in.symbol, lane.token_in.chain_id, lane.token_out.chain_id) for lane in lanes.values()}
    for symbol in ("USDC", "USDT", "WETH", "WBTC", "DAI", "ETH"):
        chains = token_registry.by_symbol(symbol).chain_ids
        assert len(chains) == (4 if symbol == "ETH" else 5)
        assert {(symbol, *pair) for pair in permutations(chains, 2)} <= joined
    assert {lane.protocol for lane in lanes.values()} == {
        "across",
        "canonical",
        "cctp_fast",
        "cctp_standard",
        "hop",
        "layerzero",
        "stargate",
    }


def test_lanes_trade_price_against_time(lanes: dict[str, BridgeLane]) -> None:
    fast, slow = lanes["cctp_fast:1-8453:USDC"], lanes["cctp_standard:1-8453:USDC"]
    amount = 10_000 * 10**6
    fast_hop, _ = fast.swap_exact_in(*fast.tokens, amount)
    slow_hop, _ = slow.swap_exact_in(*slow.tokens, amount)
    assert slow_hop.amount_out == amount
    assert amount - fast_hop.amount_out == amount // 10_000
    assert fast_hop.fill_time_s <= 30 < 15 * 60 <= slow_hop.fill_time_s
    assert "cctp_fast:137-1:USDC" not in lanes
    assert lanes["cctp_standard:137-1:USDC"].fill_time_s < 60


@pytest.mark.parametrize(("origin", "shortest"), [(10, 7 * DAY), (8453, 7 * DAY), (42161, 7 * DAY), (137, DAY // 24)])
def test_canonical_withdrawals_wait(lanes: dict[str, BridgeLane], origin: int, shortest: int) -> None:
    up, down = lanes[f"canonical:1-{origin}:DAI"], lanes[f"canonical:{origin}-1:DAI"]
    assert 10 * 60 <= up.fill_time_s <= 20 * 60
    assert down.fill_time_s >= shortest
    assert up.fees == ()
    assert [fee.name for fee in down.fees] == ["destination_gas_fee"]


def test_locked_dollars_arrive_as_bridged_ones(lanes: dict[str, BridgeLane]) -> None:
    assert lanes["canonical:1-10:USDC"].token_out.symbol == "USDC.e"
    assert lanes["canonical:1-8453:USDC"].token_out.symbol == "USDbC"
    assert lanes["canonical:1-137:ETH"].token_out == token_registry.token("WETH", 137)
    assert lanes["hop:10-42161:USDC.e"].token_out.symbol == "USDC.e"


def test_lane_charges_are_believable(lanes: dict[str, BridgeLane]) -> None:
    for lane in lanes.values():
        price, unit = usd_prices()[lane.token_in.symbol], 10**lane.token_in.decimals
        amount = int(Decimal(1000) / price * unit)
        hop, _ = lane.swap_exact_in(lane.token_in, lane.token_out, amount)
        lost = 1 - Decimal(hop.amount_out) / Decimal(amount)
        assert Decimal(0) <= lost <= Decimal("0.003"), lane.id
        assert Decimal(lane.min_amount_in) * price / unit <= 10, lane.id
        assert Decimal(lane.max_amount_in) * price / unit >= 100_000, lane.id


def test_prices_agree_with_the_reference(pools: list[ConstantProductPool | ConcentratedPool]) -> None:
    for pool in pools:
        zero, one = pool.token0, pool.token1
        fair = float(usd_prices()[zero.symbol] / usd_prices()[one.symbol]) * 10.0 ** (one.decimals - zero.decimals)
        mid = (pool.spot_price(zero, one) / pool.spot_price(one, zero)) ** 0.5
        assert abs(mid / fair - 1) <= min(0.4 * pool.fee_pips, 300) * 1e-6 + 1e-9, pool.id


def test_no_short_loop_gains(markets: tuple[Market, ...]) -> None:
    rates = best_rates(markets, token_index(markets))
    assert (rates * rates.T).max() <= 1.0 + 1e-12
    in_two = np.stack([(rates[row][:, None] * rates).max(axis=0) for row in range(len(rates))])
    assert (in_two * rates.T).max() <= 1.0 + 1e-12


def test_no_loop_of_any_length_gains(markets: tuple[Market, ...]) -> None:
    rates = best_rates(markets, token_index(markets))
    with np.errstate(divide="ignore"):
        lengths = -np.log(rates)
    distance = np.zeros(len(rates))
    for _ in range(len(rates)):
        closer = np.minimum(distance, (distance[:, None] + lengths).min(axis=0))
        if np.all(closer >= distance - 1e-12):
            break
        distance = closer
    else:
        pytest.fail("Bellman-Ford still finds shorter paths: a loop gains")


def test_concentrated_pools_are_consistent(pools: list[ConstantProductPool | ConcentratedPool]) -> None:
    for pool in pools:
        if isinstance(pool, ConcentratedPool):
            pool.validate()
            widths = [index for index, net in pool.ticks if net > 0]
            assert widths[0] < -800_000
            assert len(widths) >= 3
            assert all(index <= pool.tick for index in widths)


def test_native_coins_trade_in_v4_pools(pools: list[ConstantProductPool | ConcentratedPool]) -> None:
    native = [pool for pool in pools if pool.token0.is_native or pool.token1.is_native]
    assert {pool.token0.chain_id for pool in native} == set(FIVE_CHAINS)
    assert {pool.protocol for pool in native} == {"uniswap_v4"}
    assert all(pool.token0.is_native for pool in native)
    assert all(len(pool.id.split(":")[1]) == 66 for pool in native)


def test_contract_order_and_invented_addresses(pools: list[ConstantProductPool | ConcentratedPool]) -> None:
    for pool in pools:
        chain, _, name = pool.id.partition(":")
        assert int(chain) == pool.token0.chain_id == pool.token1.chain_id
        assert name.startswith("0xfacade")
        assert pool.token0.is_native or pool.token0.address < pool.token1.address


def test_wraps_are_the_chains_own(markets: tuple[Market, ...]) -> None:
    wraps = {market.native.chain_id: market for market in markets if isinstance(market, NativeWrap)}
    for chain_id, chain in CHAINS.items():
        assert wraps[chain_id].tokens == (chain.native_token, chain.wrapped_native_token)


def test_a_retail_swap_loses_little(pools: list[ConstantProductPool | ConcentratedPool]) -> None:
    """The best pool of WETH and USDC takes $10,000 for at most 20 bps on every chain."""
    for chain_id in FIVE_CHAINS:
        weth, usdc = token_registry.token("WETH", chain_id), token_registry.token("USDC", chain_id)
        bought = max(
            pool.swap_exact_in(usdc, weth, 10_000 * 10**6)[0].amount_out
            for pool in pools
            if set(pool.tokens) == {weth, usdc}
        )
        assert bought >= int(Decimal(10_000) / usd_prices()["WETH"] * Decimal("0.998") * 10**18)


def test_gas_prices() -> None:
    assert set(gas_prices()) == set(FIVE_CHAINS)
    assert gas_prices()[1] == max(gas_prices()[chain_id] for chain_id in (1, 10, 8453, 42161))
    assert all(10**6 <= wei <= 10**11 for wei in gas_prices().values())


def digest(markets: tuple[Market, ...]) -> str:
    """Hash of all records."""
    return hashlib.sha256(json.dumps([m.to_record() for m in markets], sort_keys=True).encode()).hexdigest()


def test_another_process_builds_the_same(markets: tuple[Market, ...]) -> None:
    code = "from tests.unit.test_sandbox import digest, sandbox_markets; print(digest(sandbox_markets()))"
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, env={"PYTHONHASHSEED": "7"}, check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == digest(markets)


def test_another_seed_builds_another_market(markets: tuple[Market, ...]) -> None:
    other = sandbox_markets(seed=1)
    assert len(other) == len(markets)
    assert {m.id for m in other if m.id.count("0xfacade")}.isdisjoint(m.id for m in markets)
    assert digest(other) != digest(markets)


def test_records_round_trip(markets: tuple[Market, ...]) -> None:
    tokens = {token.key: token for market in markets for token in market.tokens}
    for market in markets:
        assert market_from_record(json.loads(json.dumps(market.to_record())), tokens) == market


@pytest.mark.shared_data
def test_across_fill_times_are_the_measured_ones(lanes: dict[str, BridgeLane], shared_data: Path) -> None:
    rows = json.loads((shared_data / "bridge_responses" / "across_fill_times.json").read_text())["rows"]
    chain_ids = {"ethereum": 1, "optimism": 10, "polygon": 137, "base": 8453, "arbitrum": 42161}
    for row in rows:
        origin, destination = chain_ids[row["origin_chain"]], chain_ids[row["destination_chain"]]
        lane = lanes[f"across:{origin}-{destination}:{row['origin_symbol']}"]
        assert lane.fill_time_s == row["fill_time_seconds"]
    assert len(rows) == 60

"""Snapshots: content hash, changes, files, views."""

from __future__ import annotations

import gzip
import json
import math
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from routing_engine import AmbiguousToken, BadMarketFile, Router, RouteRequest, Snapshot, UnknownToken, formats
from routing_engine.markets import ConstantProductPool
from tests.support.markets import market_of, token

PAIRS = "ab: A B 1000 2000 30bps\nbc: B C 10 10 5bps\nlane: A@1 > A@10 fee=1 10bps 60s"
USDC = "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"
CONCENTRATED = {
    "type": "clmm", "protocol": "uniswap_v3", "tick_spacing": 1, "sqrt_price_x96": "5", "tick": 0, "liquidity": "1",
    "ticks": [],
}  # fmt: skip
FAKE = "0x00000000000000000000000000000000000000fe"


def pool(market_id: str, reserve0: int) -> ConstantProductPool:
    return ConstantProductPool(
        id=market_id, protocol="uniswap_v2", token0=token("A"), token1=token("B"), reserve0=reserve0, reserve1=10**20,
        fee_pips=3000,
    )  # fmt: skip


def neutral_pool(**changes: Any) -> dict[str, Any]:
    tokens = [{"address": FAKE, "symbol": "USDC", "decimals": 6}, {"address": USDC, "symbol": "USDC", "decimals": 6}]
    return {
        "id": "1:0xab", "chain_id": 1, "protocol": "Sushiswap V2", "type": "cpmm", "tokens": tokens,
        "reserves": ["1000000", "2000000"], "fee": "0.003",
    } | changes  # fmt: skip


def write(path: Path, *pools: dict[str, Any]) -> Path:
    path.write_text(json.dumps({"meta": {"chain_id": 1, "block": 7}, "pools": list(pools)}))
    return path


def test_id_is_a_function_of_the_content_however_it_was_reached() -> None:
    start = Snapshot([pool("x", 10**20), pool("y", 10**20)], gas_prices={1: 5})
    first_id = start.id
    changed = start.apply([pool("x", 2 * 10**20), pool("z", 10**19)], removed=["y", "never was"])
    assert changed.id == Snapshot([pool("z", 10**19), pool("x", 2 * 10**20)], gas_prices={1: 5}).id
    assert changed.id != first_id == start.id
    back = changed.apply([pool("x", 10**20), pool("y", 10**20)], removed=["z"])
    assert back.id == first_id
    assert start.apply(gas_prices={1: 6}).id != first_id


def test_a_gas_price_on_a_chain_that_nobody_knows_is_told() -> None:
    """`Snapshot.apply(gas_prices={8543: …})` for Base changed nothing, and said nothing."""
    start = Snapshot(market_of(PAIRS))
    with pytest.warns(RuntimeWarning, match="gas_prices: no market is on chain 8543, .* there are markets on 1, 10$"):
        assert start.apply(gas_prices={1: 5, 8543: 5}).gas_prices == {1: 5, 8543: 5}
    assert start.apply(gas_prices={8453: 5}).gas_prices == {8453: 5}, "of a known chain whose markets may come later"
    strange = start.apply([*market_of("own: A@8543 B@8543 10 10 5bps")], gas_prices={8543: 5})
    assert strange.apply(gas_prices={8543: 6}).gas_prices == {8543: 6}


def test_apply_leaves_the_old_snapshot_alone_and_merges_what_is_known() -> None:
    start = Snapshot([pool("x", 10**20)], gas_prices={1: 5}, blocks={1: 7}, taken_at="2026-01-01T00:00:00Z")
    following = start.apply([pool("x", 1)], gas_prices={10: 6}, blocks={1: 8})
    assert start.markets["x"] == pool("x", 10**20)
    assert (dict(following.gas_prices), dict(following.blocks)) == ({1: 5, 10: 6}, {1: 8})
    assert following.taken_at == start.taken_at


@pytest.mark.parametrize("name", ["market.json", "market.json.gz"])
def test_save_and_load_give_the_same_snapshot(tmp_path: Path, name: str) -> None:
    sandbox = Snapshot.sandbox()
    sandbox.save(tmp_path / name)
    loaded = Snapshot.load(tmp_path / name)
    assert loaded.id == sandbox.id
    assert dict(loaded.markets) == dict(sandbox.markets)
    assert loaded.gas_prices == sandbox.gas_prices
    assert list(tmp_path.iterdir()) == [tmp_path / name]


def test_neutral_files_load_and_count_what_they_refuse(tmp_path: Path) -> None:
    taxed = [{"address": FAKE, "symbol": "TAX", "decimals": 6, "tax_bps": 100}, neutral_pool()["tokens"][1]]
    path = write(
        tmp_path / "market.json",
        neutral_pool(),
        neutral_pool(),
        neutral_pool(id="w", type="curve-llamma"),
        neutral_pool(id="n", type=None),
        neutral_pool(id="f", fee=None),
        neutral_pool(id="r", fee="1.5"),
        neutral_pool(id="e", reserves=["0", "5"]),
        neutral_pool(id="t", tokens=taxed),
        neutral_pool(id="c", type="clmm", protocol="uniswap_v3", ticks=None),
        neutral_pool(id="m", type="clmm", protocol="maverick-v1"),
    )
    snapshot = Snapshot.load(path)
    assert [(m.id, m.protocol) for m in snapshot.markets.values()] == [("1:0xab", "sushiswap_v2")]
    assert dict(snapshot.refused) == {
        "duplicate_id": 1, "unsupported_type:curve-llamma": 1, "type_unknown": 1, "fee_unknown": 1,
        "fee_out_of_range": 1, "empty": 1, "fee_on_transfer_token": 1, "ticks_unknown": 1,
        "unsupported_protocol:maverick-v1": 1,
    }  # fmt: skip
    assert dict(snapshot.blocks) == {1: 7}
    with pytest.raises(UnknownToken, match=r"'WBTC@1' is not in .*; 9 pools were left out at import: `refused`"):
        snapshot.token("WBTC@1")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"reserves": ["1", "x"]}, "pools.1.reserves.1"),
        ({"reserves": "12"}, "pools.1.reserves"),
        ({"reserves": ["1", str(2**112)]}, "pools.1.reserve1"),
        ({"tokens": "USDC"}, "pools.1.tokens"),
        ({"tokens": [token | {"decimals": 7} for token in neutral_pool()["tokens"]]}, "pools.1.tokens"),
        ({"tokens": [{"address": "0x12", "decimals": 6}] * 2}, "pools.1.tokens.0.address"),
        ({"fee": "many"}, "pools.1.fee"),
        ({"chain_id": None}, "pools.1.chain_id"),
        ({"id": None}, "pools.1.id"),
        (CONCENTRATED | {"ticks": [[1]]}, "pools.1.ticks.0"),
        (CONCENTRATED | {"liquidity": "much"}, "pools.1.liquidity"),
    ],
)
def test_damaged_fields_are_named(tmp_path: Path, changes: dict[str, Any], field: str) -> None:
    path = write(tmp_path / "market.json", neutral_pool(), neutral_pool(**{"id": "other"} | changes))
    with pytest.raises(BadMarketFile) as caught:
        Snapshot.load(path)
    assert caught.value.field == field
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"[]",
        b'{"pools": 5}',
        b'{"pools": [], "meta": {"chain_id": "1", "block": 7}}',
        b'{"pools": [], "meta": {"chain_id": 1, "block": "7"}}',
        b'{"pools": [',
        b"\xff\xfe",
        b"[" * 100_000,
        gzip.compress(b'{"pools": []}' * 50, mtime=0)[:-9],
        b'{"format": "routing-engine-snapshot", "version": 99}',
        b'{"format": "routing-engine-snapshot", "version": 1}',
        b'{"format": "routing-engine-snapshot", "version": 1, "tokens": [[1]], "markets": []}',
        b'{"format": "routing-engine-snapshot", "version": 1, "tokens": [], "markets": [{"kind": "wrap"}]}',
        b'{"format": "routing-engine-snapshot", "version": 1, "tokens": [], "markets": [7]}',
    ],
)
def test_damaged_files_are_named(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "market.json"
    path.write_bytes(raw)
    with pytest.raises(BadMarketFile, match=r"market\.json"):
        Snapshot.load(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadMarketFile, match="nowhere"):
        Snapshot.load(tmp_path / "nowhere.json")


def test_deltas_replace_and_withdraw_pools(tmp_path: Path) -> None:
    blocks = [
        {"block": 8, "changed": [neutral_pool(reserves=["5", "6"])]},
        {"block": 9, "changed": [neutral_pool(fee=None)]},
    ]
    path = tmp_path / "deltas.json"
    path.write_text(json.dumps({"meta": {"chain_id": 1}, "blocks": blocks}))
    first, second = formats.load_deltas(path)
    assert first.blocks == {1: 8}
    assert [market.to_record()["reserve0"] for market in first.markets] == ["5"]
    assert second.withdrawn == ("1:0xab",)
    assert len(formats.load_deltas(path, 8)) == 1
    with pytest.raises(BadMarketFile, match="ends before block 10"):
        formats.load_deltas(path, 10)


def test_tokens_are_found_by_symbol_or_address_and_the_well_known_wins(tmp_path: Path) -> None:
    snapshot = Snapshot.load(write(tmp_path / "market.json", neutral_pool()))
    for name in ("USDC", "usdc@1", USDC, f"{USDC.upper().replace('0X', '0x')}@1"):
        assert snapshot.token(name).address == USDC
    assert snapshot.token(f"{FAKE}@1").address == FAKE
    with pytest.raises(UnknownToken, match="did you mean USDC"):
        snapshot.token("USDX")
    with pytest.raises(UnknownToken):
        snapshot.token("USDC@10")
    with pytest.raises(UnknownToken, match="chain id"):
        snapshot.token("USDC@one")


def test_a_shared_symbol_must_be_told_apart() -> None:
    snapshot = Snapshot(market_of(PAIRS))
    with pytest.raises(AmbiguousToken, match=r"@1 \(in 2 of the markets\).*@10 \(in 1 of"):
        snapshot.token("A")
    assert snapshot.token("A@10").chain_id == 10


def test_what_is_known_of_tokens_stays_known_until_a_market_has_others() -> None:
    """Blocks change reserves; a table of the tokens of 20,000 pools takes longer than a search."""
    start = Snapshot(market_of(PAIRS))
    assert "tokens" not in vars(start.apply(market_of("ab: A B 7 7 30bps")))
    known = start.tokens
    assert start.apply(market_of("ab: A B 7 7 30bps")).tokens is known
    assert start.apply().tokens is known
    swapped = start.apply(market_of("ab: B C 7 7 30bps"))
    assert swapped.tokens is not known
    assert [*swapped.tokens] == [*Snapshot(swapped.markets.values()).tokens]
    more = start.apply(market_of("ad: A D 7 7 30bps"))
    assert token("D") in more.tokens
    assert token("D") not in more.apply(removed=["ad"]).tokens
    (pool,) = market_of("ab: A B 7 7 30bps")
    assert isinstance(pool, ConstantProductPool)
    renamed = start.apply([replace(pool, token0=replace(pool.token0, symbol="NEW"))])
    assert renamed.token("NEW@1") == pool.token0


def test_networkx_view_has_parallel_edges_with_fee_and_time() -> None:
    graph = Snapshot(market_of(PAIRS + "\nab2: A B 10 20 100bps")).to_networkx()
    assert isinstance(graph, nx.MultiDiGraph)
    assert graph.number_of_edges(token("A"), token("B")) == 2
    edge = graph.edges[token("A"), token("B"), "ab"]
    assert edge["fee"] == pytest.approx(0.003)
    assert edge["weight"] == pytest.approx(-math.log(2 * 0.997))
    assert graph.edges[token("A@1"), token("A@10"), "lane"]["time"] == 60
    path = nx.bellman_ford_path(graph, token("A"), token("C"), weight="weight")
    assert [each.symbol for each in path] == ["A", "B", "C"]


def test_the_example_of_the_package_docstring() -> None:
    snapshot = Snapshot.sandbox()
    weth, usdc = snapshot.token("WETH@1"), snapshot.token("USDC@1")
    route = Router(snapshot).find_routes(RouteRequest(token_in=weth, token_out=usdc, amount=10**18)).best()
    assert route.amount_in == 10**18
    assert route.amount_out_net < route.amount_out
    assert route.gas > 0
    assert route.gas_priced


def test_an_id_is_found_when_it_is_read_from_a_result_too() -> None:
    first = Snapshot.sandbox()
    second = first.apply(gas_prices={1: 5})
    weth, usdc = first.token("WETH@1"), first.token("USDC@1")
    router = Router(first).follow(second)
    request = RouteRequest(token_in=weth, token_out=usdc, amount=10**18)
    result, same = router.find_routes(request), router.find_routes(request)
    assert not {"id"} & (vars(first).keys() | vars(second).keys())
    assert result == same
    assert vars(second)["id"] == result.snapshot_id == pickle.loads(pickle.dumps(same)).snapshot_id
    assert result.snapshot_id != Router(first).find_routes(request).snapshot_id == first.id

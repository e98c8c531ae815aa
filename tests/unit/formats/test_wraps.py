"""Wrapping contracts join the pools of a native coin and those of its wrapped token in recorded markets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.markets import NativeWrap
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS
from routing_engine.reference.chains import CHAINS

USDC = {"address": "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "symbol": "USDC", "decimals": 6}
DAI = {"address": "0x6b175474e89094c44da98b954eedeac495271d0f", "symbol": "DAI", "decimals": 18}
WETH = {"address": CHAINS[1].wrapped_native, "symbol": "WETH", "decimals": 18}
ETH = {"address": ZERO_ADDRESS, "symbol": "ETH", "decimals": 18}


def pool(name: str, *tokens: dict[str, Any], chain_id: int = 1) -> dict[str, Any]:
    return {
        "id": f"{chain_id}:{name}", "chain_id": chain_id, "protocol": "uniswap_v2", "type": "cpmm", "fee": "0.003",
        "tokens": list(tokens), "reserves": [str(1000 * 10 ** token["decimals"]) for token in tokens],
    }  # fmt: skip


def load(folder: Path, *pools: dict[str, Any]) -> Snapshot:
    path = folder / "market.json"
    path.write_text(json.dumps({"meta": {}, "pools": pools}))
    return Snapshot.load(path)


def wraps(snapshot: Snapshot) -> list[NativeWrap]:
    return [market for market in snapshot.markets.values() if isinstance(market, NativeWrap)]


def test_a_route_passes_from_a_pool_of_weth_to_one_of_eth(tmp_path: Path) -> None:
    snapshot = load(tmp_path, pool("a", USDC, WETH), pool("b", ETH, DAI))
    request = RouteRequest(token_in=snapshot.token("USDC"), token_out=snapshot.token("DAI"), amount=10**6)
    assert str(Router(snapshot).find_routes(request).best()) == "USDC@1 -[uniswap_v2]-> WETH@1 -[wrap]-> ETH@1 -[uniswap_v2]-> DAI@1"  # fmt: skip  # noqa: E501


@pytest.mark.parametrize("token", [WETH, ETH])
def test_either_of_the_two_tokens_brings_the_contract(tmp_path: Path, token: dict[str, Any]) -> None:
    (wrap,) = wraps(load(tmp_path, pool("a", USDC, token)))
    assert wrap == NativeWrap.of(CHAINS[1])
    assert wrap.id == f"1:{CHAINS[1].wrapped_native}"


def test_each_chain_gets_its_own(tmp_path: Path) -> None:
    base = [WETH | {"address": CHAINS[8453].wrapped_native}, DAI | {"address": "0x" + "1" * 40}]
    unknown = [WETH | {"address": "0x" + "2" * 40}, {**ETH}]
    found = wraps(
        load(tmp_path, pool("a", USDC, WETH), pool("b", *base, chain_id=8453), pool("c", *unknown, chain_id=56))
    )
    assert [wrap.native.chain_id for wrap in found] == [1, 8453]


def test_no_token_of_the_coin_no_contract(tmp_path: Path) -> None:
    assert wraps(load(tmp_path, pool("a", USDC, DAI))) == []


def test_the_file_names_the_tokens(tmp_path: Path) -> None:
    """Symbols stay those by which the file's other pools know the two."""
    wmatic = WETH | {"address": CHAINS[137].wrapped_native, "symbol": "WMATIC"}
    (wrap,) = wraps(load(tmp_path, pool("a", wmatic, DAI, chain_id=137)))
    assert (wrap.native.symbol, wrap.wrapped.symbol) == ("POL", "WMATIC")


@pytest.mark.parametrize("token", [WETH | {"decimals": 8}, {**ETH, "address": NATIVE_ADDRESS, "decimals": 0}])
def test_a_token_of_other_decimals_is_not_the_coin(tmp_path: Path, token: dict[str, Any]) -> None:
    assert wraps(load(tmp_path, pool("a", USDC, token))) == []


def test_a_market_with_the_contract_gets_no_second_one(tmp_path: Path) -> None:
    first = load(tmp_path, pool("a", USDC, WETH))
    first.save(tmp_path / "own.json")
    again = Snapshot.load(tmp_path / "own.json")
    assert again.id == first.id
    assert wraps(again) == wraps(first)
    taken = load(tmp_path, pool(CHAINS[1].wrapped_native, USDC, WETH))
    assert wraps(taken) == []
    assert len(taken.markets) == 1

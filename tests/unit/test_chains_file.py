"""An operator's chains: what is wrong in the file is named, with the remedy, and the table never changes once read."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from routing_engine.errors import BadChainsFile
from routing_engine.reference.chains import CHAINS, ChainTable, GasModel, bridge_facts

SHIPPED = Path(__file__).parents[2] / "routing_engine" / "data" / "chains.json"
ROW: dict[str, Any] = {
    "chain_id": 7,
    "name": "Seven",
    "logo_uri": "https://seven.example/logo.svg",
    "native_currency": {"name": "Seven", "symbol": "SVN", "decimals": 18},
    "wrapped_native": "0x" + "77" * 20,
    "wrapped_native_symbol": "WSVN",
    "block_time_s": 2,
    "final_after_s": 30,
    "explorer_tx_url": "https://seven.example/tx/{tx_hash}",
    "gas_model": "op_stack",
    "bridges": {"cctp": {"domain": 77, "standard_s": 10}},
    "tokens": [{"symbol": "USDC", "address": "0x" + "78" * 20, "decimals": 6}],
    "deployments": {"uniswap_v2": [{"name": "seven_swap", "factory": "0x" + "79" * 20, "fee_pips": 3000}]},
}


NULL = object()
SANDBOX: dict[str, Any] = {
    "venues": {"v2": "seven_swap", "v3": "seven_swap_v3"},
    "depth_percent": 30,
    "gas_price_wei": 10**9,
    "usd": {"SVN": "7", "WSVN": "7"},
    "pairs": ["WSVN USDC v2:4000 v3.low:9000"],
}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write chains into a file."""

    def written(*rows: object) -> Path:
        path = tmp_path / "chains.json"
        path.write_text(json.dumps({"chains": rows}))
        return path

    return written


def changed(**fields: object) -> dict[str, Any]:
    """Return the chain with some fields changed; None leaves one out."""
    found = {name: value for name, value in {**deepcopy(ROW), **fields}.items() if value is not None}
    return {name: None if value is NULL else value for name, value in found.items()}


def deployed(**fields: object) -> dict[str, Any]:
    """Return the chain with some fields of its exchange changed."""
    (row,) = ROW["deployments"]["uniswap_v2"]
    return changed(deployments={"uniswap_v2": [{k: v for k, v in {**row, **fields}.items() if v is not None}]})


def invented(**fields: object) -> dict[str, Any]:
    """Return the chain with a sandbox, and some of its fields changed."""
    return changed(sandbox={name: value for name, value in {**SANDBOX, **fields}.items() if value is not None})


def test_a_chain_is_added_behind_the_shipped_ones(write: Callable[..., Path]) -> None:
    table = ChainTable(SHIPPED)
    table.add(write(ROW))
    assert list(table) == [*CHAINS, 7]
    seven = table[7]
    assert (seven.gas_model, seven.final_after_s, seven.bridges["cctp"]["domain"]) == (GasModel.OP_STACK, 30, 77)
    assert seven.deployments["uniswap_v2"][0]["chain_id"] == 7
    assert seven.explorer_url("0xab") == "https://seven.example/tx/0xab"
    assert len({seven, replace(seven)}) == 1


def test_nothing_is_added_once_something_was_read(write: Callable[..., Path]) -> None:
    table = ChainTable(SHIPPED)
    table.add(write(ROW))
    assert len(table) == 6
    table.add(write(ROW))
    with pytest.raises(BadChainsFile, match=r"chains\[0\].chain_id: 8 comes too late: add chains before"):
        table.add(write(changed(chain_id=8)))
    assert len(table) == 6


def test_what_is_described_cannot_be_changed(write: Callable[..., Path]) -> None:
    table = ChainTable(SHIPPED)
    table.add(write(ROW))
    with pytest.raises(TypeError):
        table[7].bridges["cctp"]["domain"] = 1  # type: ignore[index]
    for row in (changed(name="Other"), changed(chain_id=8453)):
        with pytest.raises(BadChainsFile, match=f"{row['chain_id']} is described already; leave it out"):
            table.add(write(row))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an id": (changed(chain_id="7"), r"chains\[0\].chain_id: must be a whole number from 1 to \d+, not '7'"),
    "a name": (changed(name=""), r"chains\[0\].name: must be a text"),
    "a missing name": (changed(name=None), r"chains\[0\].name: must be a text \(it is missing\)"),
    "an address": (
        changed(wrapped_native="0xAB"),
        r"wrapped_native: must be an address: 0x and 40 hex",
    ),
    "a model": (changed(gas_model="free"), r"gas_model: must be one of eip1559, op_stack, arbitrum, not 'free'"),
    "a time": (changed(block_time_s=0), r"block_time_s: must be a number of seconds above 0, at most 3600, not '0'"),
    "no number": (changed(block_time_s=float("nan")), r"block_time_s: must be a number of seconds above 0"),
    "finality": (changed(final_after_s=1.5), r"final_after_s: must be a whole number from 1 to"),
    "an explorer": (changed(explorer_tx_url="https://x/{hash}"), r"explorer_tx_url: must be a URL .* has {tx_hash}"),
    "a logo": (changed(logo_uri="javascript:alert(1)"), r"logo_uri: must be a URL that begins with https://"),
    "a coin": (changed(native_currency="SVN"), r"chains\[0\].native_currency: must be an object"),
    "a coin's symbol": (
        changed(native_currency={"name": "S", "symbol": "a b"}),
        r"native_currency.symbol: must",
    ),
    "a token": (changed(tokens=[{"symbol": "USDC"}]), r"chains\[0\].tokens\[0\].address: must be .* \(it is missing\)"),
    "tokens": (changed(tokens={}), r"chains\[0\].tokens: must be a list of objects"),
    "bridges": (changed(bridges={"cctp": 3}), r"chains\[0\].bridges.cctp: must be an object"),
    "deployments": (changed(deployments={"uniswap_v2": [1]}), r"deployments.uniswap_v2\[0\]: must be an object"),
    "no bridges": (changed(bridges=NULL), r"chains\[0\].bridges: must be an object, not 'None'"),
    "an unknown bridge": (changed(bridges={"gnosis": {}}), r"bridges.gnosis: is no bridge whose facts .* canonical"),
    "half a bridge": (changed(bridges={"hop": {}}), r"bridges.hop.slug: must be a text \(it is missing\)"),
    "a bridge's number": (
        changed(bridges={"layerzero": {"eid": "1", "message_s": 4}}),
        r"layerzero.eid: must be a whole",
    ),
    "a bridge's field": (changed(bridges={"debridge": {"x": 1}}), r"debridge.x: is no field that debridge has"),
    "a bridge's tokens": (
        changed(bridges={"hop": {"slug": "x", "fill_time_s": 1, "tokens": ["USDC"]}}),
        r"hop.tokens: must be an object",
    ),
    "fill times": (
        changed(bridges={"across": {"fill_times_s": {"USDC": {"1": "soon"}}}}),
        r"fill_times_s.USDC.1: must be a whole",
    ),
    "no deployments": (changed(deployments=NULL), r"chains\[0\].deployments: must be an object"),
    "an unknown protocol": (
        changed(deployments={"nonesuch": []}),
        r"deployments.nonesuch: is no protocol .* uniswap_v2",
    ),
    "a router": (
        deployed(router="hello"),
        r"chains\[0\].deployments.uniswap_v2\[0\].router: must be an address.*'hello'",
    ),
    "a factory": (deployed(factory="0x12"), r"uniswap_v2\[0\].factory: must be an address"),
    "a factory of nothing": (deployed(factory="0x" + "00" * 20), r"uniswap_v2\[0\].factory: must be an address"),
    "no fee": (deployed(fee_pips=None), r"uniswap_v2\[0\].fee_pips: must be a whole number .* \(it is missing\)"),
    "a deployment's field": (deployed(colour="red"), r"uniswap_v2\[0\].colour: is no field that uniswap_v2 has; known"),
    "a sandbox": (changed(sandbox=NULL), r"chains\[0\].sandbox: must be an object"),
    "no venues": (invented(venues=None), r"sandbox.venues: must be an object"),
    "a venue": (invented(venues={"v5": "x"}), r"sandbox.venues.v5: is no venue; known are v2, v2b, v3, v3b, v4"),
    "a venue's name": (invented(venues={"v2": 3}), r"sandbox.venues.v2: must be a protocol's name"),
    "a depth": (invented(depth_percent="lots"), r"sandbox.depth_percent: must be a whole number"),
    "a gas price": (invented(gas_price_wei=None), r"sandbox.gas_price_wei: must be a whole number .* missing"),
    "no price": (invented(usd={"SVN": "7"}), r"sandbox.usd: must have the price of WSVN"),
    "a price": (invented(usd={"SVN": "cheap", "WSVN": "7"}), r"sandbox.usd.SVN: must be dollars as a text"),
    "a pair": (invented(pairs=["SVN USDC v2:5", "SVN USDC v2"]), r"sandbox.pairs\[1\]: must be two symbols.*'v2'"),
    "a pair's tier": (invented(pairs=["SVN USDC v3:5"]), r"sandbox.pairs\[0\]: must be two symbols.*'v3:5'"),
    "a pair's venue": (invented(pairs=["SVN USDC v4.low:5"]), r"sandbox.pairs\[0\]: must name a venue"),
    "a home": (invented(home_of="SVN"), r"sandbox.home_of: must be a list"),
    "what a sandbox has not": (invented(colour="red"), r"sandbox.colour: is no field of a sandbox; known are"),
    "a public endpoint": (changed(public_rpc_urls=["http://x"]), r"public_rpc_urls: must be a list of URLs that begin"),
    "public endpoints": (changed(public_rpc_urls="https://x.example"), r"public_rpc_urls: must be a list"),
    "a field": (changed(colour="red"), r"chains\[0\].colour: is no field of a chain; known are "),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_field_is_named_with_the_remedy(write: Callable[..., Path], name: str) -> None:
    row, said = WRONG[name]
    with pytest.raises(BadChainsFile, match=said):
        ChainTable(SHIPPED).add(write(row))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"chains": {}}', "\x00"])
def test_a_file_of_something_else(tmp_path: Path, text: str) -> None:
    path = tmp_path / "chains.json"
    path.write_text(text)
    with pytest.raises(BadChainsFile, match=r"chains\.json: "):
        ChainTable(SHIPPED).add(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadChainsFile, match="cannot be read: No such file or directory; give the path of a file"):
        ChainTable(SHIPPED).add(tmp_path / "none.json")


def test_a_chain_twice(write: Callable[..., Path]) -> None:
    with pytest.raises(BadChainsFile, match=r"chains\[1\].chain_id: describes chain 7 a second time"):
        ChainTable(SHIPPED).add(write(ROW, ROW))


def test_a_sandbox_has_exchanges_of_any_name(write: Callable[..., Path]) -> None:
    """And leaves out what has no price, and venues that the chain has not."""
    priceless = {"symbol": "NOPE", "address": "0x" + "76" * 20, "decimals": 6, "name": "Nope", "logo_uri": "https://x/"}
    row = invented() | {"tokens": [*ROW["tokens"], priceless]}
    command = (
        "from pathlib import Path; from routing_engine.reference.chains import add_chains;"
        f"add_chains(Path({str(write(row))!r}));"
        "from routing_engine.sandbox.plan import plan_pools;"
        "found = [each for each in plan_pools() if each.token0.chain_id == 7];"
        "print(sorted({(each.protocol, each.fee_pips, each.tick_spacing) for each in found}))"
    )
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[('seven_swap', 3000, 0), ('seven_swap_v3', 500, 10)]", done.stderr[-2000:]


def test_bridges_give_each_chain_another_number() -> None:
    for bridge, field in (("cctp", "domain"), ("layerzero", "eid"), ("hop", "slug")):
        numbers = [facts[field] for facts in bridge_facts(bridge).values()]
        assert len(numbers) == len(set(numbers)) == 5

"""Tokens that take a fee on transfers, or rebase: flagged, refused by default with a reason, accepted on request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from adapters.feed.feed import refresh
from routing_engine import BadMarketFile, Router, RouteRequest, Snapshot, formats
from routing_engine.cli.app import cli
from routing_engine.formats import Contents
from routing_engine.markets import ConstantProductPool
from routing_engine.model import Token
from routing_engine.reference.transfers import transfers_of
from routing_engine.token_fields import Transfers

DAI = {"address": "0x6b175474e89094c44da98b954eedeac495271d0f", "symbol": "DAI", "decimals": 18}
TAXED = {"address": "0x" + "7" * 40, "symbol": "TAX", "decimals": 18, "tax_bps": 100}
ELASTIC = {"address": "0x" + "8" * 40, "symbol": "FLEX", "decimals": 18, "rebasing": True}
STETH = {"address": "0xae7ab96520de3a18e5e111b5eaab095312d7fe84", "symbol": "stETH", "decimals": 18}
STA = {"address": "0xA7DE087329BFcda5639247F96140f9DAbe3DeED1", "symbol": "STA", "decimals": 18}
INEXACT = (Transfers.FEE_ON_TRANSFER, Transfers.REBASING)


def pool(name: str, token: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"1:{name}", "chain_id": 1, "protocol": "uniswap_v2", "type": "cpmm", "fee": "0.003",
        "tokens": [token, DAI], "reserves": [str(10**21), str(10**21)],
    }  # fmt: skip


POOLS = [pool("tax", TAXED), pool("flex", ELASTIC), pool("steth", STETH), pool("sta", STA)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "market.json"
    plain = {"address": "0x" + "9" * 40, "symbol": "PLAIN", "decimals": 18, "tax_bps": 0, "rebasing": False}
    file.write_text(json.dumps({"meta": {"chain_id": 1, "block": 7}, "pools": [pool("plain", plain), *POOLS]}))
    return file


def test_they_are_refused_with_their_reason(path: Path) -> None:
    snapshot = Snapshot.load(path)
    assert list(snapshot.markets) == ["1:plain"]
    assert dict(snapshot.refused) == {"fee_on_transfer_token": 2, "rebasing_token": 2}


@pytest.mark.parametrize(
    ("accept", "loaded", "refused"),
    [
        (INEXACT, {"1:plain", "1:tax", "1:flex", "1:steth", "1:sta"}, {}),
        (INEXACT[:1], {"1:plain", "1:tax", "1:sta"}, {"rebasing_token": 2}),
        (INEXACT[1:], {"1:plain", "1:flex", "1:steth"}, {"fee_on_transfer_token": 2}),
    ],
)
def test_each_kind_can_be_accepted(
    path: Path, accept: tuple[Transfers, ...], loaded: set[str], refused: object
) -> None:
    snapshot = Snapshot.load(path, accept)
    assert set(snapshot.markets) == loaded
    assert dict(snapshot.refused) == refused


def test_accepted_ones_are_routed_as_if_exact_and_keep_their_flag(path: Path, tmp_path: Path) -> None:
    snapshot = Snapshot.load(path, INEXACT)
    request = RouteRequest(token_in=snapshot.token("TAX"), token_out=snapshot.token("FLEX"), amount=10**18)
    route = Router(snapshot).find_routes(request).best()
    assert [hop.token_in.transfers for hop in route.hops] == [Transfers.FEE_ON_TRANSFER, Transfers.EXACT]
    snapshot.save(tmp_path / "own.json")
    again = Snapshot.load(tmp_path / "own.json")
    assert again.id == snapshot.id
    assert [token.transfers for token in again.tokens] == [token.transfers for token in snapshot.tokens]
    assert again.token("FLEX").transfers is Transfers.REBASING


def test_what_a_source_says_comes_before_what_is_known() -> None:
    steth = Token(chain_id=1, address=STETH["address"], symbol="stETH", decimals=18)
    assert transfers_of(steth) is Transfers.REBASING
    elsewhere = Token(chain_id=10, address=STETH["address"], symbol="stETH", decimals=18)
    assert transfers_of(elsewhere) is Transfers.EXACT
    said = Token(chain_id=1, address=STETH["address"], symbol="stETH", decimals=18, transfers=Transfers.FEE_ON_TRANSFER)
    assert transfers_of(said) is Transfers.FEE_ON_TRANSFER
    assert said == steth


def test_a_pool_whose_token_turns_out_taxed_is_withdrawn(tmp_path: Path) -> None:
    file = tmp_path / "deltas.json"
    file.write_text(json.dumps({"meta": {"chain_id": 1}, "blocks": [{"block": 8, "changed": [pool("tax", TAXED)]}]}))
    (step,) = formats.load_deltas(file)
    assert (step.markets, step.withdrawn, step.refused) == ((), ("1:tax",), {"fee_on_transfer_token": 1})
    (step,) = formats.load_deltas(file, accept=INEXACT)
    assert [market.id for market in step.markets] == ["1:tax"]


def test_live_sources_are_screened_too() -> None:
    steth, dai = (Token(chain_id=1, address=row["address"], symbol=row["symbol"], decimals=18) for row in (STETH, DAI))
    market = ConstantProductPool(
        id="1:a", protocol="v2", token0=steth, token1=dai, reserve0=10**20, reserve1=10**20, fee_pips=3000
    )

    class Source:
        name = "source"

        def fetch(self) -> None:
            return None

        def parse(self, payload: None) -> Contents:
            return Contents(markets=(market,))

    assert dict(refresh([Source()]).snapshot.markets) == {}
    assert dict(refresh([Source()], accept=[Transfers.REBASING]).snapshot.markets) == {"1:a": market}


def test_the_command_line_accepts_them_on_request(path: Path, tmp_path: Path) -> None:
    counts = []
    for options in ([], ["--accept", "rebasing"], ["--accept", "rebasing", "--accept", "fee_on_transfer"]):
        arguments = ["snapshot", "import", path, "--out", tmp_path / "own.json", "--format", "json", *options]
        counts.append(json.loads(CliRunner().invoke(cli, list(map(str, arguments))).stdout))
    assert [(count["pools"], count["loaded"]) for count in counts] == [(5, 1), (5, 3), (5, 5)]
    assert len(Snapshot.load(tmp_path / "own.json").markets) == 5


@pytest.mark.parametrize("column", [["exactly"], ["rebasing", "exact"], [None]])
def test_an_unknown_flag_is_named(path: Path, tmp_path: Path, column: list[object]) -> None:
    own = tmp_path / "own.json"
    Snapshot.load(path, INEXACT).save(own)
    document = json.loads(own.read_text())
    document["tokens"][1][4:] = column
    own.write_text(json.dumps(document))
    with pytest.raises(BadMarketFile, match=r"tokens\.1"):
        Snapshot.load(own)

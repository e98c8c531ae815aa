"""Capturing chains into a file: from the command line, interrupted and gone on with, and with faulty endpoints."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from adapters.base import VenueUnavailable
from adapters.cli.capture import Capture, Captured, Progress
from adapters.cli.progress import show_progress
from adapters.dexes.uniswap_v2 import find_deployments
from adapters.http.client import JsonClient
from adapters.rpc.endpoint_pool import RpcPool
from routing_engine import Snapshot
from routing_engine.cli.app import cli
from tests.support.capture import Uniswap, running_uniswap
from tests.support.evm import ACTOR, FOREVER

# One process, so that its chains run once, not once in each.
pytestmark = pytest.mark.xdist_group("capture command")

FINE_SPACING = 100
"""The fee of the tier with tick spacing 1: its bitmap has 6,931 words."""


@pytest.fixture(scope="module")
def deployed_once() -> Iterator[list[Uniswap]]:
    with ExitStack() as running:
        found = [running.enter_context(running_uniswap(chain_id)) for chain_id in (1, 8453)]
        for venue in found:
            venue.add_pair(0, 1, 10**24, 3 * 10**24)
            venue.add_pool(0, 1, FINE_SPACING).mint(-10, 20, 10**20, 10**20)
            venue.add_pool(1, 2, 3000).mint(-600, 1200, 10**20, 10**20)
        yield found


@pytest.fixture
def venues(deployed_once: list[Uniswap]) -> Iterator[list[Uniswap]]:
    with ExitStack() as tests:
        yield [tests.enter_context(venue.lent()) for venue in deployed_once]


class FailingClient:
    """Passes on a number of questions, then fails."""

    def __init__(self, client: JsonClient, questions: int | None) -> None:
        self._client, self._left = client, questions
        self.asked = self.calls = 0

    def get(self, url: str, params: Any = None) -> Any:
        raise AssertionError("a chain is asked by POST only")

    def post(self, url: str, body: Any) -> Any:
        self.asked += 1
        self.calls += isinstance(body, dict) and body["method"] == "eth_call"
        if self._left is not None and self.asked > self._left:
            raise VenueUnavailable("the line is cut")
        return self._client.post(url, body)


def captured(
    venues: list[Uniswap], out: Path, questions: int | None = None, progress: Progress = lambda *_: None
) -> tuple[Captured, Capture, int]:
    """Capture both chains, each for so many questions; return the number of calls made too."""
    by_chain = {venue.chain.chain_id: venue for venue in venues}
    clients: list[FailingClient] = []

    def make_rpc(chain_id: int, urls: Any, client: JsonClient) -> RpcPool:
        clients.append(FailingClient(client, questions))
        chain = by_chain[chain_id].chain
        return RpcPool(chain_id, urls, client=clients[-1], clock=chain.now, sleep=lambda _: None)

    job = Capture(
        {chain_id: [venue.chain.url] for chain_id, venue in by_chain.items()},
        [token for venue in venues for token in venue.tokens],
        lambda chain_id: by_chain[chain_id].protocols(),
        out,
        make_rpc=make_rpc,
        portion=8,
        progress=progress,
    )
    return job.run(), job, sum(client.calls for client in clients)


def test_a_capture_goes_on_where_it_was_interrupted(venues, tmp_path):
    whole, _, needed = captured(venues, tmp_path / "whole.json")
    assert len(whole.snapshot.markets) == 6
    out = tmp_path / "market.json.gz"
    for questions in (7, 6):
        part, _, _ = captured(venues, out, questions)
        assert all("the line is cut" in report.fault for report in part.reports)
    found, job, made = captured(venues, out)
    assert found.snapshot.id == whole.snapshot.id
    assert made < needed / 2
    job.finish()
    assert not list(tmp_path.glob("market.json.gz*"))


def test_ctrl_c_stops_all_chains_and_loses_nothing(venues, tmp_path):
    whole, _, needed = captured(venues, tmp_path / "whole.json")
    out = tmp_path / "market.json"

    def press(chain_id: int, done: int, asked: int) -> None:
        if chain_id == 1 and done > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        captured(venues, out, progress=press)
    found, _, made = captured(venues, out)
    assert found.snapshot.id == whole.snapshot.id
    assert made < needed


def test_progress_grows_to_what_was_asked(venues, tmp_path, monkeypatch):
    told: dict[int, list[tuple[int, int]]] = {}
    captured(venues, tmp_path / "a", progress=lambda chain_id, *counts: told.setdefault(chain_id, []).append(counts))
    for counts in told.values():
        assert counts == sorted(counts)
        assert counts[-1][0] == counts[-1][1] > 20

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stderr", Terminal())
    with show_progress() as progress:
        captured(venues, tmp_path / "b", progress=progress)
        shown = sys.stderr
    assert "Ethereum" in shown.getvalue()
    assert "Base" in shown.getvalue()


def test_going_on_ends_at_the_newest_block(venues, tmp_path):
    out = tmp_path / "market.json"
    captured(venues, out, 9)
    venue = venues[0]
    path = [token.address for token in venue.contracts[:2]]
    venue.v2.router("swapExactTokensForTokens", 10**20, 0, path, ACTOR, FOREVER)
    for pool in venue.pools.values():
        pool.trade(True, 10**15, exact_in=True)
    found, _, _ = captured(venues, out)
    assert found.snapshot.blocks[1] == venue.chain.number
    assert found.snapshot.id == captured(venues, tmp_path / "whole.json")[0].snapshot.id


def test_a_capture_of_an_abandoned_block_begins_anew(venues, tmp_path):
    out = tmp_path / "market.json"
    venue = venues[0]
    path = [token.address for token in venue.contracts[:2]]
    height = venue.chain.number
    venue.v2.router("swapExactTokensForTokens", 10**20, 0, path, ACTOR, FOREVER)
    captured(venues, out, 9)
    venue.chain.rpc("anvil_reorg", venue.chain.number - height, [])
    found, _, _ = captured(venues, out)
    assert found.snapshot.id == captured(venues, tmp_path / "whole.json")[0].snapshot.id


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"\xff\xfe", b'{"version":9}\n', b'{"version":1,"block":[1,"0x",1,""]}\n']
)
def test_a_damaged_journal_costs_only_time(venues, tmp_path, damage):
    out = tmp_path / "market.json"
    captured(venues, out, 9)
    whole = captured(venues, tmp_path / "whole.json")[0].snapshot.id
    (journal,) = tmp_path.glob("market.json.chain-1.part")
    journal.write_bytes(damage)
    (other,) = tmp_path.glob("market.json.chain-8453.part")
    other.write_bytes(other.read_bytes()[:-7])
    assert captured(venues, out)[0].snapshot.id == whole


def at_the_known_address(venue: Uniswap) -> None:
    """Put the factory's code where the public one is, and a pair into it."""
    (known,) = (protocol for protocol in find_deployments(1) if protocol.name == "uniswap_v2")
    venue.chain.set_code(known.factories[0], venue.chain.code(venue.v2.factory.address))
    factory = replace(venue.v2.factory, address=known.factories[0])
    replace(venue.v2, factory=factory).pair(*venue.contracts[:2], 10**20, 10**20)


def test_the_command_writes_a_file_that_replays(venues, tmp_path):
    venue = venues[0]
    at_the_known_address(venue)
    tokens = [{"chainId": 1, "address": t.address, "symbol": t.symbol, "decimals": t.decimals} for t in venue.tokens]
    (tmp_path / "tokens.json").write_text(json.dumps({"tokens": tokens}))
    out = tmp_path / "market.json.gz"
    arguments = ["snapshot", "capture", "--rpc", f"1={venue.chain.url}", "--out", str(out), "--format", "json"]
    arguments += ["--tokens", str(tmp_path / "tokens.json"), "--protocol", "uniswap_v2"]
    result = CliRunner().invoke(cli, arguments)
    document = json.loads(result.stdout)
    snapshot = Snapshot.load(out)
    assert (len(snapshot.markets), document["snapshot_id"]) == (1, snapshot.id)
    assert snapshot.blocks == {1: venue.chain.number}
    (report,) = document["chains"]
    assert (result.exit_code, report["faults"], report["complete"]) == (0, {}, True)
    assert report["requests"] < 12
    assert sorted(path.name for path in tmp_path.iterdir()) == ["market.json.gz", "tokens.json"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--rpc", "http://x"], "must begin with a chain id"),
        (["--rpc", "1=ftp://x"], "needs an http or https URL"),
        (["--rpc", "1=http://x", "--protocol", "nosuch"], "'nosuch' is not on these chains; there are"),
        (["--rpc", "1=http://x", "--tokens", "absent.json"], "cannot be read"),
    ],
)
def test_wrong_input_is_named(arguments, told, tmp_path):
    result = CliRunner().invoke(cli, ["snapshot", "capture", "--out", str(tmp_path / "out.json"), *arguments])
    assert result.exit_code == 2
    assert told in result.stderr

"""Following a real chain into a recording: each block, reorganisations, crashes, and the command itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import pytest

from adapters.base import VenueUnavailable
from adapters.chain.adapter import OnChainAdapter
from adapters.chain.capture_log import CaptureLog
from adapters.chain.tokens import ChainTokens
from adapters.cli.follow import Follower
from adapters.http.client import JsonClient
from adapters.rpc.endpoint_pool import RPC_LIMITS, RpcPool
from routing_engine import History, HistoryWriter, Snapshot
from tests.evm.test_capture_command import at_the_known_address
from tests.support.capture import Uniswap, adapter_of, running_uniswap
from tests.support.evm import ACTOR, FOREVER

pytestmark = pytest.mark.xdist_group("follow")
COMMAND = [sys.executable, "-c", "from routing_engine.cli import main; main()", "snapshot", "capture"]
PATIENCE_S = 60


@pytest.fixture(scope="module")
def deployed_once() -> Iterator[Uniswap]:
    with running_uniswap(1) as venue:
        venue.add_pair(0, 1, 10**24, 3 * 10**24)
        venue.add_pool(0, 1, 3000).mint(-600, 1200, 10**22, 10**22)
        yield venue


@pytest.fixture
def venue(deployed_once: Uniswap) -> Iterator[Uniswap]:
    with deployed_once.lent() as lent:
        yield lent


def follower_of(venue: Uniswap, writer: HistoryWriter, path: Path, **tellers: Callable[..., None]) -> Follower:
    """Return a follower as the command makes it; the chain's clock is ahead."""
    client = JsonClient(limits=RPC_LIMITS)
    rpc = RpcPool(1, [venue.chain.url], client=client, clock=venue.chain.now, sleep=lambda _: None)
    log = CaptureLog(path.with_name("log"))
    adapter = OnChainAdapter(rpc, venue.protocols(), ChainTokens(venue.tokens), wrap=log.wrap)
    return Follower(rpc, adapter, writer, log, **tellers)


def trade(venue: Uniswap, amount: int = 10**20) -> None:
    """Trade on the pair, in a block of its own."""
    path = [token.address for token in venue.contracts[:2]]
    venue.v2.router("swapExactTokensForTokens", amount, 0, path, ACTOR, FOREVER)


def read_anew(venue: Uniswap) -> Snapshot:
    """Return what the chain has now, by a reader that knows nothing of before."""
    adapter = adapter_of(venue)
    return Snapshot(adapter.parse(adapter.fetch()).markets)


def is_as_on_chain(recorded: Snapshot, venue: Uniswap) -> bool:
    return dict(recorded.markets) == dict(read_anew(venue).markets)


def test_each_block_is_recorded_also_where_following_fell_behind(venue: Uniswap, tmp_path: Path) -> None:
    path = tmp_path / "followed"
    with HistoryWriter(path, 1) as writer:
        follower = follower_of(venue, writer, path)
        first = venue.chain.number
        assert (follower.record_new(), follower.record_new()) == (1, 0)
        expected = [read_anew(venue)]
        for _ in range(4):
            trade(venue)
            expected.append(read_anew(venue))
        (pool,) = venue.pools.values()
        pool.trade(True, 10**19, exact_in=True)
        expected.append(read_anew(venue))
        assert follower.record_new() == 5
    history = History.open(path)
    assert history.blocks == tuple(range(first, first + 6))
    assert [dict(each.markets) for each in history] == [dict(each.markets) for each in expected]
    assert history.to_frame()["changed"].tolist() == [0, 1, 1, 1, 1, 1]
    assert (history.to_frame()["gas_price_gwei"] > 0).all()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["followed"]


@pytest.mark.parametrize("seen", ["the fork at once", "each block"])
def test_a_reorganisation_is_recorded_as_one(venue: Uniswap, tmp_path: Path, seen: str) -> None:
    """Of three blocks: whether the follower sees the new chain at its old height, or only once it is longer."""
    path = tmp_path / "followed"
    with HistoryWriter(path, 1) as writer:
        follower = follower_of(venue, writer, path)
        follower.record_new()
        first = venue.chain.number
        for _ in range(4):
            trade(venue)
            follower.record_new()
        abandoned = [each.block_hash for each in writer.blocks[2:]]
        venue.chain.rpc("anvil_reorg", 3, [])
        if seen == "each block":
            assert follower.record_new() == 3
        trade(venue, 10**19)
        trade(venue, 10**18)
        assert follower.record_new() == (2 if seen == "each block" else 5)
        assert is_as_on_chain(writer.last, venue)
    history = History.open(path)
    assert history.blocks == tuple(range(first, first + 7))
    (told,) = history.reorganisations
    assert [each.block_hash for each in told.abandoned] == abandoned
    assert (told.by.number, told.by.follows) == (first + 2, history.recorded[1].block_hash)
    for recorded in history.recorded:
        block = venue.chain.rpc("eth_getBlockByNumber", hex(recorded.number), False)
        assert (block["hash"], block["parentHash"]) == (recorded.block_hash, recorded.parent)
    assert history[2].id == history[1].id != told.abandoned[0].snapshot_id, "the trade is not in the new block"
    assert is_as_on_chain(history[-1], venue)


def test_going_on_after_an_interruption_and_a_reorganisation_in_between(venue: Uniswap, tmp_path: Path) -> None:
    path = tmp_path / "followed"
    with HistoryWriter(path, 1) as writer:
        follower = follower_of(venue, writer, path)
        follower.record_new()
        for _ in range(3):
            trade(venue)
            follower.record_new()
        last = writer.blocks[-1].number
    venue.chain.rpc("anvil_reorg", 2, [])
    for _ in range(3):
        trade(venue)
    with HistoryWriter(path, 1) as writer:
        follower = follower_of(venue, writer, path)
        assert (follower.record_new(), follower.record_new()) == (1, 0)
        trade(venue)
        assert follower.record_new() == 1
    history = History.open(path)
    assert history.blocks == (last - 3, last - 2, last + 3, last + 4)
    assert history.gaps == ((last - 1, last + 2),)
    assert [len(each.abandoned) for each in history.reorganisations] == [2]
    assert is_as_on_chain(history[-1], venue)


def test_an_endpoint_that_is_behind_is_no_reorganisation(venue: Uniswap, tmp_path: Path) -> None:
    """Going on at a block before the last one: recorded is what comes after that, and what then replaces it."""
    path = tmp_path / "followed"
    with HistoryWriter(path, 1) as writer:
        follower = follower_of(venue, writer, path)
        follower.record_new()
        trade(venue)
        before = venue.chain.rpc("evm_snapshot")
        trade(venue)
        assert follower.record_new() == 2
        last = writer.blocks[-1].number
    venue.chain.rpc("evm_revert", before)
    with HistoryWriter(path, 1) as writer:
        follower = follower_of(venue, writer, path)
        assert (follower.record_new(), follower.record_new()) == (0, 0)
        assert not History.open(path).reorganisations
        trade(venue, 10**18)
        trade(venue, 10**18)
        assert follower.record_new() == 2
    history = History.open(path)
    assert history.blocks == (last - 2, last - 1, last, last + 1)
    assert [len(each.abandoned) for each in history.reorganisations] == [1]
    assert is_as_on_chain(history[-1], venue)


def test_what_fails_is_told_once_and_tried_again(
    venue: Uniswap, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr("adapters.cli.follow.RETRY_S", 0.0)
    with HistoryWriter(tmp_path / "followed", 1) as writer:
        follower = follower_of(venue, writer, tmp_path / "followed", complain=told.append)
        real, failing = follower.record_new, iter([True, True, False, True])

        def refuse_fees(block: int) -> None:
            raise VenueUnavailable("no fees")

        def fail(*arguments: object) -> int:
            if next(failing, False):
                raise VenueUnavailable("the line is cut")
            return real(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(follower, "record_new", fail)
        trade(venue)
        monkeypatch.setattr(follower._gas, "read", refuse_fees)
        stop = Event()
        monkeypatch.setattr(follower, "_progress", lambda block: trade(venue))
        assert follower.run(stop, 3) == 3
    assert [text for text in told if "cut" in text] == ["the line is cut", "the line is cut"]
    assert [text for text in told if "gas" in text] == ["the gas price is not known: no fees"]
    assert History.open(tmp_path / "followed").to_frame()["gas_price_gwei"].isna().all()


def wait_for(is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_true():
        assert time.monotonic() < end
        time.sleep(0.02)


def count_blocks(path: Path) -> int:
    return len(History.open(path)) if path.exists() and path.stat().st_size else 0


def test_the_command_survives_a_kill_and_ends_cleanly(venue: Uniswap, tmp_path: Path) -> None:
    at_the_known_address(venue)
    tokens = [{"chainId": 1, "address": t.address, "symbol": t.symbol, "decimals": t.decimals} for t in venue.tokens]
    (tmp_path / "tokens.json").write_text(json.dumps({"tokens": tokens}))
    out = tmp_path / "eth.recording"
    words = ["--rpc", f"1={venue.chain.url}", "--out", out, "--tokens", tmp_path / "tokens.json", "--follow"]
    command = [*COMMAND, *map(str, words), "--protocol", "uniswap_v2", "--format", "json"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    process = start()
    wait_for(lambda: count_blocks(out) == 1)
    venue.chain.mine()
    wait_for(lambda: count_blocks(out) == 2)
    process.kill()
    process.communicate()
    killed = out.read_bytes()
    out.write_bytes(killed + killed[:100])  # as if it had been killed while it wrote
    process = start()
    venue.chain.mine()
    wait_for(lambda: count_blocks(out) >= 3)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, stderr
    history = History.open(out)
    assert json.loads(stdout) == {
        "out": str(out), "recorded": len(history) - 2, "blocks": len(history), "last": history.blocks[-1],
    }  # fmt: skip
    assert history.blocks[-1] == venue.chain.number
    assert "the last 100 bytes, of a block that was being written, were taken off" in stderr
    assert "goes on after block" in stderr
    assert out.read_bytes().startswith(killed)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["eth.recording", "tokens.json"]

"""``routing-engine backtest``, ``analyse execution`` and ``analyse gas``: the library's answers, and what is wrong."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from routing_engine import History, HistoryWriter, Router, Snapshot
from routing_engine.analysis.execution import SettledTrade, judge_trade
from routing_engine.cli.app import cli
from tests.unit.cli.conftest import BLOCK, deltas

PAIR = ("--from", "WETH", "--to", "USDC", "--amount", "1")


def run(*words: object) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.fixture
def files(market_file: Path, write: Callable[[str, object], Path]) -> tuple[object, ...]:
    return ("--history", market_file, "--deltas", write("deltas.json", deltas()))


@pytest.fixture
def recording(files: tuple[Path, ...], tmp_path: Path) -> Path:
    path = tmp_path / "market.recording"
    with HistoryWriter(path, 1) as writer:
        for snapshot in History.open(files[1], deltas=files[3]):
            writer.append(snapshot)
    return path


def test_a_backtest_of_a_recording_and_of_deltas(files: tuple[object, ...], recording: Path) -> None:
    asked = (*PAIR, "--gas-price-gwei", "5", "--format", "json", "--slippage-bps", "10000")
    done = run("backtest", *files, *asked)
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    assert [row["decided_block"] for row in rows] == list(History.open(recording).blocks)
    assert {row["status"] for row in rows} == {"filled", "pending"}
    assert all(int(row["gas_paid"]) == 5 * 10**9 * row["gas"] > 0 for row in rows if row["status"] == "filled")
    assert run("backtest", "--history", recording, *asked).stdout == done.stdout
    shown = run("backtest", "--history", recording, *PAIR, "--every", "2")
    assert "Backtest(" in shown.stdout
    assert "Equity(" in shown.stdout


def test_a_part_that_was_cut_off_is_told(recording: Path) -> None:
    recording.write_bytes(recording.read_bytes()[:-9])
    assert "of a block that was being written: left out" in run("backtest", "--history", recording, *PAIR).stderr


def test_a_trade_is_judged_on_the_market_before_its_block(files: tuple[object, ...], recording: Path) -> None:
    trade = (*PAIR, "--got", "1500.5", "--gas", "150000", "--gas-price-gwei", "5")
    done = run("analyse", "execution", *files, "--block", BLOCK + 2, *trade, "--format", "csv")
    assert done.exit_code == 0, done.output
    (row,) = csv.DictReader(done.stdout.splitlines())
    before = History.open(recording).at(BLOCK + 1)
    weth, usdc = before.token("WETH"), before.token("USDC")
    settled = SettledTrade(token_in=weth, token_out=usdc, amount_in=10**18, amount_out=1_500_500_000, gas=150_000)
    expected = judge_trade(Router(before), settled, gas_prices={1: 5 * 10**9})
    assert (row["at_least"], row["best_net"]) == (str(expected.at_least), str(expected.best_net))
    assert expected.at_least > 0
    before.save(recording.with_name("before.json"))
    shown = run("analyse", "execution", "--market", recording.with_name("before.json"), *trade)
    assert "could have been better" in shown.stdout
    assert "No other route is better" in shown.stderr


def test_gas_prices_in_a_table() -> None:
    asked = ("--from", "WETH@1", "--to", "USDC@1", "--amount", "100", "--max-hops", "2")
    done = run("analyse", "gas", *asked, "--price", "50", "--price", "0.5", "--format", "json")
    rows = json.loads(done.stdout)
    assert [row["gas_price_gwei"] for row in rows] == [0.5, 50.0]
    assert rows[0]["regret_bps"] == 0 <= rows[1]["regret_bps"]
    assert Snapshot.sandbox().gas_prices[1] != 5 * 10**8, "other prices than the market's own"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["backtest", "--history", "nowhere", *PAIR], "nowhere"),
        (["backtest", *PAIR], "--history"),
        (["analyse", "execution", *PAIR, "--got", "1", "--block", "5"], "--history"),
        (["analyse", "execution", *PAIR, "--got", "1", "--history", "nowhere"], "--block"),
        (["analyse", "execution", "--from", "WETH@1", "--to", "USDC@1", "--amount", "1", "--got", "1e3"], "--got"),
        (["analyse", "gas", *PAIR, "--price", "-1"], "--price"),
    ],
)
def test_what_is_wrong_is_named(words: list[str], named: str) -> None:
    refused = run(*words)
    assert refused.exit_code == 2
    assert named in refused.stderr

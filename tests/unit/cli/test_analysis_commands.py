"""``routing-engine analyse``: tables for people, exact rows for programs, and errors that name the option."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.analysis.contributions import measure_contributions
from routing_engine.analysis.cycles import find_cycles
from routing_engine.cli.app import cli
from tests.unit.analysis.test_cycles import triangle
from tests.unit.cli.conftest import BLOCK, deltas

Run = Callable[..., Result]


@pytest.fixture
def loops(tmp_path: Path) -> Path:
    path = tmp_path / "loops.json"
    Snapshot(triangle(1100)).save(path)
    return path


def analyse(*words: object) -> Result:
    return CliRunner().invoke(cli, ["analyse", *map(str, words)])


def test_loops_as_a_table_and_as_exact_rows(loops: Path) -> None:
    shown = analyse("cycles", "--market", loops)
    assert shown.exit_code == 0
    assert "1 loops by spot prices, 0 pay after gas" in shown.output
    assert "T1 → T2 → T3 → T1" in shown.output
    (row,) = json.loads(analyse("cycles", "--market", loops, "--format", "json").output)
    (cycle,) = find_cycles(Router(Snapshot.load(loops)))
    assert (row["profit"], row["market_ids"]) == (str(cycle.profit), "1:a 1:b 1:c")


def test_depth_and_contributions_of_the_sandbox() -> None:
    pair = ("--from", "WETH@1", "--to", "USDC@1", "--max-hops", "1")
    done = analyse("depth", *pair, "--level", "10", "--level", "50", "--format", "csv")
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert [row["impact_bps"] for row in rows] == ["10.0", "50.0"]
    assert 0 < int(rows[0]["amount_in"]) < int(rows[1]["amount_in"])
    done = analyse("contributions", *pair, "--amount", "100.5", "--format", "json")
    router = Router(Snapshot.sandbox())
    request = RouteRequest(token_in="WETH@1", token_out="USDC@1", amount=1005 * 10**17, max_hops=1)
    expected = measure_contributions(router, request).to_frame()
    assert [row["net_amount"] for row in json.loads(done.stdout)] == list(map(str, expected["net_amount"]))


def test_decay_over_blocks(market_file: Path, write: Callable[[str, object], Path]) -> None:
    files = ("--market", market_file, "--deltas", write("deltas.json", deltas()))
    done = analyse("decay", *files, "--from", "WETH", "--to", "USDC", "--amount", "1", "--format", "json")
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    assert [row["step"] for row in rows] == list(range(1, len(rows) + 1))
    assert {row["block"] for row in rows} > {BLOCK + 1}
    assert any(row["change_bps"] for row in rows)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["cycles", "--max-hops", "9"], "--max-hops"),
        (["cycles", "--gas-price-gwei", "x"], "--gas-price-gwei"),
        (["cycles", "--market", "nowhere.json"], "nowhere.json"),
        (["depth", "--from", "WETH@1", "--to", "USDX@1"], "--to"),
        (["depth", "--from", "WETH@1", "--to", "USDC@1", "--level", "0"], "--level"),
        (["contributions", "--from", "WETH@1", "--to", "USDC@1", "--amount", "1e3"], "--amount"),
        (["contributions", "--from", "WETH@1", "--to", "USDC@1", "--amount", "1", "--deny", "sushi"], "--deny"),
        (["decay", "--from", "WETH@1", "--to", "USDC@1", "--amount", "1", "--deltas", "nowhere.json"], "nowhere.json"),
    ],
)
def test_what_is_wrong_is_named(words: list[str], named: str) -> None:
    refused = analyse(*words)
    assert refused.exit_code == 2
    assert named in refused.stderr
    assert refused.stdout == ""

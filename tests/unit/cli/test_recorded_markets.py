"""The commands on recorded markets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from routing_engine import Snapshot

pytestmark = pytest.mark.shared_data
Run = Callable[..., Result]


@pytest.mark.parametrize(
    ("name", "pools"), [("eth_fynd_24721174.json.gz", 1_376), ("eth_univ2_all_2020_10.json.gz", 10_704)]
)
def test_import_then_route_from_either_file_gives_the_same(
    run: Run, shared_data: Path, tmp_path: Path, name: str, pools: int
) -> None:
    source, own = shared_data / "markets" / name, tmp_path / "own.json.gz"
    counts = json.loads(run("snapshot", "import", source, "--out", own, "--format", "json").stdout)
    assert counts["pools"] == pools == counts["loaded"] + sum(counts["refused"].values())
    answers = []
    for market in (source, own):
        arguments = ("--market", market, "--from", "WETH", "--to", "USDC", "--amount", "500")
        result = run("route", *arguments, "--gas-price-gwei", "10", "--format", "json")
        assert result.exit_code == 0
        answers.append(json.loads(result.stdout) | {"elapsed_ms": 0, "load_ms": 0})
    assert answers[0] == answers[1]
    assert answers[0]["amount_in"] == str(500 * 10**18)
    have = {answers[0]["token_in"]: 500 * 10**18}
    for step in answers[0]["steps"]:
        have[step["token_in"]] -= int(step["amount_in"])
        assert have[step["token_in"]] >= 0
        have[step["token_out"]] = have.get(step["token_out"], 0) + int(step["amount_out"])
    assert have.pop(answers[0]["token_out"]) == int(answers[0]["amount_out"])
    assert set(have.values()) == {0}


def test_the_whole_of_uniswap_v2_is_at_least_the_direct_pool(run: Run, shared_data: Path) -> None:
    path = shared_data / "markets" / "eth_univ2_all_2020_10.json.gz"
    arguments = ("--market", path, "--from", "WETH", "--to", "USDC", "--amount", "500", "--format", "json")
    found = json.loads(run("route", *arguments).stdout)
    pair = Snapshot.load(path).markets["1:0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc"].to_record()
    usdc, weth = int(pair["reserve0"]), int(pair["reserve1"])
    kept = 500 * 10**18 * 997
    assert int(found["amount_out"]) >= kept * usdc // (weth * 1000 + kept)


def test_deltas_bring_a_market_to_a_block(run: Run, shared_data: Path, tmp_path: Path) -> None:
    folder, own = shared_data / "markets", tmp_path / "own.json.gz"
    deltas = ("--deltas", folder / "eth_fynd_24721174_block_deltas.json.gz", "--to-block", 24721181)
    source = folder / "eth_fynd_24721174.json.gz"
    result = run("snapshot", "import", source, "--out", own, *deltas, "--format", "json")
    counts = json.loads(result.stdout)
    assert counts["deltas"]["blocks"] == 7
    assert counts["blocks"] == {"1": 24721181}
    after = Snapshot.load(own)
    assert after.id == counts["snapshot_id"] != Snapshot.load(source).id
    assert len(after.markets) == counts["markets"]


def test_deltas_of_another_recording_are_refused(run: Run, shared_data: Path, tmp_path: Path) -> None:
    folder = shared_data / "markets"
    deltas = ("--deltas", folder / "eth_fynd_24693611_block_deltas.json.gz")
    result = run("snapshot", "import", folder / "eth_fynd_24721174.json.gz", "--out", tmp_path / "o.json", *deltas)
    assert result.exit_code == 2
    assert "block 24721174 of chain 1" in result.stderr

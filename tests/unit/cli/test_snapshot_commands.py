"""``snapshot import`` and ``snapshot info``: counts, deltas and damaged files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from routing_engine import Snapshot
from tests.unit.cli.conftest import BLOCK, REFUSED, RESERVES, deltas, market

Write = Callable[[str, object], Path]
Run = Callable[..., Result]


def test_import_counts_every_pool_and_writes_what_was_loaded(run: Run, market_file: Path, tmp_path: Path) -> None:
    out = tmp_path / "own.json.gz"
    result = run("snapshot", "import", market_file, "--out", out, "--format", "json")
    assert result.exit_code == 0
    counts = json.loads(result.stdout)
    assert (counts["pools"], counts["loaded"], counts["refused"]) == (8, 5, REFUSED)
    assert (counts["wraps"], counts["markets"]) == (1, 6)
    written = Snapshot.load(out)
    assert written.id == counts["snapshot_id"] == Snapshot.load(market_file).id
    assert written.refused == REFUSED
    assert "wrote 6 markets" in result.stderr


def test_import_again_keeps_the_counts(run: Run, market_file: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    once = json.loads(run("snapshot", "import", market_file, "--out", first, "--format", "json").stdout)
    twice = json.loads(run("snapshot", "import", first, "--out", second, "--format", "json").stdout)
    assert once | {"out": ""} == twice | {"out": ""}
    assert first.read_bytes() == second.read_bytes()


def test_import_as_a_table(run: Run, market_file: Path, tmp_path: Path) -> None:
    out = run("snapshot", "import", market_file, "--out", tmp_path / "own.json").stdout
    assert re.search(r"in the file +8\n", out)
    assert re.search(r"loaded +5\n", out)
    assert re.search(r"wrapping contracts beside them +1\n", out)
    assert "refused, ticks_unknown" in out


@pytest.mark.parametrize(("to_block", "half"), [(BLOCK + 1, 4), (BLOCK + 2, 1), (None, 1)])
def test_deltas_replace_states_up_to_a_block(
    run: Run, market_file: Path, write: Write, tmp_path: Path, to_block: int | None, half: int
) -> None:
    out = tmp_path / "own.json"
    until = [] if to_block is None else ["--to-block", to_block]
    changes = write("deltas.json.gz", deltas())
    result = run("snapshot", "import", market_file, "--out", out, "--deltas", changes, *until, "--format", "json")
    counts = json.loads(result.stdout)
    after = Snapshot.load(out)
    assert after.blocks == {1: to_block or BLOCK + 2}
    assert after.markets["1:pair"].to_record()["reserve0"] == str(RESERVES[0] * half // 2)
    closed = to_block != BLOCK + 1
    assert ("1:other" in after.markets) is not closed
    assert counts["markets"] == len(after.markets) == 6 - closed
    assert counts["deltas"] == {
        "blocks": 1 + closed,
        "changed": 1 + closed,
        "refused": {"empty": 1} if closed else {},
        "markets_added": 0,
        "markets_withdrawn": int(closed),
    }


def test_deltas_as_a_table(run: Run, market_file: Path, write: Write, tmp_path: Path) -> None:
    changes = write("deltas.json", deltas())
    out = run("snapshot", "import", market_file, "--out", tmp_path / "own.json", "--deltas", changes).stdout
    assert "Deltas of 2 blocks" in out
    assert "pools that can no longer be quoted" in out


@pytest.mark.parametrize("first", [BLOCK - 1, BLOCK, BLOCK + 2])
def test_deltas_of_another_moment_are_refused(
    run: Run, market_file: Path, write: Write, tmp_path: Path, first: int
) -> None:
    out = tmp_path / "own.json"
    changes = write("deltas.json", {"meta": {"chain_id": 1}, "blocks": [{"block": first, "changed": []}]})
    result = run("snapshot", "import", market_file, "--out", out, "--deltas", changes)
    assert result.exit_code == 2
    assert "blocks.0.block" in result.stderr
    assert f"block {BLOCK} of chain 1" in result.stderr
    assert not out.exists()


def test_deltas_that_end_too_early_are_refused(run: Run, market_file: Path, write: Write, tmp_path: Path) -> None:
    changes = write("deltas.json", deltas())
    arguments = ("--deltas", changes, "--to-block", BLOCK + 9)
    result = run("snapshot", "import", market_file, "--out", tmp_path / "own.json", *arguments)
    assert result.exit_code == 2
    assert f"ends before block {BLOCK + 9}" in result.stderr


def test_to_block_needs_deltas(run: Run, market_file: Path, tmp_path: Path) -> None:
    result = run("snapshot", "import", market_file, "--out", tmp_path / "own.json", "--to-block", 3)
    assert result.exit_code == 2
    assert "--to-block needs --deltas" in result.stderr


def _damaged(path: tuple[Any, ...], value: object) -> dict[str, Any]:
    document: Any = deepcopy(market())
    target = document
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    return dict(document)


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (_damaged(("pools", 0, "reserves"), ["x", "1"]), "pools.0.reserves.0"),
        (_damaged(("pools", 0, "fee"), "much"), "pools.0.fee"),
        (_damaged(("pools", 1, "tokens", 1, "address"), "0x1"), "pools.1.tokens.1.address"),
        (_damaged(("pools", 4, "ticks"), [[1]]), "pools.4.ticks.0"),
        (_damaged(("pools",), {}), "pools"),
        (_damaged(("meta",), [1]), "meta"),
        ({"format": "routing-engine-snapshot", "version": 99}, "version"),
        ({"format": "routing-engine-snapshot", "version": 1}, "tokens"),
        ({}, "format"),
    ],
)
def test_a_damaged_field_is_named_and_nothing_is_written(
    run: Run, write: Write, tmp_path: Path, document: dict[str, Any], field: str
) -> None:
    out = tmp_path / "own.json"
    path = write("bad.json", document)
    result = run("snapshot", "import", path, "--out", out, "--format", "json")
    assert result.exit_code == 2
    assert result.stdout == ""
    error = json.loads(result.stderr)["error"]
    assert (error["code"], error["path"], error["field"]) == ("bad_market_file", str(path), field)
    assert not out.exists()


def test_an_impossible_number_of_decimals_refuses_the_pool(run: Run, write: Write, tmp_path: Path) -> None:
    path = write("market.json", _damaged(("pools", 0, "tokens", 0, "decimals"), 10**18))
    counts = json.loads(run("snapshot", "import", path, "--out", tmp_path / "o.json", "--format", "json").stdout)
    assert counts["refused"]["decimals_out_of_range"] >= 1
    assert counts["pools"] == 8


def test_truncated_and_foreign_files_are_named(run: Run, market_file: Path, tmp_path: Path) -> None:
    whole = market_file.read_bytes()
    for name, data in {
        "half.json.gz": whole[: len(whole) // 2],
        "flipped.json.gz": whole[:40] + bytes(8) + whole[48:],
        "half.json": b'{"pools": [',
        "empty.json": b"",
        "binary.json": b"\xff\xfe\x00",
        "deep.json": b"[" * 100_000,
    }.items():
        path = tmp_path / name
        path.write_bytes(data)
        result = run("snapshot", "info", path)
        assert result.exit_code == 2
        assert str(path) in result.stderr
        assert result.stdout == ""
    for path in (tmp_path / "absent.json", tmp_path):
        result = run("snapshot", "info", path)
        assert result.exit_code == 2
        assert "cannot be read" in result.stderr


def test_a_place_that_cannot_be_written_is_named(run: Run, market_file: Path, tmp_path: Path) -> None:
    for out in (tmp_path / "absent" / "own.json", tmp_path):
        result = run("snapshot", "import", market_file, "--out", out)
        assert result.exit_code == 2
        assert f"--out: {out} cannot be written" in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["market.json.gz"]


def test_info_describes_a_file(run: Run, market_file: Path) -> None:
    document = json.loads(run("snapshot", "info", "--market", market_file, "--format", "json").stdout)
    assert document["snapshot_id"] == Snapshot.load(market_file).id
    assert document["blocks"] == {"1": BLOCK}
    assert document["markets"] == 6
    assert document["markets_by_protocol"] == [
        {"protocol": "uniswap_v2", "kind": "constant_product", "markets": 4},
        {"protocol": "uniswap_v3", "kind": "concentrated", "markets": 1},
        {"protocol": "wrap", "kind": "wrap", "markets": 1},
    ]
    assert document["tokens_by_chain"] == {"1": document["tokens"]} == {"1": 7}
    assert document["refused"] == REFUSED


def test_info_without_a_file_describes_the_sandbox(run: Run) -> None:
    document = json.loads(run("snapshot", "info", "--format", "json").stdout)
    assert document["markets"] == sum(row["markets"] for row in document["markets_by_protocol"]) >= 400
    assert set(document["tokens_by_chain"]) == {"1", "10", "137", "8453", "42161"} == set(document["gas_prices_wei"])


def test_info_as_a_table_fits_eighty_plain_columns(run: Run, market_file: Path) -> None:
    for arguments in ([], [market_file]):
        out = run("snapshot", "info", *arguments).stdout
        assert "Ethereum" in out
        assert "\x1b" not in out
        assert max(map(len, out.splitlines())) <= 80


def test_info_takes_one_file(run: Run, market_file: Path) -> None:
    result = run("snapshot", "info", market_file, "--market", market_file)
    assert result.exit_code == 2
    assert "not both" in result.stderr

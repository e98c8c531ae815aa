"""``replay``: an archived answer is given again, bit for bit, and anything else is named."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]
REQUEST = ("--from", "WETH", "--to", "DAI", "--amount", "3")


@pytest.fixture
def archive(run: Run, market_file: Path, tmp_path: Path) -> Path:
    """Return the file of an answer."""
    path = tmp_path / "answer.json.gz"
    assert run("route", "--market", market_file, *REQUEST, "--archive", path).exit_code == 0
    return path


def change(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(gzip.decompress(path.read_bytes()))
    edit(document)
    path.write_bytes(gzip.compress(json.dumps(document).encode()))


def test_the_same_answer_is_given_again(run: Run, archive: Path, market_file: Path) -> None:
    market_file.unlink()  # the archive holds all that is needed
    result = run("replay", archive)
    assert result.exit_code == 0
    assert "yes, bit for bit" in result.stdout
    document = json.loads(run("replay", archive, "--format", "json").stdout)
    assert document["identical"] is True
    assert document["answer"]["routes"][0]["token_in_symbol"] == "WETH"


@pytest.mark.parametrize(
    "options", [("--exact-out",), ("--pareto",), ("--alternatives", "2"), ("--gas-price-gwei", "9")]
)
def test_every_kind_of_search_is_asked_again(
    run: Run, market_file: Path, tmp_path: Path, options: tuple[str, ...]
) -> None:
    path = tmp_path / "answer.json"
    assert run("route", "--market", market_file, *REQUEST, *options, "--archive", path).exit_code == 0
    assert run("replay", path).exit_code == 0


def test_that_there_is_no_route_is_an_answer_too(run: Run, market_file: Path, tmp_path: Path) -> None:
    path = tmp_path / "answer.json"
    pair = ("--from", "WETH", "--to", "LONE", "--amount", "1")
    assert run("route", "--market", market_file, *pair, "--archive", path).exit_code == 1
    result = run("replay", path)
    assert result.exit_code == 0
    assert "no_route" in result.stdout


def test_another_answer_is_named(run: Run, archive: Path) -> None:
    def cheat(document: dict[str, Any]) -> None:
        document["answer"]["routes"][0]["steps"][0]["amount_out"] = "1"

    change(archive, cheat)
    result = run("replay", archive)
    assert result.exit_code == 1
    assert "routes.0.steps.0.amount_out differs" in result.stdout
    document = json.loads(run("replay", archive, "--format", "json").stdout)
    assert document["difference"] == "routes.0.steps.0.amount_out"


def test_another_market_is_noticed(run: Run, archive: Path) -> None:
    def drain(document: dict[str, Any]) -> None:
        document["snapshot"]["gas_prices"]["1"] = "7000000000"

    change(archive, drain)
    result = run("replay", archive)
    assert result.exit_code == 1
    assert "snapshot_id differs" in result.stdout


def test_another_version_is_given_as_the_cause(run: Run, archive: Path) -> None:
    change(archive, lambda document: document.update(engine="0.0.9") or document["answer"].update(status="no_route"))
    document = json.loads(run("replay", archive, "--format", "json").stdout)
    assert document["cause"].startswith("routing-engine 0.0.9 answered")


@pytest.mark.parametrize(
    ("edit", "field"),
    [
        (lambda document: document.pop("format"), "format"),
        (lambda document: document.update(version=2), "version"),
        (lambda document: document.update(search="find_all"), "search"),
        (lambda document: document.pop("answer"), "answer"),
        (lambda document: document["request"].update(amount="-4"), "request.amount"),
        (lambda document: document["request"].update(max_hops=70), "request.max_hops"),
        (lambda document: document["request"].update(surprise=1), "request"),
        (lambda document: document["request"].pop("token_in"), "request"),
        (lambda document: document["snapshot"]["markets"][0].pop("kind"), "snapshot.markets.0"),
        (lambda document: document["snapshot"].pop("tokens"), "snapshot.tokens"),
    ],
)
def test_a_damaged_archive_is_refused_by_field(
    run: Run, archive: Path, edit: Callable[[dict[str, Any]], object], field: str
) -> None:
    change(archive, edit)
    result = run("replay", archive, "--format", "json")
    assert result.exit_code == 2, result.stdout
    error = json.loads(result.stderr)["error"]
    assert error["code"] == "bad_archive"
    assert error["field"].startswith(field)

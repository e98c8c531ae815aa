"""``batch``: a line for each request, in order, whatever the others are."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from routing_engine import Router, RouteRequest, Snapshot
from tests.support.terminal import run_in_terminal
from tests.unit.cli.conftest import DAI, USDC, WETH

Run = Callable[..., Result]
Write = Callable[[str, object], Path]
WETH_KEY, USDC_KEY, DAI_KEY = (f"{token['address']}@1" for token in (WETH, USDC, DAI))
ROWS: list[Any] = [
    {"token_in": "WETH", "token_out": "USDC@1", "amount": str(10**18), "side": "exact_in"},
    {"token_in": WETH["address"], "token_out": USDC_KEY, "amount": 10**18, "side": "sell"},
    {"token_in": "WETH@1", "token_out": "DAI", "amount": str(10**21), "side": "buy"},
    {"token_in": "WETH", "token_out": "LONE", "amount": "1"},
    {"token_in": "USDC", "token_out": "DAI", "amount": str(10**40), "side": "EXACT_OUT"},
]
BAD: list[tuple[Any, str, str, str]] = [
    ("text", "invalid_request", "row", "write them all"),
    ([5], "invalid_request", "row", "nor a value for each column"),
    (ROWS[2] | {"Side": "buy"}, "invalid_request", "Side", "did you mean side?"),
    ({"token_in": "WETH", "token_out": "DAI", "amount": "1", "sides": "buy"}, "invalid_request", "sides", "mean side?"),
    (ROWS[2] | {"max_hops": 1}, "invalid_request", "max_hops", "give it as an option"),
    ({"token_in": "WETH", "token_out": "USDC"}, "invalid_request", "amount", "write its digits"),
    ({"token_in": "WETH", "token_out": "USDC", "amount": 1e18}, "invalid_request", "amount", "in JSON as a string"),
    ({"token_in": "WETH", "token_out": "USDC", "amount": "0"}, "invalid_request", "amount", "must be from 1"),
    ({"token_in": "WETH", "token_out": "USDC", "amount": "9" * 200}, "invalid_request", "amount", "99…"),
    ({"token_in": "WETH", "token_out": "USDC", "amount": "1", "side": "up"}, "invalid_request", "side", "sell"),
    ({"token_in": "WETHH", "token_out": "USDC", "amount": "1"}, "unknown_token", "token_in", "did you mean WETH"),
    ({"token_in": "WETH", "token_out": 5, "amount": "1"}, "invalid_request", "token_out", "address@chain"),
    ({"token_in": "WETH", "token_out": "WETH", "amount": "1"}, "invalid_request", "token_out", "same token"),
]
KEYS = {
    "row", "status", "amount_in", "amount_out", "amount_out_net", "gas", "gap_bps", "gap_scope", "elapsed_ms", "steps",
    "error",
}  # fmt: skip


def lines_of(result: Result) -> list[dict[str, Any]]:
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_every_line_is_what_the_library_answers(run: Run, write: Write, market_file: Path) -> None:
    options = ("--gas-price-gwei", 10, "--max-hops", 3, "--order", "balanced")
    result = run("batch", "--market", market_file, "--requests", write("r.json", ROWS), *options)
    lines = lines_of(result)
    assert [line["status"] for line in lines] == ["found"] * 3 + ["no_route", "insufficient_liquidity"]
    assert [line["row"] for line in lines] == list(range(5))
    assert all(set(line) == KEYS for line in lines)
    snapshot = Snapshot.load(market_file)
    router = Router(snapshot)
    for line, row in zip(lines[:3], ROWS, strict=False):
        side = "exact_out" if row["side"] == "buy" else "exact_in"
        request = RouteRequest(
            token_in=snapshot.token(row["token_in"]), token_out=snapshot.token(row["token_out"]),
            amount=int(row["amount"]), side=side, order="balanced", max_hops=3, gas_prices={1: 10**10},
        )  # fmt: skip
        answer = router.find_routes(request)
        best, certificate = answer.best(), answer.certificate
        assert certificate is not None
        assert (line["gap_bps"], line["gap_scope"]) == (certificate.gap_bps, certificate.scope)
        assert (line["amount_in"], line["amount_out"]) == (str(best.amount_in), str(best.amount_out))
        assert (line["amount_out_net"], line["gas"]) == (str(best.amount_out_net), best.gas)
        assert [step["market"] for step in line["steps"]] == [hop.market_id for hop in best.hops]
        assert line["steps"][0]["token_in"] == WETH_KEY
        assert line["steps"][-1]["token_out"] == best.token_out.key
        assert sum(int(step["amount_in"]) for step in line["steps"] if step["token_in"] == WETH_KEY) == best.amount_in
        assert line["elapsed_ms"] > 0
        assert line["error"] is None
    assert lines[0]["steps"] == lines[1]["steps"]
    assert lines[3]["steps"] == []
    assert "no path of at most 3 hops" in lines[3]["error"]["message"]
    assert "5 requests: 3 found" in result.stderr


def test_a_bad_row_says_what_to_change_and_stops_no_other(run: Run, write: Write, market_file: Path) -> None:
    rows = [row for bad, *_ in BAD for row in (bad, ROWS[0])]
    rows[1] = ROWS[0] | {"id": "a name of the caller's", "size": 5}
    lines = lines_of(run("batch", "--market", market_file, "--requests", write("r.json", rows)))
    assert [line["status"] for line in lines[1::2]] == ["found"] * len(BAD)
    for line, (_, status, field, message) in zip(lines[::2], BAD, strict=True):
        assert set(line) == KEYS
        assert (line["status"], line["error"]["field"]) == (status, field)
        assert message in line["error"]["message"]
        assert line["amount_out"] is line["elapsed_ms"] is None


def test_recorded_columns_are_read_as_they_are(run: Run, write: Write, market_file: Path) -> None:
    recorded = {
        "meta": {"source": "somewhere", "columns": ["token_in", "token_out", "amount_raw", "side"]},
        "rows": [[USDC["address"], WETH["address"], "3499542200", "sell"]],
    }
    (line,) = lines_of(run("batch", "--market", market_file, "--requests", write("r.json.gz", recorded)))
    assert (line["status"], line["amount_in"]) == ("found", "3499542200")


def test_the_sandbox_is_the_market_without_a_file(run: Run, write: Write) -> None:
    row = {"token_in": "WETH@1", "token_out": "USDC@8453", "amount": str(10**18)}
    result = run("batch", "--requests", write("r.json", [row]), "--threads", 1)
    (line,) = lines_of(result)
    assert line["steps"][-1]["token_out"].endswith("@8453")
    assert "gas counts as free" not in result.stderr


def test_free_gas_is_told(run: Run, write: Write, market_file: Path) -> None:
    result = run("batch", "--market", market_file, "--requests", write("r.json", ROWS[:2]))
    assert "gas counts as free in 2 routes" in result.stderr
    assert "search: median" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "field", "message"),
    [
        (["--max-hops", 7], "invalid_request", "--max-hops", "from 1 to 6"),
        (["--max-splits", 0], "invalid_request", "--max-splits", "from 1 to 100"),
        (["--deny", "x"], "invalid_request", "--deny", "here are"),
        (["--gas-price-gwei", "x"], "invalid_request", "--gas-price-gwei", "is not an amount"),
        (["--requests", "nowhere.csv"], "bad_request_file", "", "cannot be read"),
        (["--requests", "requests.md"], "bad_request_file", "", "rename it"),
        (["--market", "nowhere.json"], "bad_market_file", "", "cannot be read"),
    ],
)
def test_what_no_row_could_make_good_is_exit_code_two(
    run: Run, write: Write, market_file: Path, arguments: list[Any], code: str, field: str, message: str
) -> None:
    result = run("batch", "--market", market_file, "--requests", write("r.json", ROWS), *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    error = json.loads(result.stderr)["error"]
    assert (error["code"], error["field"]) == (code, field)
    assert message in error["message"]


def test_a_terminal_sees_a_bar_and_stdout_does_not(write: Write) -> None:
    row = {"token_in": "WETH@1", "token_out": "USDC@1", "amount": str(10**18)}
    command = [sys.executable, "-c", "from routing_engine.cli import main; main()", "batch"]
    shown, stdout = run_in_terminal([*command, "--requests", str(write("r.json", [row] * 3))])
    assert "Routing" in shown
    assert "3/3" in shown
    assert [json.loads(line)["row"] for line in stdout.splitlines()] == [0, 1, 2]


@pytest.mark.shared_data
def test_recorded_requests_on_a_recorded_market(run: Run, shared_data: Path, tmp_path: Path) -> None:
    market = shared_data / "markets" / "eth_fynd_24721174.json.gz"
    path = shared_data / "trades" / "eth_requests_1k.json.gz"
    result = run("batch", "--market", market, "--requests", path, "--gas-price-gwei", 10, "--max-splits", 1)
    lines = lines_of(result)
    assert len(lines) == 1000
    assert sum(line["status"] == "found" for line in lines) > 650
    assert {line["status"] for line in lines} == {"found", "no_route", "insufficient_liquidity", "unknown_token"}

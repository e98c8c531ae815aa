"""Requests that somebody made to do harm, or by mistake: refused with the field, or left out and told."""

from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from api.solver.app import build_solver
from routing_engine.auction.reading import read_auction
from routing_engine.cli.app import cli
from tests.support.cow.auctions import TOKENS, UNIT, WETH, write_auction, write_order, write_pair, write_token

A = TOKENS[1]
GOOD = write_auction(
    [write_order(1, WETH, A, (UNIT, UNIT // 2))],
    [write_pair(0, (WETH, A), (1000 * UNIT, 1000 * UNIT))],
    {WETH: write_token(UNIT), A: write_token(UNIT)},
)
GARBAGE = [None, -1, "-1", "1e400", 10**400, "9" * 79, 1.5, "NaN", "", [], {}, True, "0x", "\x00", "0xzz"]


@pytest.fixture(scope="module")
def client() -> FlaskClient:
    return build_solver().test_client()


def test_an_auction_is_solved_over_http(client: FlaskClient) -> None:
    answer = client.post("/solve", json=GOOD)
    assert answer.status_code == 200
    assert [len(each["trades"]) for each in answer.json["solutions"]] == [1]
    assert client.post("/notify", json={"kind": "success"}).status_code == 200
    assert client.get("/healthz").status_code == 200
    assert client.get("/solve").status_code == 405


@pytest.mark.parametrize("field", ["tokens", "orders", "liquidity", "effectiveGasPrice", "deadline"])
def test_what_an_auction_must_have(client: FlaskClient, field: str) -> None:
    for value in [*GARBAGE, ...]:
        body: dict[str, Any] = copy.deepcopy(GOOD)
        if value is ...:
            del body[field]
        else:
            body[field] = value
        answer = client.post("/solve", data=json.dumps(body))
        assert answer.status_code in (200, 400), value
        if answer.status_code == 400:
            assert field in answer.json["error"]["message"]
        else:
            assert value in ([], {}), "only an empty list or object is still an auction"


@pytest.mark.parametrize(("part", "where"), [("orders", "orders.0"), ("liquidity", "liquidity.0")])
def test_parts_that_are_left_out_and_told(client: FlaskClient, part: str, where: str) -> None:
    for number, field in enumerate(GOOD[part][0]):
        for value in GARBAGE[number % 3 :: 3]:
            body: dict[str, Any] = copy.deepcopy(GOOD)
            body[part][0][field] = value
            assert client.post("/solve", data=json.dumps(body)).status_code in (200, 400), (field, value)
            if value != 10**400:
                skipped = read_auction(body).skipped
                assert [each.where for each in skipped] in ([], [where])
    for value in GARBAGE:
        assert client.post("/solve", data=json.dumps({**GOOD, part: [value]})).status_code in (200, 400)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "unheardOf"}, "kind"), ({"tokens": {WETH: {"balance": "1"}}}, "tokens"),
        ({"tokens": {WETH: {"balance": "0"}, A: {"balance": "1"}}}, "balance"), ({"fee": "1.5"}, "fee"),
        ({"gasEstimate": "9" * 20}, "gasEstimate"), ({"id": "x" * 500}, "id"), ({"address": "0x12"}, "address"),
    ],
)  # fmt: skip
def test_liquidity_that_nobody_knows(change: dict[str, Any], reason: str) -> None:
    body = {**GOOD, "liquidity": [{**GOOD["liquidity"][0], **change}]}
    auction = read_auction(body)
    assert auction.markets == ()
    assert reason in str(auction.skipped[0])


def test_a_weighted_pool_must_agree_with_its_tokens(client: FlaskClient) -> None:
    row = {"balance": str(UNIT), "scalingFactor": "1", "weight": "0.5"}
    pool = {
        **GOOD["liquidity"][0], "kind": "weightedProduct", "version": "v0",
        "tokens": {WETH: row, A: {**row, "scalingFactor": "1000000000000"}},
    }  # fmt: skip
    body = {**GOOD, "liquidity": [pool]}
    assert "not that of a token of 18 decimals" in str(read_auction(body).skipped[0])
    assert client.post("/solve", json=body).json == {"solutions": []}


def test_doubles_count_once() -> None:
    body = {**GOOD, "orders": GOOD["orders"] * 2, "liquidity": GOOD["liquidity"] * 2}
    auction = read_auction(body)
    assert (len(auction.orders), len(auction.markets)) == (1, 1)
    assert [each.where for each in auction.skipped] == ["orders.1", "liquidity.1"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a":NaN}',
        pytest.param(b"[" * 100_000, id="deep"), pytest.param(b"1" * 5000, id="long"),
    ],
)  # fmt: skip
def test_bodies_that_are_no_auction(client: FlaskClient, body: bytes) -> None:
    answer = client.post("/solve", data=body)
    assert answer.status_code == 400
    assert answer.json["error"]["code"] == "other"


def test_the_largest_orders_of_both_directions(client: FlaskClient) -> None:
    """Together they are more than any contract could be given."""
    most = 2**256 - 1
    orders = [write_order(n, *ends, (most, 1)) for n, ends in enumerate([(WETH, A), (WETH, A), (A, WETH)])]
    assert client.post("/solve", json={**GOOD, "orders": orders}).status_code == 200


@pytest.mark.parametrize("amount", [1, 2**112, 2**200, 2**256 - 1])
def test_amounts_of_any_size(client: FlaskClient, amount: int) -> None:
    for sold, bought in ((amount, 1), (1, amount), (amount, amount)):
        for kind in ("sell", "buy"):
            for is_partial in (False, True):
                order = write_order(1, WETH, A, (sold, bought), kind=kind, partiallyFillable=is_partial)
                assert client.post("/solve", json={**GOOD, "orders": [order]}).status_code == 200


def test_a_file_is_solved_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "auction.json.gz"
    body = {**GOOD, "deadline": "2020-01-01T00:00:00Z", "liquidity": [*GOOD["liquidity"], {"kind": "strange"}]}
    path.write_bytes(gzip.compress(json.dumps(body).encode()))
    result = CliRunner().invoke(cli, ["solve", "auction", str(path)])
    assert result.exit_code == 0
    assert len(json.loads(result.stdout)["solutions"]) == 1
    assert "left out: liquidity.1" in result.stderr
    path.write_text("9" * 5000)
    assert "a number of 5,000 digits" in CliRunner().invoke(cli, ["solve", "auction", str(path)]).stderr
    path.write_text("{}")
    refused = CliRunner().invoke(cli, ["solve", "auction", str(path)])
    assert (refused.exit_code, "tokens" in refused.stderr) == (2, True)

"""The recorded auction: its requests have the driver's form, and what is found settles, also where limits are eased."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import jsonschema_rs
import pytest
from click.testing import CliRunner

from benchmarks.parts.recorded_auction import loosen, read_request
from benchmarks.parts.solver import pick
from routing_engine.auction.reading import read_auction
from routing_engine.auction.solver import solve_auction
from routing_engine.auction.writing import write_solutions
from routing_engine.cli.app import cli
from tests.support.cow.schema import ANSWER, AUCTION
from tests.support.cow.validator import judge

pytestmark = pytest.mark.shared_data

GRAVI_AURA = "0xba485b556399123261a5f9c95d413b4f93107407"
"""A token with orders in both directions."""


def test_the_request_has_the_form_of_a_driver_s(shared_data: Path) -> None:
    body = read_request(shared_data)
    jsonschema_rs.validate(AUCTION, body)
    auction = read_auction(body)
    assert (len(auction.orders), len(auction.markets)) == (527, 804)
    reasons = {skipped.reason.partition(":")[0] for skipped in auction.skipped}
    assert reasons == {"balance", "weights", "inconsistent_state"}, "empty pools, and weights that are not one"


def test_what_is_found_settles_and_batches_gain(shared_data: Path) -> None:
    body = loosen(read_request(shared_data), 3)
    body["orders"] = [order for order in body["orders"] if GRAVI_AURA in (order["sellToken"], order["buyToken"])]
    solved = solve_auction(read_auction(body), longest_s=120)
    answer = write_solutions(solved.solutions)
    jsonschema_rs.validate(ANSWER, answer)
    for solution, written in zip(solved.solutions, answer["solutions"], strict=True):
        assert judge(body, written).score == solution.score
    alone = sum(each.score for each in pick(each for each in solved.solutions if len(each.trades) == 1))
    together = [*pick(solved.solutions)]
    assert sum(each.score for each in together) > alone > 0
    both = [
        each
        for each in solved.solutions
        if {(t.order.buy, t.order.sell) for t in each.trades} & {(t.order.sell, t.order.buy) for t in each.trades}
    ]
    assert both, "opposite orders exchange what they want of each other"


def test_a_recorded_file_is_solved(shared_data: Path, tmp_path: Path) -> None:
    body = read_request(shared_data)
    body["orders"] = body["orders"][:5]
    path = tmp_path / "auction.json.gz"
    path.write_bytes(gzip.compress(json.dumps(body).encode()))
    result = CliRunner().invoke(cli, ["solve", "auction", str(path)])
    assert result.exit_code == 0, result.stderr
    jsonschema_rs.validate(ANSWER, json.loads(result.stdout))

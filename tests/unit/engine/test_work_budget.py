"""A budget of work: counted, so that an answer that ends with it is the same on every machine, and exact."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import NoReturn

import pytest

from routing_engine import InvalidRequest, Router, RouteRequest, RouteResult, Snapshot
from routing_engine.archive.archive import Archive
from routing_engine.archive.result_records import describe_result
from routing_engine.deadline import LARGE, STEPS, STEPS_OF_LARGE, UNLIMITED_WORK, Budget, count_steps
from routing_engine.kernels.work import GRACE
from tests.support.markets import token

FORTUNE = RouteRequest(token_in="USDC@8453", token_out="WETH@8453", amount=10**14, time_budget_ms=None, work_budget=40)
"""Far beyond what the sandbox's markets hold: it would be divided over a hundred paths for ten seconds."""
BOUGHT = replace(FORTUNE, token_in="WETH@8453", token_out="USDC@8453", side="exact_out", amount=5 * 10**13)
LANES = replace(FORTUNE, token_in="USDC@137", token_out="DAI@10")
FEW_PATHS = replace(FORTUNE, amount=10**16, max_splits=5, alternatives=5)
WORST = {"sold": FORTUNE, "bought": BOUGHT, "over lanes": LANES, "few paths": FEW_PATHS}

AFTERWARDS = 10 * STEPS
"""Steps by which an answer may go beyond its budget and grace: what was under way is ended in good order."""


def read_no_clock() -> NoReturn:
    raise AssertionError("a clock was read")


@cache
def get_router() -> Router:
    return Router(Snapshot.sandbox(), clock=read_no_clock)


def tell(result: RouteResult) -> str:
    return json.dumps(describe_result(result))


@pytest.mark.parametrize("request_", WORST.values(), ids=WORST)
def test_an_answer_that_ends_with_its_work_says_so_and_keeps_its_promises(request_: RouteRequest) -> None:
    result = get_router().find_routes(request_)
    best, certificate = result.best(), result.certificate
    assert not result.is_complete
    assert certificate is not None
    assert (certificate.gap_bps is None) == bool(certificate.reason)
    if request_.side == "exact_out":
        assert best.amount_out >= request_.amount
    else:
        assert best.amount_in == request_.amount
    held = {best.token_in: best.amount_in}
    for hop in best.hops:
        held[hop.token_in] -= hop.amount_in
        assert held[hop.token_in] >= 0
        quote, _ = (
            get_router().snapshot.markets[hop.market_id].swap_exact_in(hop.token_in, hop.token_out, hop.amount_in)
        )
        assert quote.amount_out == hop.amount_out
        held[hop.token_out] = held.get(hop.token_out, 0) + hop.amount_out
    assert held[best.token_out] == best.amount_out


@pytest.mark.parametrize("request_", WORST.values(), ids=WORST)
@pytest.mark.parametrize("work", [1, 20, 60])
def test_work_is_bounded_by_the_budget(request_: RouteRequest, work: int, monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[Budget] = []

    class Noted(Budget):
        def __init__(self, *given: object) -> None:
            super().__init__(*given)  # type: ignore[arg-type]
            budgets.append(self)

    monkeypatch.setattr("routing_engine.router.Budget", Noted)
    get_router().find_routes(replace(request_, work_budget=work))
    (budget,) = budgets
    assert -GRACE - AFTERWARDS < budget.work[0] <= 0


def test_more_work_gives_no_worse_answers_and_no_limit_the_best() -> None:
    request = replace(FORTUNE, amount=2 * 10**13)
    router = get_router()
    results = [router.find_routes(replace(request, work_budget=work)) for work in (1, 4, 16, 64, 256, None)]
    nets = [result.best().amount_out_net for result in results]
    assert all(less <= more for less, more in pairwise(nets))
    assert nets[0] < nets[-1]
    assert [result.is_complete for result in results][:4] == [False] * 4
    assert results[-1].is_complete
    for result in results:
        assert result.certificate is not None
        assert result.certificate.gap_bps is not None
        assert nets[-1] * (1 - result.certificate.gap_bps / 1e4) <= result.best().amount_out_net


def test_where_work_is_left_the_answer_is_that_without_a_limit() -> None:
    request = replace(FORTUNE, amount=10**10)
    limited, free = (get_router().find_routes(replace(request, work_budget=work)) for work in (400, None))
    assert limited.is_complete
    assert free.is_complete
    assert tell(limited) == tell(free)


def test_two_processes_give_the_same_answer_to_the_last_digit() -> None:
    """The other one is as slow as it likes: each call of a kernel waits, and other threads take its time."""
    code = (
        "import json, sys, threading, time\n"
        "from routing_engine import Router, Snapshot\n"
        "from routing_engine.archive.request_records import read_request\n"
        "from routing_engine.search.splits import split\n"
        "from tests.unit.engine.test_work_budget import tell\n"
        "done, kernel = threading.Event(), split._generate_columns\n"
        "threading.Thread(target=lambda: [sum(range(1000)) for _ in iter(done.is_set, True)], daemon=True).start()\n"
        "split._generate_columns = lambda *given: (time.sleep(0.01), kernel(*given))[1]\n"
        "router = Router(Snapshot.sandbox())\n"
        "print(json.dumps([tell(router.find_routes(read_request(each))) for each in json.loads(sys.argv[1])]))\n"
        "done.set()\n"
    )
    requests = [FORTUNE, BOUGHT]
    mine = [get_router().find_routes(request) for request in requests]
    asked = json.dumps([Archive.of(result, get_router().snapshot).describe()["request"] for result in mine])
    theirs = subprocess.run([sys.executable, "-c", code, asked], check=True, capture_output=True, text=True).stdout
    assert json.loads(theirs) == [tell(result) for result in mine]


def test_an_archive_of_a_cut_answer_replays_bit_for_bit() -> None:
    archive = Archive.of(get_router().find_routes(FORTUNE), get_router().snapshot)
    again = Archive.parse(json.loads(json.dumps(archive.describe())), "an archive").replay(get_router())
    assert not again.result.is_complete
    assert again.difference == ""


def test_streams_and_pareto_sets_end_with_their_work_too() -> None:
    router = get_router()
    *_, last = router.stream(FORTUNE)
    assert not last.is_complete
    found = router.find_pareto_set(LANES)
    assert found.routes
    assert not found.is_complete
    assert all(each.gap_bps is not None or each.reason for each in found.certificates)


def test_a_unit_has_fewer_steps_where_edges_are_not_in_the_cache() -> None:
    assert count_steps(3, LARGE) == 3 * STEPS
    assert count_steps(3, LARGE + 1) == 3 * STEPS_OF_LARGE
    assert count_steps(None, 1) == UNLIMITED_WORK


def test_without_a_limit_nothing_is_cut() -> None:
    budget = Budget(read_no_clock, None)
    assert budget.work[0] == UNLIMITED_WORK
    assert not budget.is_spent()
    budget.spend(UNLIMITED_WORK)
    assert budget.is_spent()


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "400", 1_000_001])
def test_a_budget_out_of_bounds_names_the_field(value: object) -> None:
    with pytest.raises(InvalidRequest) as caught:
        RouteRequest(token_in=token("A"), token_out=token("B"), amount=1, work_budget=value)  # type: ignore[arg-type]
    assert caught.value.field == "work_budget"

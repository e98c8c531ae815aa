"""Answers are read as documented and replayed exactly; nothing that a solver says of them is believed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.harness.answer import Answer, BadAnswer, Swap, parse_answer, read_answer
from benchmarks.harness.judge import Bound, Judge, Verdict
from benchmarks.harness.replay import BrokenAnswer, Fault
from benchmarks.instances import POOL_GAS, queries
from benchmarks.measure import request_of
from benchmarks.peers.this_router import ThisRouter
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.markets import LadderMarket, Level
from tests.support.bench_solvers import FORGED, make_market

SWAP = {"market": "a", "token_in": "x@1", "token_out": "y@1"}


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return make_market()


@pytest.fixture(scope="module")
def judge(snapshot: Snapshot) -> Judge:
    return Judge(snapshot)


@pytest.fixture(scope="module")
def request_(snapshot: Snapshot) -> RouteRequest:
    """One that is best divided."""
    (query,) = queries(Router(snapshot), 1, (0.2,))
    return request_of(query, gas_prices={1: 10**9})


@pytest.fixture(scope="module")
def answer(snapshot: Snapshot, request_: RouteRequest) -> Answer:
    router = ThisRouter()
    router.load(snapshot)
    found = router.solve(request_, {})
    assert found is not None
    assert len(found.swaps) > 2
    return found


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([], "expected an object"), ({}, "neither"), ({"swaps": 1}, "expected a list"),
        ({"swaps": [SWAP | {"amount": 2**256}]}, "digits"),
        ({"swaps": ["x"]}, r"swaps\[0\]: expected an object"), ({"swaps": [SWAP | {"amount": 1.5}]}, "expected digits"),
        ({"swaps": [SWAP | {"amount": "-5"}]}, "expected digits"), ({"swaps": [SWAP | {"amount": True}]}, "digits"),
        ({"swaps": [SWAP | {"amount": "9" * 79}]}, "digits"), ({"swaps": [SWAP | {"market": ""}]}, "market"),
        ({"swaps": [SWAP], "paths": [{"swaps": [SWAP]}]}, "not both"), ({"paths": [{"swaps": []}]}, "no swaps"),
        ({"paths": [{"amount": "1", "swaps": [SWAP | {"token_in": 3}]}]}, r"paths\[0\].swaps\[0\].token_in"),
        ({"swaps": [SWAP] * 2_001}, "more than"), ({"swaps": [], "claimed": "much"}, "claimed"), ("text", "an object"),
    ],
)  # fmt: skip
def test_what_is_no_answer_names_the_field(document: Any, said: str) -> None:
    with pytest.raises(BadAnswer, match=said):
        read_answer(document)


@pytest.mark.parametrize("text", [b"", b"{", b"\xff", b"[" * 5_000, b'{"swaps": [], "claimed": ' + b"9" * 5_000 + b"}"])
def test_what_is_no_json_is_no_answer(text: bytes) -> None:
    with pytest.raises(BadAnswer):
        parse_answer(text)


def test_documents_are_read_as_they_were_written(answer: Answer) -> None:
    assert parse_answer(json.dumps(answer.document()).encode()) == answer
    paths = Answer(paths=((5, (Swap("a", "x@1", "y@1"),)), (None, (Swap("b", "x@1", "y@1", 7),))))
    assert read_answer(paths.document()) == paths
    assert read_answer(None) == Answer()


def test_our_own_route_gives_to_the_unit_what_it_says(
    judge: Judge, snapshot: Snapshot, request_: RouteRequest, answer: Answer
) -> None:
    verdict = judge.judge(request_, answer)
    route = Router(snapshot).find_routes(request_).best()
    assert verdict is not None
    assert (verdict.gross, verdict.net, verdict.claimed) == (route.amount_out, route.amount_out_net, route.amount_out)
    assert verdict.gas == POOL_GAS * len(route.hops)
    assert judge.judge(request_, Answer()) is None


def test_what_is_claimed_changes_nothing(judge: Judge, request_: RouteRequest, answer: Answer) -> None:
    honest, boasting = (judge.judge(request_, each) for each in (answer, replace(answer, claimed=10**60)))
    assert honest is not None
    assert boasting is not None
    assert (honest.gross, honest.net) == (boasting.gross, boasting.net)


def test_paths_that_share_markets_count_merged_where_that_is_better(
    judge: Judge, snapshot: Snapshot, request_: RouteRequest
) -> None:
    single = ThisRouter(options={"max_splits": 1})
    single.load(snapshot)
    found = single.solve(request_, {})
    assert found is not None
    path = tuple(replace(swap, amount=None) for swap in found.swaps)
    with pytest.raises(BrokenAnswer, match="unspent: 1 of"):
        judge.judge(request_, Answer(paths=((request_.amount - 1, path),)))
    half = request_.amount // 2
    divided, whole = (
        judge.judge(request_, Answer(paths=paths)) for paths in (((half, path), (None, path)), ((None, path),))
    )
    assert divided is not None
    assert whole is not None
    assert divided.merged == divided.gross == whole.gross
    assert divided.in_turn <= divided.gross
    assert divided.gas == whole.gas


def test_an_answer_that_cannot_be_carried_out_says_why(judge: Judge, request_: RouteRequest, answer: Answer) -> None:
    first = answer.swaps[0]
    broken = {
        Fault.UNKNOWN_MARKET: (replace(first, market="none"),),
        Fault.WRONG_TOKEN: (replace(first, token_out=FORGED),),
        Fault.OVERSPENT: (replace(first, amount=request_.amount + 1),),
    }
    for fault, swaps in broken.items():
        with pytest.raises(BrokenAnswer) as caught:
            judge.judge(request_, Answer(swaps=swaps))
        assert caught.value.fault is fault
    with pytest.raises(BrokenAnswer, match="nothing of"):
        judge.judge(
            replace(request_, token_out=_third(judge, request_, first)), Answer(swaps=(replace(first, amount=None),))
        )


def _third(judge: Judge, request: RouteRequest, swap: Swap) -> Any:
    tokens = judge._router.graph.tokens
    return next(each for each in tokens if each.key not in (swap.token_in, swap.token_out))


def test_too_much_of_a_market_is_the_answers_fault(request_: RouteRequest) -> None:
    token_in, token_out = request_.token_in, request_.token_out
    orders = LadderMarket(
        id="orders", protocol="orders", token_in=token_in, token_out=token_out, levels=(Level(1_000, 1, 1),)
    )
    judge = Judge(Snapshot([orders]))
    answer = Answer(swaps=(Swap("orders", token_in.key, token_out.key),))
    verdict = judge.judge(replace(request_, amount=1_000), answer)
    assert verdict is not None
    assert verdict.gross == 1_000
    with pytest.raises(BrokenAnswer) as caught:
        judge.judge(replace(request_, amount=1_001), answer)
    assert caught.value.fault is Fault.MARKET_DECLINES


def test_an_output_that_is_asked_for_has_to_arrive(judge: Judge, snapshot: Snapshot, request_: RouteRequest) -> None:
    router = ThisRouter()
    router.load(snapshot)
    bought = replace(request_, side="exact_out", amount=10**18)
    found = router.solve(bought, {})
    assert found is not None
    verdict = judge.judge(bought, found)
    route = Router(snapshot).find_routes(bought).best()
    assert verdict is not None
    assert (verdict.gross, verdict.net) == (route.amount_in, route.amount_in_gross)
    bound = judge.find_bound(bought)
    assert bound.find_gap(bought, verdict) == pytest.approx(0, abs=5)
    with pytest.raises(BrokenAnswer, match="too_little"):
        judge.judge(replace(bought, amount=2 * 10**18), found)
    with pytest.raises(BrokenAnswer, match="say how much to pay"):
        judge.judge(bought, Answer(swaps=tuple(replace(swap, amount=None) for swap in found.swaps)))


def test_gaps_are_to_the_bound_and_a_broken_bound_shows(request_: RouteRequest) -> None:
    def of(net: int) -> Verdict:
        return Verdict(gross=net, net=net, in_turn=net, merged=None, gas=0, swaps=1, claimed=None)

    bound = Bound(value=1e6, scope="all_flows")
    assert bound.find_gap(request_, of(999_000)) == pytest.approx(10)
    assert bound.find_gap(request_, of(-5)) == 10_000
    assert not bound.is_broken(request_, of(10**6))
    assert bound.is_broken(request_, of(10**6 + 100))
    bought = replace(request_, side="exact_out")
    assert bound.find_gap(bought, of(1_001_001)) == pytest.approx(10, rel=1e-3)
    assert bound.is_broken(bought, of(999_000))
    assert Bound(value=None, scope="why").find_gap(request_, of(1)) is None


def test_gas_is_valued_for_everybody_as_it_is_counted(judge: Judge, request_: RouteRequest, answer: Answer) -> None:
    verdict = judge.judge(request_, answer)
    assert verdict is not None
    value = judge.value_gas(request_)[1]
    assert verdict.gross - verdict.net == pytest.approx(verdict.gas * value, rel=1e-6)

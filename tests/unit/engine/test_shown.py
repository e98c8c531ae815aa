"""What a person sees of the library in an interpreter and an editor."""

from __future__ import annotations

import re
import subprocess
import sys
import typing
from importlib.metadata import version

import pytest

import routing_engine
from routing_engine import Route, Router, RouteRequest, RouteResult, Side, Snapshot
from routing_engine.certificate import Certificate
from routing_engine.model import Token
from routing_engine.objective import OBJECTIVES, OrderName
from routing_engine.result import Status
from routing_engine.route import SideName
from tests.support.markets import token
from tests.unit.engine.test_route import NETWORK, hop

COIN = Token(chain_id=1, address="0x" + "1" * 40, symbol="COIN", decimals=2)


@pytest.fixture(scope="module")
def router() -> Router:
    return Router(Snapshot.sandbox())


def test_a_route_is_one_short_line() -> None:
    assert repr(NETWORK) == "Route(1e-15 A@1 → 1.01e-15 D@1; 3 paths over 5 markets; chain 1; 12 s)"
    there = token("C@10")
    bridged = Route(token_in=COIN, token_out=there, side=Side.EXACT_IN, hops=(hop("over", COIN, there, 150, 140),))
    assert repr(bridged) == "Route(1.5 COIN@1 → 1.4e-16 C@10; 1 path over 1 market; chains 1, 10; 12 s)"


def test_a_result_says_what_was_found_and_how_good_it_is(router: Router) -> None:
    weth, usdc = router.snapshot.token("WETH@1"), router.snapshot.token("USDC@8453")
    result = router.find_routes(RouteRequest(token_in=weth, token_out=usdc, amount=400 * 10**18, alternatives=2))
    shown = repr(result)
    assert shown.startswith(f"RouteResult(found: {result.best().summary}; gap ")
    assert shown.endswith(f" bps; alternatives: {len(result.routes) - 1})")
    assert "400 WETH@1 → " in shown
    assert len(result.best().hops) > 3
    assert len(shown) < 160
    assert "\n" not in shown


@pytest.mark.parametrize(
    ("side", "question"), [("exact_in", "1.5 COIN@1 → D@1"), (Side.EXACT_OUT, "COIN@1 → 1.5e-16 D@1")]
)
def test_a_result_without_a_route_shows_the_question(side: Side, question: str) -> None:
    request = RouteRequest(token_in=COIN, token_out=token("D"), amount=150, side=side)
    result = RouteResult(request=request, snapshot_id="", status=Status.NO_ROUTE)
    assert repr(result) == f"RouteResult(no_route: {question})"


def test_a_gap_that_nothing_proves_is_said() -> None:
    request = RouteRequest(token_in=NETWORK.token_in, token_out=NETWORK.token_out, amount=1000)
    found = RouteResult(
        request=request, snapshot_id="", status=Status.FOUND, routes=(NETWORK,),
        certificates=(Certificate.missing("the bound rules out no input, however small", 4),),
    )  # fmt: skip
    assert repr(found) == f"RouteResult(found: {NETWORK.summary}; gap unknown)"


def test_parts_of_a_route_are_one_short_line_each() -> None:
    assert repr(NETWORK.hops[0]) == "Hop(6e-16 A@1 → 6.01e-16 B@1; ab ab)"
    assert repr(NETWORK.paths[2]) == "Path(2e-16 A@1 → 2.05e-16 D@1; A@1 -[ac]-> C@1 -[cd]-> D@1)"
    assert repr(NETWORK.legs[0]) == "Leg(chain 1: 5 hops over ab, ac, cb, cd, bd; 12 s)"


def test_many_answers_are_one_short_line(router: Router) -> None:
    quotes = router.quote_many("WETH@1", "USDC@1", [10**18, 2 * 10**18, 10**70])
    assert re.fullmatch(r"Quotes\(2 of 3 found; [\d,]+\.\d ms of search\)", repr(quotes))


def test_a_token_shows_amounts_and_reads_them() -> None:
    assert COIN.show(150) == "1.5 COIN@1"
    assert COIN.units("1.5") == 150


def test_a_router_shows_its_snapshot(router: Router) -> None:
    assert repr(router) == f"Router({router.snapshot!r})"


def test_names_complete_before_their_first_use() -> None:
    code = "import routing_engine, sys; print(*dir(routing_engine)); print('numpy' in sys.modules)"
    names, is_numpy_loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert {*routing_engine.__all__, "__version__", "__doc__"} <= set(names.split())
    assert [name for name in names.split() if not name.startswith("__")] == sorted(routing_engine.__all__)
    assert is_numpy_loaded == "False"


def test_the_version_is_the_one_that_is_installed() -> None:
    assert routing_engine.__version__ == version("crosschain-checkout")


def test_the_types_of_side_and_order_list_all_there_are() -> None:
    assert set(typing.get_args(SideName)) == set(Side)
    assert set(typing.get_args(OrderName)) == set(OBJECTIVES)
    hints = typing.get_type_hints(RouteRequest.__init__)
    assert (hints["side"], hints["order"]) == (Side | SideName, OrderName)

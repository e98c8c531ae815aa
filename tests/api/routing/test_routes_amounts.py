"""`POST /v1/routes`: the amounts are the library's, to the unit."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.schemas.routing.pairs import DEFAULT_SPLITS
from api.schemas.routing.queries import USDC_ETHEREUM
from api.services.resources import Resources
from api.services.routing.query import ANSWER_WORK, RouteQuery
from routing_engine import RouteRequest
from tests.support.routes import WETH, asker
from tests.support.stream import CRV_POLYGON, USDC_POLYGON

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
"""Nothing here depends on the database."""


@pytest.fixture
def ask(client: FlaskClient) -> Callable[..., Any]:
    """Send the example with some properties changed."""
    return asker(client)


@pytest.mark.rule("routes.17", "routes.23", "routes.31", "routes.32", "routes.33")
@pytest.mark.parametrize(
    ("changes", "bps"),
    [
        ({}, 30),
        ({"fromToken": WETH, "inputAmount": str(10**18)}, 50),
        ({"slippageBps": 0}, 0),
        ({"slippageBps": "300"}, 300),
    ],
)
def test_slippage_lowers_the_promise_and_rounds_down(ask: Callable[..., Any], changes: Any, bps: int) -> None:
    route = ask(**changes).get_json()
    assert int(route["outputAmountMin"]) == int(route["outputAmount"]) * (10_000 - bps) // 10_000
    assert route["inputAmountMax"] == route["inputAmount"]


@pytest.mark.rule("routes.22")
def test_exact_output_costs_the_least_input(ask: Callable[..., Any]) -> None:
    wanted = 1_234_567_891
    route = ask(inputAmount=None, outputAmount=str(wanted)).get_json()
    assert int(route["outputAmount"]) >= wanted
    assert int(route["outputAmountMin"]) == wanted
    spent = int(route["inputAmount"])
    assert int(route["inputAmountMax"]) == -(-spent * 10_030 // 10_000)
    same = {"allowProtocols": sorted({step["protocol"] for step in route["steps"]}), "maxHops": len(route["steps"])}
    assert int(ask(inputAmount=str(spent), **same).get_json()["outputAmount"]) >= wanted
    assert int(ask(inputAmount=str(spent - 1), **same).get_json()["outputAmount"]) < wanted


def check_conservation(steps: list[dict[str, Any]], *, start: tuple[str, int], amount: int) -> dict[Any, int]:
    """Run the steps in their order; at every token they spend no more than is there. Return what is left."""
    held: dict[Any, int] = defaultdict(int)
    held[start] = amount
    for step in steps:
        source = (step["fromToken"]["symbol"], step["fromChainId"])
        held[source] -= int(step["inputAmount"])
        assert held[source] >= 0, step
        held[(step["toToken"]["symbol"], step["toChainId"])] += int(step["outputAmount"])
    return held


@pytest.mark.rule("routes.4", "routes.7", "routes.13", "routes.29")
@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_amounts_are_those_of_the_library(ask: Callable[..., Any], resources: Resources, side: str) -> None:
    router, draw, found = resources.market.router, random.Random(20), 0
    tokens = sorted(resources.market.snapshot.tokens, key=lambda token: token.key)
    for _ in range(20):
        token_in, token_out = draw.sample(tokens, 2)
        fixed = token_in if side == "exact_in" else token_out
        amount = draw.randrange(1, 10 ** (fixed.decimals + 4))
        request = RouteRequest(
            token_in=token_in,
            token_out=token_out,
            amount=amount,
            side=side,
            max_splits=DEFAULT_SPLITS,
            work_budget=ANSWER_WORK,
        )
        expected = router.find_routes(request)
        answer = ask(
            fromToken=token_in.address,
            toToken=token_out.address,
            fromChainId=str(token_in.chain_id),
            toChainId=token_out.chain_id,
            inputAmount=str(amount) if side == "exact_in" else None,
            outputAmount=str(amount) if side == "exact_out" else None,
        )
        if not expected.routes:
            assert answer.status_code == 404
            continue
        found += 1
        route, best = answer.get_json(), expected.best()
        assert int(route["inputAmount"]) == best.amount_in
        assert int(route["outputAmount"]) == best.amount_out
        assert int(route["estimatedTime"]) == best.fill_time_s
        assert [(s["protocol"], int(s["inputAmount"]), int(s["outputAmount"])) for s in route["steps"]] == [
            (hop.protocol, hop.amount_in, hop.amount_out) for hop in best.hops
        ]
        start = (token_in.symbol, token_in.chain_id)
        left = check_conservation(route["steps"], start=start, amount=best.amount_in)
        assert left[(token_out.symbol, token_out.chain_id)] == best.amount_out
    assert found > 10


def test_a_query_keeps_the_fixed_amount(resources: Resources) -> None:
    weth, usdc = resources.market.snapshot.token("WETH@1"), resources.market.snapshot.token("USDC@1")
    buy = RouteQuery(request=RouteRequest(token_in=weth, token_out=usdc, amount=1000, side="exact_out"), slippage_bps=1)
    assert (buy.least_out(1003), buy.most_in(9_999), buy.most_in(10_000)) == (1000, 10_000, 10_001)
    sell = RouteQuery(request=RouteRequest(token_in=weth, token_out=usdc, amount=1000), slippage_bps=1)
    assert (sell.least_out(10_001), sell.least_out(10_000), sell.most_in(1000)) == (9_999, 9_999, 1000)


@pytest.mark.rule("routes.11", "routes.25")
def test_gas_is_a_fee_on_top_in_the_coin_of_the_chain(ask: Callable[..., Any], resources: Resources) -> None:
    route = ask(fromToken=WETH, toToken=USDC_ETHEREUM, toChainId="1", inputAmount=str(10**18)).get_json()
    gas = [fee for step in route["steps"] for fee in step["fees"] if fee["name"] == "gas"]
    assert {fee["currency"]["symbol"] for fee in gas} == {"ETH"}
    assert not any(fee["included"] for fee in gas)
    assert sum(int(fee["amount"]) for fee in gas) == int(route["gas"]) * resources.market.snapshot.gas_prices[1]


@pytest.mark.rule("routes.19", "routes.29", "routes.30")
def test_paths_side_by_side_start_at_the_same_token(ask: Callable[..., Any]) -> None:
    pair = {"fromToken": USDC_POLYGON, "toToken": CRV_POLYGON, "fromChainId": "137", "toChainId": "137"}
    single, split = (ask(**pair, inputAmount=str(10**12), maxSplits=most).get_json() for most in (1, 5))
    ends = [[(step["fromToken"]["symbol"], step["fromChainId"]) for step in each["steps"]] for each in (single, split)]
    assert len(set(ends[0])) == len(ends[0]), "one path leaves each token once"
    assert ends[1].count(("USDC", 137)) > 1
    assert int(split["outputAmount"]) > int(single["outputAmount"])
    left = check_conservation(split["steps"], start=("USDC", 137), amount=10**12)
    assert left[("USDC", 137)] == 0
    assert left[("CRV", 137)] == int(split["outputAmount"])

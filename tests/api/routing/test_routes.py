"""`POST /v1/routes`: the interface's shape and the options."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from eth_utils.address import is_checksum_address
from flask.testing import FlaskClient

from api.app import build_app
from api.domain.clock import format_time
from api.schemas.routing.queries import USDC_BASE, USDC_ETHEREUM
from api.services.market.market import MarketService
from api.services.resources import Resources
from api.services.routing.query import ANSWER_WORK
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.reference.chains import CHAINS
from tests.api.conftest import START
from tests.support.markets import market_of
from tests.support.routes import BODY, EURC_BASE, NATIVE, WETH, asker

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
"""Nothing here depends on the database."""

STEP = ["protocol", "fromToken", "toToken", "fromChainId", "toChainId", "inputAmount", "outputAmount", "estimatedTime",
        "fees"]  # fmt: skip
TOKEN = ["symbol", "decimals", "name", "logoURI", "chain_to_address", "chains", "tags"]


@pytest.fixture
def ask(client: FlaskClient) -> Callable[..., Any]:
    """Send the example with some properties changed."""
    return asker(client)


def sum_by_symbol(fees: list[dict[str, Any]]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for fee in fees:
        sums[fee["currency"]["symbol"]] += int(fee["amount"])
    return dict(sums)


def test_the_work_of_an_answer_is_bounded_and_the_answer_says_where_it_was_cut(
    ask: Callable[..., Any], client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred paths of six hops for a fortune take a minute; nobody may ask fifty times a minute for that."""
    assert ask().get_json()["incompleteReason"] == ""  # the first answer also warms the router up
    requests: list[RouteRequest] = []
    for name in ("find_routes", "stream"):
        monkeypatch.setattr(Router, name, _note_request(getattr(Router, name), requests))
    dear = {"inputAmount": str(10**15), "maxSplits": 100, "maxHops": 6}
    answer = ask(**dear)
    assert answer.status_code == 200
    assert "ended with its budget of work" in answer.get_json()["incompleteReason"]
    streamed = client.get("/v1/routes/stream", query_string={**BODY, **dear})
    assert "ended with its budget of work" in streamed.text
    assert [(each.work_budget, each.time_budget_ms) for each in requests] == [(ANSWER_WORK, None)] * 2


def _note_request(search: Callable[..., Any], requests: list[RouteRequest]) -> Callable[..., Any]:
    def noted(router: Router, request: RouteRequest) -> Any:
        requests.append(request)
        return search(router, request)

    return noted


@pytest.mark.rule(
    "service.4",
    "money.6",
    "money.8",
    "money.17",
    "routes.4",
    "routes.5",
    "routes.6",
    "routes.8",
    "routes.9",
    "routes.12",
    "routes.13",
    "routes.23",
    "routes.25",
    "routes.26",
    "routes.27",
    "routes.28",
    "tokens.1",
)
def test_a_route_has_the_documented_shape(ask: Callable[..., Any], resources: Resources) -> None:
    answer = ask()
    assert answer.status_code == 200
    route = answer.get_json()
    assert list(route)[:4] == ["id", "steps", "estimatedTime", "totalFees"]
    assert route["id"].startswith("rt_")
    assert route["inputAmount"] == BODY["inputAmount"]
    assert route["snapshotId"] == resources.market.snapshot.id
    assert route["expiresAt"] == format_time(START + timedelta(seconds=60))
    assert 0.0 <= route["optimalityGapBps"] < 1.0
    assert route["optimalityGapScope"] in {"routes_up_to_4_hops", "all_flows"}
    assert route["optimalityGapReason"] == ""
    of_flows = route["optimalityGapAllFlowsBps"]
    assert of_flows is None or of_flows >= route["optimalityGapBps"]
    assert "alternatives" not in route
    for name in ("estimatedTime", "outputAmount", "outputAmountMin", "gas"):
        assert route[name].isascii()
        assert route[name].isdecimal()
    for step in route["steps"]:
        assert list(step) == STEP
        assert isinstance(step["fromChainId"], int)
        assert step["fees"]
        for fee in step["fees"]:
            assert list(fee) == ["amount", "currency", "name", "included"]
        for token in (step["fromToken"], step["toToken"], *(fee["currency"] for fee in step["fees"])):
            assert list(token) == TOKEN
    total = sum_by_symbol(route["totalFees"])
    assert total == sum_by_symbol([fee for step in route["steps"] for fee in step["fees"]])
    assert len(total) == len(route["totalFees"])
    assert sum(int(step["estimatedTime"]) for step in route["steps"]) == int(route["estimatedTime"])


@pytest.mark.rule("tokens.1", "tokens.2", "tokens.3", "tokens.4")
def test_a_token_says_where_it_lives(ask: Callable[..., Any]) -> None:
    usdc = ask().get_json()["steps"][0]["fromToken"]
    assert (usdc["symbol"], usdc["decimals"], usdc["tags"]) == ("USDC", 6, ["stablecoin"])
    assert usdc["logoURI"].startswith("https://")
    assert usdc["chain_to_address"]["8453"] == USDC_BASE
    assert all(is_checksum_address(address) for address in usdc["chain_to_address"].values())
    assert [str(chain["chainId"]) for chain in usdc["chains"]] == list(usdc["chain_to_address"])
    base = next(chain for chain in usdc["chains"] if chain["chainId"] == 8453)
    assert (base["name"], base["nativeCurrency"]) == ("Base", {"name": "Ether", "symbol": "ETH", "decimals": 18})


@pytest.mark.rule("money.18", "money.19")
@pytest.mark.parametrize("alias", [NATIVE, NATIVE.lower(), "0x" + "0" * 40])
def test_the_native_coin_has_two_names(ask: Callable[..., Any], alias: str) -> None:
    route = ask(fromToken=alias, inputAmount=str(10**18)).get_json()
    first = route["steps"][0]
    assert first["fromToken"]["symbol"] == "ETH"
    assert first["fromToken"]["chain_to_address"]["1"] == NATIVE


@pytest.mark.rule("money.20", "money.21")
def test_bridged_usdc_is_another_token(ask: Callable[..., Any], resources: Resources) -> None:
    bridged = resources.market.snapshot.token("USDC.e@137")
    route = ask(toToken=bridged.address, toChainId="137").get_json()
    last = route["steps"][-1]["toToken"]
    assert last["symbol"] == "USDC.e"
    assert "bridged" in last["tags"]


@pytest.mark.rule("routes.3")
@pytest.mark.parametrize(("chain", "amount"), [("1", "2500000000"), (1, 2500000000)])
def test_numbers_are_strings_or_integers(ask: Callable[..., Any], chain: Any, amount: Any) -> None:
    assert ask(fromChainId=chain, inputAmount=amount).get_json()["inputAmount"] == "2500000000"


@pytest.mark.rule("routes.38", "routes.39")
def test_no_route_says_why_for_each_protocol(
    ask: Callable[..., Any], assert_error: Callable[..., None], resources: Resources
) -> None:
    answer = ask(inputAmount=str(2**256 - 1))
    assert_error(answer, 404)
    reasons = {row["path"]: row["message"] for row in answer.get_json()["error"]}
    assert set(reasons) == set(resources.market.router.graph.protocols)
    assert set(reasons.values()) & {"AMOUNT_TOO_HIGH", "INSUFFICIENT_LIQUIDITY"}
    assert "amount" in answer.get_json()["message"]
    denied = ask(allowProtocols="uniswap_v3")
    assert_error(denied, 404)
    assert "NO_PATH" in [row["message"] for row in denied.get_json()["error"]]
    assert denied.get_json()["message"] == "No route of at most 5 steps leads from USDC@1 to USDC@8453"


def test_a_listed_token_without_a_market_has_no_route(resources: Resources, assert_error: Callable[..., None]) -> None:
    class PoorMarket(MarketService):
        router = Router(Snapshot(market_of("ab: A@1 B@1 1000 1000 30bps")))

    poor = build_app(replace(resources, market=PoorMarket(None, resources.clock)))
    assert_error(poor.test_client().post("/v1/routes", json=BODY), 404, {"ab": "NO_PATH"})


@pytest.mark.rule("routes.20")
def test_protocols_are_allowed_and_denied(ask: Callable[..., Any]) -> None:
    first = ask().get_json()["steps"][0]["protocol"]
    other = ask(denyProtocols=[first]).get_json()
    assert first not in {step["protocol"] for step in other["steps"]}
    only = ask(allowProtocols=first).get_json()
    assert {step["protocol"] for step in only["steps"]} == {first}


@pytest.mark.rule("routes.14", "routes.15")
def test_fastest_is_fast_and_cheapest_is_cheap(ask: Callable[..., Any]) -> None:
    cheap, fast = ask(order="cheapest").get_json(), ask(order="fastest").get_json()
    assert int(fast["estimatedTime"]) < int(cheap["estimatedTime"])
    assert int(fast["outputAmount"]) <= int(cheap["outputAmount"])
    assert ask().get_json()["steps"] == cheap["steps"]


@pytest.mark.rule("routes.21")
def test_alternatives_differ_and_come_after_the_best(ask: Callable[..., Any]) -> None:
    route = ask(alternatives=3).get_json()
    routes = [route, *route["alternatives"]]
    assert len(routes) == 4
    assert len({item["id"] for item in routes}) == 4
    assert len({str(item["steps"]) for item in routes}) == 4
    assert all("alternatives" not in item for item in routes[1:])
    reasons = ["", *["alternatives are not judged"] * (len(routes) - 1)]
    assert [item["optimalityGapReason"] for item in routes] == reasons
    assert ask(alternatives=0).get_json().keys() == ask().get_json().keys()


@pytest.mark.rule("routes.18")
def test_steps_are_limited(ask: Callable[..., Any], assert_error: Callable[..., None]) -> None:
    long = {"fromToken": NATIVE, "toToken": EURC_BASE, "inputAmount": str(10**18)}
    assert len(ask(**long).get_json()["steps"]) > 1
    assert_error(ask(**long, maxHops="1"), 404)


@pytest.mark.rule("routes.40")
def test_all_described_chains_can_be_asked_for(ask: Callable[..., Any], resources: Resources) -> None:
    for chain in CHAINS.values():
        usdc = resources.market.snapshot.token(f"USDC@{chain.chain_id}")
        route = ask(
            fromToken=NATIVE,
            fromChainId=str(chain.chain_id),
            toToken=usdc.address,
            toChainId=str(chain.chain_id),
            inputAmount=str(10**18),
        )
        assert route.status_code == 200


def test_gas_of_an_unknown_price_is_no_fee(resources: Resources) -> None:
    snapshot = resources.market.snapshot

    class GaslessMarket(MarketService):
        router = Router(Snapshot(snapshot.markets.values()))

    client = build_app(replace(resources, market=GaslessMarket(None, resources.clock))).test_client()
    route = client.post("/v1/routes", json=BODY).get_json()
    assert int(route["gas"]) > 0
    assert all(fee["name"] != "gas" for step in route["steps"] for fee in step["fees"])


def put_back(value: Any, tokens: dict[str, Any]) -> Any:
    """Replace each key of a token by the token."""
    if isinstance(value, list):
        return [put_back(each, tokens) for each in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"key"}:
        return tokens[value["key"]]
    return {name: put_back(each, tokens) for name, each in value.items()}


def drop_ids(route: dict[str, Any]) -> dict[str, Any]:
    others = {"alternatives": [drop_ids(each) for each in route["alternatives"]]} if "alternatives" in route else {}
    return {**{name: value for name, value in route.items() if name != "id"}, **others}


@pytest.mark.parametrize("changes", [{}, {"alternatives": 5}, {"toToken": EURC_BASE, "maxSplits": 10}])
def test_tokens_can_be_listed_once(client: FlaskClient, changes: dict[str, Any]) -> None:
    body = {**BODY, **changes}
    whole, named, once = (
        client.post(path, json=body) for path in ("/v1/routes", "/v1/routes?tokens=inline", "/v1/routes?tokens=once")
    )
    route = once.get_json()
    tokens = route.pop("tokens")
    assert drop_ids(put_back(route, tokens)) == drop_ids(whole.get_json()) == drop_ids(named.get_json())
    assert all(list(token) == TOKEN for token in tokens.values())
    assert len(once.data) < len(whole.data) * 0.6
    assert once.get_data(as_text=True).count("logoURI") == sum(1 + len(token["chains"]) for token in tokens.values())


def test_another_shape_of_tokens_is_refused(client: FlaskClient, assert_error: Callable[..., None]) -> None:
    answer = client.post("/v1/routes?tokens=twice", json=BODY)
    assert_error(answer, 400)
    assert [row["path"] for row in answer.get_json()["error"]] == ["tokens"]


@pytest.mark.rule("routes.1")
def test_routes_are_not_below_the_prefix(client: FlaskClient, assert_error: Callable[..., None]) -> None:
    assert client.post("/v1/routes", json=BODY).status_code == 200
    assert_error(client.post("/api/v1/routes", json=BODY), 404, {})


@pytest.mark.rule("routes.16")
def test_balanced_weighs_time_and_money(ask: Callable[..., Any]) -> None:
    cheap, fair, fast = (ask(order=order).get_json() for order in ("cheapest", "balanced", "fastest"))
    assert int(fast["estimatedTime"]) < int(fair["estimatedTime"]) < int(cheap["estimatedTime"])
    assert int(fair["outputAmount"]) < int(cheap["outputAmount"])
    minutes = (int(cheap["estimatedTime"]) - int(fair["estimatedTime"])) / 60
    lost = int(cheap["outputAmount"]) - int(fair["outputAmount"])
    assert lost < minutes * int(cheap["inputAmount"]) / 10_000, "a minute weighs 0.01 % of the amount"


@pytest.mark.rule("routes.10")
def test_an_included_fee_is_what_the_output_lacks(ask: Callable[..., Any]) -> None:
    (step,) = ask(allowProtocols="across").get_json()["steps"]
    included = [int(fee["amount"]) for fee in step["fees"] if fee["included"]]
    assert sum(included) > 0
    assert int(step["outputAmount"]) == int(step["inputAmount"]) - sum(included)


@pytest.mark.rule("routes.24")
def test_the_price_impact_grows_with_the_amount(ask: Callable[..., Any]) -> None:
    swap = {"fromToken": WETH, "toToken": USDC_ETHEREUM, "toChainId": "1", "maxSplits": 1}
    found = [ask(**swap, inputAmount=str(amount * 10**18)).get_json()["priceImpactBps"] for amount in (1, 100, 10_000)]
    assert all(isinstance(bps, int) for bps in found)
    assert 0 <= found[0] < found[1] < found[2] <= 10_000


@pytest.mark.rule("routes.39")
def test_too_little_for_a_protocol_is_said(ask: Callable[..., Any], assert_error: Callable[..., None]) -> None:
    answer = ask(allowProtocols="across", inputAmount="1")
    assert_error(answer, 404)
    reasons = {row["path"]: row["message"] for row in answer.get_json()["error"]}
    assert reasons["across"] == "AMOUNT_TOO_LOW"

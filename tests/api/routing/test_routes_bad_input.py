"""`POST /v1/routes`: every bad input by name, keys and limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st

from api.app import build_app
from api.schemas.routing.queries import USDC_BASE, USDC_ETHEREUM
from api.services.market.market import MarketService
from api.services.resources import Resources
from routing_engine import Token
from tests.api.conftest import Merchant
from tests.support.routes import BODY, NATIVE, UNKNOWN, asker

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
"""Nothing here depends on the database."""

UNSUPPORTED = "Unsupported chain; use one of 1 (Ethereum), 10 (Optimism), 137 (Polygon), 8453 (Base), 42161 (Arbitrum)"


@pytest.fixture
def ask(client: FlaskClient) -> Callable[..., Any]:
    """Send the example with some properties changed."""
    return asker(client)


@pytest.mark.rule("routes.2")
def test_every_missing_property_is_required_in_the_order_of_the_interface(client: FlaskClient) -> None:
    for answer in (client.post("/v1/routes", json={}), client.post("/v1/routes")):
        assert answer.status_code == 400
        assert answer.get_json() == {
            "message": "Invalid request data",
            "code": "400",
            "error": [{"path": name, "message": "Required"} for name in BODY],
        }


@pytest.mark.rule("routes.2")
@pytest.mark.parametrize("name", BODY)
def test_one_missing_property_is_named(ask: Callable[..., Any], assert_error: Callable[..., None], name: str) -> None:
    assert_error(ask(**{name: None}), 400, {name: "Required"})


@pytest.mark.rule("routes.21", "routes.22", "routes.33", "routes.34", "routes.35", "routes.36", "routes.37")
@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({"fromChainId": "56"}, {"fromChainId": UNSUPPORTED}),
        ({"fromChainId": 56, "toChainId": "0x1"}, {"fromChainId": UNSUPPORTED, "toChainId": None}),
        ({"fromChainId": True}, {"fromChainId": "Expected integer or digit string, received boolean"}),
        ({"fromChainId": "1" * 400}, {"fromChainId": None}),
        ({"fromToken": UNKNOWN}, {"fromToken": "Unknown token on chain 1; GET /v1/tokens lists all"}),
        ({"fromToken": UNKNOWN, "toToken": UNKNOWN}, {"fromToken": None, "toToken": None}),
        ({"fromToken": USDC_BASE}, {"fromToken": "Unknown token on chain 1; GET /v1/tokens lists all"}),
        ({"fromToken": "USDC"}, {"fromToken": "Expected an address: 0x and 40 hexadecimal digits"}),
        ({"fromToken": 5}, {"fromToken": "Expected string, received number"}),
        ({"toToken": USDC_ETHEREUM, "toChainId": 1}, {"toToken": None}),
        ({"fromToken": NATIVE, "toToken": "0x" + "0" * 40, "toChainId": 1}, {"toToken": None}),
        ({"inputAmount": "0"}, {"inputAmount": "Must be 1 to 2^256-1"}),
        ({"inputAmount": str(2**256)}, {"inputAmount": "Must be 1 to 2^256-1"}),
        ({"inputAmount": "1.5"}, {"inputAmount": "Expected at most 78 digits 0-9 and nothing else"}),
        ({"inputAmount": "٣"}, {"inputAmount": None}),
        ({"inputAmount": "-1"}, {"inputAmount": None}),
        ({"inputAmount": "1e18"}, {"inputAmount": None}),
        ({"inputAmount": 1.0}, {"inputAmount": None}),
        ({"inputAmount": []}, {"inputAmount": None}),
        ({"inputAmount": ""}, {"inputAmount": None}),
        ({"outputAmount": "5"}, {"outputAmount": "Give either this or inputAmount, not both"}),
        ({"inputAmount": "x", "outputAmount": "5"}, {"inputAmount": None, "outputAmount": None}),
        ({"order": "best"}, {"order": "Must be one of cheapest, fastest, balanced"}),
        ({"order": 1}, {"order": None}),
        ({"slippageBps": 301}, {"slippageBps": "Must be 0 to 300"}),
        ({"slippageBps": -1}, {"slippageBps": None}),
        ({"maxHops": 0}, {"maxHops": "Must be 1 to 6"}),
        ({"maxHops": 10**30}, {"maxHops": None}),
        ({"maxSplits": 0}, {"maxSplits": "Must be 1 to 100"}),
        ({"alternatives": 6}, {"alternatives": "Must be 0 to 5"}),
        ({"alternatives": "two"}, {"alternatives": None}),
        ({"allowProtocols": "uniswap v3"}, {"allowProtocols.0": None}),
        ({"allowProtocols": []}, {"allowProtocols": "Must have 1 to 100 items"}),
        ({"allowProtocols": ["uniswap_v3"] * 101}, {"allowProtocols": None}),
        ({"allowProtocols": {"a": 1}}, {"allowProtocols": "Expected array of strings, received object"}),
        ({"denyProtocols": ["uniswap_v3", 5]}, {"denyProtocols.1": None}),
        ({"denyProtocols": ["uniswap_v9"]}, {"denyProtocols": None}),
        (
            {"fromToken": UNKNOWN, "toChainId": "2", "inputAmount": "many", "maxHops": 9, "allowProtocols": ["nope"]},
            {"fromToken": None, "toChainId": None, "inputAmount": None, "maxHops": None, "allowProtocols": None},
        ),
    ],
)
def test_each_bad_property_is_named(
    ask: Callable[..., Any],
    assert_error: Callable[..., None],
    changes: dict[str, Any],
    problems: dict[str, str | None],
) -> None:
    answer = ask(**changes)
    assert_error(answer, 400)
    found = {row["path"]: row["message"] for row in answer.get_json()["error"]}
    assert set(found) == set(problems)
    assert len(found) == len(answer.get_json()["error"])
    assert all(message is None or found[name] == message for name, message in problems.items())


def test_an_unknown_protocol_is_answered_with_the_known_ones(ask: Callable[..., Any]) -> None:
    (row,) = ask(denyProtocols="uniswap_v9").get_json()["error"]
    assert row["message"].startswith("Unknown protocol 'uniswap_v9'; use any of ")
    assert "uniswap_v3" in row["message"]


def test_no_body_is_too_strange(client: FlaskClient) -> None:
    names = st.sampled_from(
        [*BODY, "outputAmount", "order", "slippageBps", "maxHops", "alternatives", "allowProtocols"]
    )
    junk = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text(), max_size=3)

    @settings(max_examples=150, deadline=None, derandomize=True)
    @given(st.dictionaries(names, junk, max_size=4))
    def check(changes: dict[str, Any]) -> None:
        answer = client.post("/v1/routes", json={**BODY, **changes})
        assert answer.status_code in {200, 400, 404}, answer.get_json()
        if answer.status_code == 400:
            assert {row["path"].split(".")[0] for row in answer.get_json()["error"]} <= {*changes, ""}

    check()


def test_a_market_that_changes_between_check_and_use_is_no_failure(resources: Resources) -> None:
    class ForgetfulMarket(MarketService):
        router = resources.market.router
        asked = 0

        def token(self, chain_id: int, address: str) -> Token | None:
            self.asked += 1
            return super().token(chain_id, address) if self.asked <= 2 else None

    app = build_app(replace(resources, market=ForgetfulMarket(None, resources.clock)))
    answer = app.test_client().post("/v1/routes", json=BODY)
    assert answer.status_code == 400
    assert "again" in answer.get_json()["error"][0]["message"]


def test_other_methods_and_bodies_are_refused(client: FlaskClient, assert_error: Callable[..., None]) -> None:
    assert_error(client.get("/v1/routes"), 405)
    assert_error(client.post("/v1/routes", data="fromToken=1"), 415)
    assert_error(client.post("/v1/routes", data="{", content_type="application/json"), 400)


@pytest.mark.rule("keys.6", "keys.7")
def test_keys_are_optional_and_wrong_ones_refused(
    client: FlaskClient, merchant: Merchant, assert_error: Callable[..., None]
) -> None:
    assert client.post("/v1/routes", json=BODY, headers=merchant.headers()).status_code == 200
    assert_error(client.post("/v1/routes", json=BODY, headers={"X-Api-Key": "sk_test_no"}), 401)


@pytest.mark.rule("keys.6", "limits.2")
def test_routes_and_quotes_share_a_limit(make_app: Callable[..., Flask], merchant: Merchant) -> None:
    client = make_app(rate_limit_routing=2, rate_limit_keyless=1).test_client()
    assert client.post("/v1/routes", json=BODY).status_code == 200
    assert client.post("/v1/routes", json=BODY).status_code == 429
    keyed = merchant.headers()
    assert client.post("/v1/routes", json=BODY, headers=keyed).status_code == 200
    quote = {"fromChain": 1, "toChain": 8453, "fromToken": USDC_ETHEREUM, "toToken": USDC_BASE, "fromAmount": 10**9}
    assert client.get("/api/v1/quote", query_string=quote, headers=keyed).status_code == 200
    refused = client.post("/v1/routes", json=BODY, headers=keyed)
    assert refused.status_code == 429
    assert refused.get_json()["code"] == "429"
    assert int(refused.headers["Retry-After"]) >= 1
    assert client.get("/v1/tokens", headers=keyed).status_code == 200

"""`GET /v1/tokens`: what can be routed, in pages, with a tag."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from api.app import build_app
from api.domain.clock import format_time
from api.services.market.market import MarketService
from api.services.market.supply import load_offline
from api.services.resources import Resources
from routing_engine import Router, Snapshot
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from tests.api.conftest import START
from tests.support.markets import market_of

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
"""Nothing here depends on the database."""

USDC_BASE = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"


@pytest.fixture
def listing(client: FlaskClient) -> Callable[..., Any]:
    """Ask for the list and return its body."""

    def send(**query: Any) -> Any:
        answer = client.get("/v1/tokens", query_string=query)
        assert answer.status_code == 200, answer.get_json()
        return answer.get_json()

    return send


def symbols(body: dict[str, Any]) -> list[str]:
    return [token["symbol"] for token in body["tokens"]]


@pytest.mark.rule("tokens.5", "tokens.6")
def test_the_list_has_every_listed_token_and_chain(listing: Callable[..., Any]) -> None:
    body = listing()
    assert list(body) == ["tokens", "chains", "updated_at", "next_cursor"]
    assert symbols(body)[: len(token_registry.tokens())] == [info.symbol for info in token_registry.tokens()]
    assert [chain["chainId"] for chain in body["chains"]] == list(CHAINS)
    assert set(body["chains"][0]) == {"chainId", "name", "logoURI", "nativeCurrency"}
    assert body["updated_at"] == format_time(START)
    assert body["next_cursor"] is None
    usdc = next(token for token in body["tokens"] if token["symbol"] == "USDC")
    assert usdc["chain_to_address"]["8453"] == USDC_BASE


@pytest.mark.rule("tokens.7")
def test_filters(listing: Callable[..., Any]) -> None:
    base = listing(chainId=8453)["tokens"]
    assert base
    assert all("8453" in token["chain_to_address"] for token in base)
    assert len(base) < len(listing()["tokens"])
    assert {"USDC", "USDC.e"} <= set(symbols(listing(search="usdc")))
    assert symbols(listing(search="usd coin"))[0] == "USDC"
    assert symbols(listing(search=USDC_BASE)) == ["USDC"]
    assert symbols(listing(search="usdc.e", chainId="137")) == ["USDC.e"]
    assert listing(search="no such token")["tokens"] == []


@pytest.mark.rule("tokens.8")
def test_pages_join_up_to_the_whole_list(listing: Callable[..., Any]) -> None:
    found: list[str] = []
    query: dict[str, Any] = {"limit": 7, "chainId": 1}
    while True:
        body = listing(**query)
        assert len(body["tokens"]) <= 7
        found += symbols(body)
        if body["next_cursor"] is None:
            break
        query["cursor"] = body["next_cursor"]
    assert found == symbols(listing(chainId=1))


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ({"chainId": "56"}, "chainId"),
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"cursor": "nowhere"}, "cursor"),
        ({"search": "x" * 101}, "search"),
        ({"search": "\x00"}, "search"),
    ],
)
def test_each_bad_parameter_is_named(
    client: FlaskClient, assert_error: Callable[..., None], query: dict[str, str], name: str
) -> None:
    answer = client.get("/v1/tokens", query_string=query)
    assert_error(answer, 400)
    assert [row["path"] for row in answer.get_json()["error"]] == [name]


@pytest.mark.rule("tokens.9")
def test_an_unchanged_list_is_not_sent_again(client: FlaskClient) -> None:
    first = client.get("/v1/tokens?limit=3")
    tag = first.headers["ETag"]
    assert "max-age" in first.headers["Cache-Control"]
    for known in (tag, f'"other", {tag}', tag.removeprefix("W/"), "*"):
        again = client.get("/v1/tokens?limit=3", headers={"If-None-Match": known})
        assert (again.status_code, again.data) == (304, b"")
        assert again.headers["ETag"] == tag
    assert client.get("/v1/tokens?limit=4", headers={"If-None-Match": tag}).status_code == 200


@pytest.mark.rule("tokens.10")
def test_tokens_of_the_market_come_after_the_listed_ones(resources: Resources) -> None:
    class OtherMarket(MarketService):
        router = Router(Snapshot(market_of("ab: A@1 B@1 1000 1000 30bps\nfar: C@56 D@56 1000 1000 30bps")))

    client = build_app(replace(resources, market=OtherMarket(load_offline(None), resources.clock))).test_client()
    body = client.get("/v1/tokens").get_json()
    unlisted = body["tokens"][len(token_registry.tokens()) :]
    assert sorted(token["symbol"] for token in unlisted) == ["A", "B"]
    assert all(token["logoURI"] == "" and list(token["chain_to_address"]) == ["1"] for token in unlisted)
    assert unlisted[0]["chains"][0]["name"] == "Ethereum"
    page = client.get("/v1/tokens", query_string={"limit": len(token_registry.tokens()) + 1}).get_json()
    rest = client.get("/v1/tokens", query_string={"cursor": page["next_cursor"]}).get_json()
    assert rest["tokens"] == unlisted[1:]


@pytest.mark.rule("money.18")
def test_the_list_has_each_chains_coin(listing: Callable[..., Any]) -> None:
    coin = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
    found = {
        chain_id: token["symbol"]
        for token in listing()["tokens"]
        for chain_id, address in token["chain_to_address"].items()
        if address == coin
    }
    assert found == {"1": "ETH", "10": "ETH", "137": "POL", "8453": "ETH", "42161": "ETH"}

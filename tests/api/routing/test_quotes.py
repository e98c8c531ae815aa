"""`GET /api/v1/quote`: the seven fields, the aliases, what is stored."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from eth_utils.address import is_checksum_address
from flask.testing import FlaskClient
from sqlalchemy import event

from api.domain.clock import format_time
from api.schemas.routing.queries import USDC_BASE, USDC_ETHEREUM
from api.services.checkout.quotes import quote_order
from api.services.resources import Resources
from api.storage.tables import StoredQuote
from routing_engine.reference import token_registry
from tests.api.conftest import START, Merchant
from tests.support.clock import SettableClock
from tests.support.shop import Shop

WETH = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"
QUERY = {
    "fromChain": "1",
    "toChain": "8453",
    "fromToken": USDC_ETHEREUM,
    "toToken": USDC_BASE,
    "fromAmount": "2500000000",
}
FIELDS = ["toAmount", "toAmountMin", "toToken", "toChain", "fromToken", "fromAmount", "fromChain"]


@pytest.fixture
def ask(client: FlaskClient) -> Callable[..., Any]:
    """Send the example with some parameters changed; None leaves one out."""

    def send(headers: dict[str, str] | None = None, **changes: Any) -> Any:
        query = {name: value for name, value in {**QUERY, **changes}.items() if value is not None}
        return client.get("/api/v1/quote", query_string=query, headers=headers)

    return send


@pytest.mark.rule("money.7", "quotes.1", "quotes.9", "quotes.10")
def test_a_quote_has_the_documented_strings(ask: Callable[..., Any]) -> None:
    answer = ask()
    assert answer.status_code == 200
    quote = answer.get_json()
    assert list(quote) == [*FIELDS, "quoteId", "expiresAt", "incompleteReason"]
    assert all(isinstance(value, str) for value in quote.values())
    assert {name: quote[name] for name in QUERY} == QUERY
    assert quote["quoteId"].startswith("qt_")
    assert quote["expiresAt"] == format_time(START + timedelta(seconds=60))


@pytest.mark.rule("service.5")
def test_the_amount_is_that_of_the_best_route(ask: Callable[..., Any], client: FlaskClient) -> None:
    body = {
        "fromToken": WETH,
        "toToken": USDC_BASE,
        "fromChainId": "1",
        "toChainId": "8453",
        "inputAmount": str(10**18),
    }
    route = client.post("/v1/routes", json=body).get_json()
    quote = ask(fromToken=WETH.lower(), fromAmount=str(10**18)).get_json()
    assert (quote["toAmount"], quote["toAmountMin"]) == (route["outputAmount"], route["outputAmountMin"])
    assert quote["fromToken"] == WETH
    assert is_checksum_address(quote["toToken"])


@pytest.mark.rule("quotes.3")
def test_parameters_have_the_names_of_routes_too(ask: Callable[..., Any]) -> None:
    own = ask().get_json()
    aliased = ask(
        fromChain=None, toChain=None, fromAmount=None, fromChainId="1", toChainId="8453", inputAmount="2500000000"
    )
    assert {name: aliased.get_json()[name] for name in FIELDS} == {name: own[name] for name in FIELDS}
    assert ask(inputAmount="2500000000").get_json()["fromAmount"] == "2500000000"


@pytest.mark.rule("quotes.4")
def test_names_that_contradict_each_other_are_refused(
    ask: Callable[..., Any], assert_error: Callable[..., None]
) -> None:
    message = "Another name of fromAmount, which says something else; give one of the two"
    assert_error(ask(inputAmount="1"), 400, {"inputAmount": message})


@pytest.mark.rule("quotes.7", "quotes.15")
@pytest.mark.parametrize(
    ("token", "amount", "given", "bps"),
    [
        (USDC_ETHEREUM, "2500000000", None, 30),
        (WETH, "1000000000000000001", None, 50),
        (WETH, "1000000000000000001", "300", 300),
        (WETH, "1000000000000000001", "0", 0),
    ],
)
def test_slippage(ask: Callable[..., Any], token: str, amount: str, given: str | None, bps: int) -> None:
    quote = ask(fromToken=token, fromAmount=amount, slippageBps=given).get_json()
    assert int(quote["toAmountMin"]) == int(quote["toAmount"]) * (10_000 - bps) // 10_000


@pytest.mark.rule("quotes.5")
@pytest.mark.parametrize("name", ["toAmount", "outputAmount"])
def test_a_fixed_output(ask: Callable[..., Any], client: FlaskClient, name: str) -> None:
    quote = ask(fromAmount=None, **{name: "1234567891"}).get_json()
    assert quote["toAmount"] == quote["toAmountMin"] == "1234567891"
    forward = ask(fromAmount=quote["fromAmount"]).get_json()
    assert int(forward["toAmount"]) >= 1234567891
    less = ask(fromAmount=str(int(quote["fromAmount"]) - 1)).get_json()
    assert int(less["toAmount"]) < 1234567891


@pytest.mark.rule("quotes.8")
def test_the_order_decides(ask: Callable[..., Any], resources: Resources) -> None:
    ids = [ask(order=order).get_json()["quoteId"] for order in ("cheapest", "fastest")]
    with resources.database.read() as session:
        answers = [session.get_one(StoredQuote, quote_id).body["answer"] for quote_id in ids]
    cheapest, fastest = (answer["routes"][0]["fill_time_s"] for answer in answers)
    assert fastest < cheapest


def test_a_quote_is_stored_with_its_route_for_a_minute(
    ask: Callable[..., Any], resources: Resources, merchant: Merchant
) -> None:
    for headers, vendor_id in ((None, None), (merchant.headers(), merchant.id)):
        quote = ask(headers=headers).get_json()
        with resources.database.read() as session:
            row = session.get_one(StoredQuote, quote["quoteId"])
        assert row.body["quote"] == quote
        (route,) = row.body["answer"]["routes"]
        assert route["amount_out"] == route["steps"][-1]["amount_out"] == quote["toAmount"]
        assert (row.vendor_id, row.order_id) == (vendor_id, None)
        assert (row.created_at, row.expires_at) == (START, START + timedelta(seconds=60))


def test_a_quote_on_a_market_that_is_kept_is_one_statement(ask: Callable[..., Any], resources: Resources) -> None:
    ask()
    said: list[str] = []
    listen = lambda *heard: said.append(heard[2])  # noqa: E731 - the same object is taken away again
    engines = {resources.database.engine, resources.database._writer}
    for engine in engines:
        event.listen(engine, "before_cursor_execute", listen)
    assert ask().status_code == 200
    for engine in engines:
        event.remove(engine, "before_cursor_execute", listen)
    (statement,) = (text for text in said if not text.startswith("BEGIN"))
    assert statement.startswith("INSERT INTO quotes")


def read(client: FlaskClient, quote_id: str, headers: dict[str, str] | None = None) -> Any:
    return client.get(f"/api/v1/quote/{quote_id}", headers=headers)


@pytest.mark.rule("quotes.10", "quotes.11")
@pytest.mark.parametrize("changes", [{}, {"fromAmount": None, "toAmount": "1234567891"}])
def test_a_quote_is_given_again_while_it_holds(
    ask: Callable[..., Any],
    client: FlaskClient,
    clock: SettableClock,
    assert_error: Callable[..., None],
    changes: dict[str, Any],
) -> None:
    quote = ask(**changes).get_json()
    clock.advance(seconds=59)
    again = read(client, quote["quoteId"])
    assert (again.status_code, again.get_json()) == (200, quote)
    clock.advance(seconds=1)
    gone = read(client, quote["quoteId"])
    assert_error(gone, 410, {})
    assert quote["expiresAt"] in gone.get_json()["message"]


@pytest.mark.rule("keys.11", "keys.14", "keys.15")
@pytest.mark.parametrize(("made_with", "other"), [("test", "live"), ("live", "test")])
@pytest.mark.parametrize("below", ["", "/replay", "/archive"])
def test_a_vendors_quote_is_read_with_its_keys_of_one_environment_alone(
    ask: Callable[..., Any],
    client: FlaskClient,
    merchant: Merchant,
    other_merchant: Merchant,
    assert_error: Callable[..., None],
    made_with: str,
    other: str,
    below: str,
) -> None:
    quote_id = ask(headers=merchant.headers(made_with)).get_json()["quoteId"]
    assert read(client, quote_id + below, merchant.headers(made_with)).status_code == 200
    for headers in (None, merchant.headers(other), other_merchant.headers(made_with), other_merchant.headers(other)):
        assert_error(read(client, quote_id + below, headers), 404, {})
    anybodys = ask().get_json()["quoteId"]
    assert read(client, anybodys + below, other_merchant.headers(other)).status_code == 200


def test_an_unknown_quote_and_one_of_an_order_are_not_found(
    client: FlaskClient, shop: Shop, assert_error: Callable[..., None]
) -> None:
    order_id = shop.create()
    order_quote = quote_order(shop.resources, order_id, 8453, USDC_BASE).quote_id
    for quote_id in ("qt_unknown", order_quote, order_id):
        for headers in (None, shop.merchant.headers()):
            assert_error(read(client, quote_id, headers), 404, {})


@pytest.mark.rule("quotes.2")
def test_missing_parameters_are_required(client: FlaskClient, assert_error: Callable[..., None]) -> None:
    answer = client.get("/api/v1/quote")
    assert_error(answer, 400, dict.fromkeys(QUERY, "Required"))
    assert [row["path"] for row in answer.get_json()["error"]] == list(QUERY)


@pytest.mark.rule("quotes.13", "quotes.15")
@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"fromChain": "56"}, {"fromChain"}),
        ({"fromChain": "", "toChain": "one"}, {"fromChain", "toChain"}),
        ({"fromToken": "0x" + "12" * 20}, {"fromToken"}),
        ({"toToken": "USDC"}, {"toToken"}),
        ({"toToken": USDC_ETHEREUM, "toChain": "1"}, {"toToken"}),
        ({"fromAmount": "1.5"}, {"fromAmount"}),
        ({"fromAmount": "0"}, {"fromAmount"}),
        ({"fromAmount": "9" * 79}, {"fromAmount"}),
        ({"toAmount": "5"}, {"toAmount"}),
        ({"outputAmount": "5"}, {"toAmount"}),
        ({"fromAmount": None, "inputAmount": "5", "toAmount": "5"}, {"toAmount"}),
        ({"slippageBps": "301", "order": "dearest"}, {"slippageBps", "order"}),
        ({"fromToken": "0x" + "12" * 20, "toChain": "56", "fromAmount": "x"}, {"fromToken", "toChain", "fromAmount"}),
    ],
)
def test_each_bad_parameter_is_named(
    ask: Callable[..., Any], assert_error: Callable[..., None], changes: dict[str, Any], names: set[str]
) -> None:
    answer = ask(**changes)
    assert_error(answer, 400)
    assert {row["path"] for row in answer.get_json()["error"]} == names


@pytest.mark.rule("quotes.14")
def test_no_route_says_why(ask: Callable[..., Any], assert_error: Callable[..., None], resources: Resources) -> None:
    answer = ask(fromAmount=str(2**256 - 1))
    assert_error(answer, 404)
    assert {row["path"] for row in answer.get_json()["error"]} == set(resources.market.router.graph.protocols)


@pytest.mark.rule("keys.7")
def test_a_wrong_key_is_refused(ask: Callable[..., Any], assert_error: Callable[..., None]) -> None:
    assert_error(ask(headers={"X-Api-Key": "sk_test_no"}), 401)


@pytest.mark.rule("quotes.6")
def test_a_fixed_output_says_the_most_that_it_costs(ask: Callable[..., Any]) -> None:
    quote = ask(fromAmount=None, toAmount="1234567891", slippageBps="25").get_json()
    assert int(quote["inputAmountMax"]) == -(-int(quote["fromAmount"]) * 10_025 // 10_000)
    assert "inputAmountMax" not in ask().get_json()


@pytest.mark.rule("quotes.12")
@pytest.mark.parametrize("chain_id", ["1", "10", "137", "42161", "8453"])
def test_every_supported_chain_can_be_quoted(ask: Callable[..., Any], chain_id: str) -> None:
    address = token_registry.token("USDC", int(chain_id)).address
    coin = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
    pairs = [
        {"fromChain": chain_id, "fromToken": coin, "toChain": chain_id, "toToken": address, "fromAmount": str(10**18)},
        {"fromChain": "1" if chain_id != "1" else "10", "toChain": chain_id, "toToken": address},
    ]
    pairs[1]["fromToken"] = token_registry.token("USDC", int(pairs[1]["fromChain"])).address
    for pair in pairs:
        answer = ask(**pair)
        assert answer.status_code == 200, answer.get_json()
        assert int(answer.get_json()["toAmountMin"]) > 0

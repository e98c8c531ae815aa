"""What a customer pays for an order: exact amounts in any token, held for a minute, for that order alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from api.checkout_page.language.strings import load
from api.checkout_page.money.amounts import format_duration
from api.domain.errors import InvalidData, NotFound
from api.services.checkout import prices
from api.services.checkout.costs import count_costs
from api.services.checkout.expected_times import expect_arrival_s, expect_sent_s
from api.services.checkout.journey import list_stages
from api.services.checkout.money_seen import load_order_and_money
from api.services.checkout.payable_tokens import list_payable_tokens
from api.services.checkout.quotes import OrderQuote, OrderQuoteRefusal, OrderQuoteRefused, get_order_quote, quote_order
from api.services.market.market import MarketService
from api.services.orders.views import load_public_order
from api.services.resources import Resources
from api.storage.tables import StoredQuote
from routing_engine import NATIVE_ADDRESS, Router, RouteRequest, RouteResult, Snapshot, Token
from routing_engine.reference.chains import CHAINS
from tests.support.markets import market_of
from tests.support.shop import Shop

USDC_BASE = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
PRICE = {"currency": "USDC", "amount": 2_500 * 10**6, "decimals": 6}
DUE = 2_500 * 10**6


def token(resources: Resources, name: str) -> Token:
    return resources.market.snapshot.token(name)


def quoted(resources: Resources, order_id: str, name: str) -> OrderQuote:
    """Quote an order in a token such as ``ETH@1``."""
    chosen = token(resources, name)
    return quote_order(resources, order_id, chosen.chain_id, chosen.address)


def refusal(resources: Resources, order_id: str, name: str = "ETH@1") -> OrderQuoteRefused:
    with pytest.raises(OrderQuoteRefused) as caught:
        quoted(resources, order_id, name)
    return caught.value


@pytest.fixture
def order_id(shop: Shop) -> str:
    """An order of 2,500 USDC, settled on Base."""
    return shop.create(order_price=PRICE)


@pytest.mark.rule("service.2")
@pytest.mark.parametrize("name", ["ETH@1", "WETH@8453", "POL@137", "USDC@42161", "USDT@10", "WBTC@1", "EURC@8453"])
def test_the_quoted_input_is_the_least_that_pays_the_order(resources: Resources, order_id: str, name: str) -> None:
    quote = quoted(resources, order_id, name)
    assert (quote.amount_out, quote.settlement_chain_id, quote.settlement_token_address) == (DUE, 8453, USDC_BASE)
    assert not quote.is_direct
    bps = 30 if name.split("@")[0] in {"USDC", "USDT", "EURC"} else 50
    assert quote.amount_in_max == -(-quote.amount_in * (10_000 + bps) // 10_000)
    request = RouteRequest(
        token_in=token(resources, name),
        token_out=token(resources, "USDC@8453"),
        amount=DUE,
        side="exact_out",
        order="balanced",
        max_splits=1,
    )
    best = resources.market.router.find_routes(request).best()
    assert (quote.amount_in, quote.gas) == (best.amount_in, best.gas)
    assert int(quote.steps[-1]["outputAmount"]) >= DUE
    assert [step["protocol"] for step in quote.steps] == [hop.protocol for hop in best.hops]
    assert quote.fees
    assert all(int(fee["amount"]) > 0 for fee in quote.fees)
    assert quote.snapshot_id == resources.market.snapshot.id


def test_the_settlement_token_itself_is_just_transferred(resources: Resources, order_id: str) -> None:
    for address in (USDC_BASE, USDC_BASE.upper().replace("0X", "0x")):
        quote = quote_order(resources, order_id, 8453, address)
        assert quote.is_direct
        assert quote.amount_in == quote.amount_in_max == quote.amount_out == DUE
        assert (quote.steps, quote.fees, quote.gas, quote.snapshot_id) == ((), (), 0, "")
        order = load_public_order(resources, order_id)
        assert quote.fill_time_s == expect_sent_s(8453) + (expect_arrival_s(resources, order) or 0)


@pytest.mark.parametrize("name", ["ETH@1", "USDC@42161", "WETH@8453", "USDC@8453"])
@pytest.mark.parametrize("dollars", [25, 2_500])
def test_the_promised_time_is_that_of_the_stages(resources: Resources, shop: Shop, name: str, dollars: int) -> None:
    """Found: "about 2 seconds" before the payment, stages of 4 and 4 seconds after it."""
    order_id = shop.create(order_price={"currency": "USDC", "amount": dollars * 10**6, "decimals": 6})
    quote = quoted(resources, order_id, name)
    order, seen = load_order_and_money(resources, order_id, quote.quote_id)
    stages = list_stages(resources, order, seen)
    assert quote.fill_time_s == sum(stage.expected_s or 0 for stage in stages)
    strings = load()
    shown = [format_duration(stage.expected_s, strings).split() for stage in stages if stage.expected_s]
    units = {"second": 1, "minute": 60, "hour": 3_600, "day": 86_400}
    assert sum(int(count) * units[unit.rstrip("s")] for count, unit in shown) == quote.fill_time_s


@pytest.mark.parametrize("name", ["ETH@1", "USDC@42161", "DAI@10", "POL@137", "WBTC@1", "USDC@8453"])
def test_the_total_is_never_less_than_what_is_due_and_the_fees(resources: Resources, order_id: str, name: str) -> None:
    quote = quoted(resources, order_id, name)
    fees = sum(int(cost["value"]) for cost in quote.costs)
    assert quote.total is not None
    assert DUE + fees <= quote.total <= DUE * 101 // 100 + fees
    gas = sum(int(cost["amount"]) for cost in quote.costs if cost["name"] == "gas" and not cost["included"])
    assert gas > 0
    assert quote.coin_needed > 0


def test_gas_without_a_price_makes_no_total(resources: Resources, order_id: str) -> None:
    free = Router(Snapshot(resources.market.snapshot.markets.values()))
    token_in, settled = token(resources, "USDC@42161"), token(resources, "USDC@8453")
    request = RouteRequest(token_in=token_in, token_out=settled, amount=DUE, side="exact_out", max_splits=1)
    costs = count_costs(free, token_in, settled, DUE, free.find_routes(request).best())
    assert costs.total is None


def test_a_price_is_found_once_for_each_state_of_the_market(
    resources: Resources, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices._kept.clear()
    order_id = shop.create(order_price=PRICE)
    asked: list[RouteRequest] = []
    found = Router.find_routes

    def watched(router: Router, request: RouteRequest) -> RouteResult:
        asked.append(request)
        return found(router, request)

    monkeypatch.setattr(Router, "find_routes", watched)
    first = quoted(resources, order_id, "USDT@10")
    before = len(asked)
    again = quoted(resources, order_id, "USDT@10")
    assert 0 < before == len(asked)
    assert (first.amount_in, first.quote_id == again.quote_id) == (again.amount_in, False)


def test_that_there_is_no_price_is_found_once_too(
    resources: Resources, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices._kept.clear()
    order_id = shop.create(order_price={**PRICE, "amount": 10**18})
    first = refusal(resources, order_id)
    monkeypatch.delattr(Router, "find_routes")
    again = refusal(resources, order_id)
    assert (again.reason, again.message, again.problems) == (first.reason, first.message, first.problems)
    assert first.reason == OrderQuoteRefusal.NO_ROUTE


@pytest.mark.rule("money.19")
def test_the_zero_address_is_the_coin_of_the_chain(resources: Resources, order_id: str) -> None:
    quote = quote_order(resources, order_id, 1, "0x" + "0" * 40)
    assert (quote.token_symbol, quote.token_address) == ("ETH", NATIVE_ADDRESS)


def test_a_quote_is_kept_to_the_unit_and_for_its_order_only(resources: Resources, shop: Shop, order_id: str) -> None:
    quote = quoted(resources, order_id, "ETH@1")
    assert get_order_quote(resources, order_id, quote.quote_id) == quote
    with resources.database.read() as session:
        row = session.get_one(StoredQuote, quote.quote_id)
    assert (row.order_id, row.vendor_id, row.body["amount_in"]) == (
        order_id,
        shop.merchant.id,
        str(quote.amount_in),
    )
    other = shop.create(order_price=PRICE)
    for wrong in ((other, quote.quote_id), (order_id, "qt_unknown")):
        with pytest.raises(NotFound):
            get_order_quote(resources, *wrong)


@pytest.mark.rule("expiry.3")
def test_a_quote_holds_for_a_minute(resources: Resources, shop: Shop, order_id: str) -> None:
    quote = quoted(resources, order_id, "ETH@1")
    assert quote.expires_at == quote.created_at + timedelta(seconds=60)
    shop.clock.advance(seconds=59.999)
    assert get_order_quote(resources, order_id, quote.quote_id) == quote
    shop.clock.advance(seconds=0.001)
    with pytest.raises(OrderQuoteRefused) as caught:
        get_order_quote(resources, order_id, quote.quote_id)
    assert caught.value.reason is OrderQuoteRefusal.EXPIRED
    assert quoted(resources, order_id, "ETH@1").quote_id != quote.quote_id


def test_a_quote_of_a_swap_is_no_quote_of_an_order(resources: Resources, shop: Shop, order_id: str) -> None:
    query = {"fromChain": 1, "toChain": 8453, "fromToken": NATIVE_ADDRESS, "toToken": USDC_BASE, "fromAmount": 10**18}
    swap = shop.client.get("/api/v1/quote", query_string=query).get_json()
    with pytest.raises(NotFound):
        get_order_quote(resources, order_id, swap["quoteId"])


def test_an_order_of_nobody_is_not_found(resources: Resources) -> None:
    with pytest.raises(NotFound):
        quote_order(resources, "po_none", 1, NATIVE_ADDRESS)
    with pytest.raises(NotFound):
        list_payable_tokens(resources, "po_none")


@pytest.mark.parametrize(
    ("chain_id", "address", "path"),
    [(56, NATIVE_ADDRESS, "chain_id"), (1, "0x" + "12" * 20, "token_address"), (1, "USDC", "token_address")],
)
def test_an_unknown_token_is_named(resources: Resources, order_id: str, chain_id: int, address: str, path: str) -> None:
    with pytest.raises(InvalidData) as caught:
        quote_order(resources, order_id, chain_id, address)
    assert [problem.path for problem in caught.value.problems] == [path]


def test_no_route_says_why(resources: Resources, shop: Shop) -> None:
    order_id = shop.create(order_price={"currency": "USDC", "amount": 10**40, "decimals": 6})
    error = refusal(resources, order_id)
    assert error.reason is OrderQuoteRefusal.NO_ROUTE
    assert {problem.path for problem in error.problems} == set(resources.market.router.graph.protocols)


def test_an_order_without_a_chain_is_not_payable(resources: Resources, shop: Shop) -> None:
    order_id = shop.create_live()
    error = refusal(resources, order_id)
    assert error.reason is OrderQuoteRefusal.NOT_PAYABLE
    assert error.problems[0].message
    assert list_payable_tokens(resources, order_id) == ()


def test_only_an_order_that_waits_for_money_is_quoted(resources: Resources, shop: Shop) -> None:
    cancelled, paid, overdue = (shop.create(order_price=PRICE) for _ in range(3))
    shop.post(f"/api/v1/payment/{cancelled}/cancel")
    assert "cancelled" in refusal(resources, cancelled).message
    shop.simulate(paid, "pay")
    shop.wait(2)
    assert refusal(resources, paid).reason is OrderQuoteRefusal.NOT_WAITING
    shop.clock.advance(hours=25)
    assert "expired" in refusal(resources, overdue).message
    shop.wait()
    assert refusal(resources, overdue).reason is OrderQuoteRefusal.NOT_WAITING


def test_what_is_missing_of_a_short_payment_is_quoted(resources: Resources, shop: Shop, order_id: str) -> None:
    shop.simulate(order_id, "underpay")
    shop.wait(2)
    missing = int(shop.order(order_id)["amount_due"])
    assert 0 < missing < DUE
    assert quoted(resources, order_id, "ETH@1").amount_out == missing
    assert quoted(resources, order_id, "USDC@8453").amount_in == missing


def test_a_quoted_payment_settles_the_order(resources: Resources, shop: Shop, order_id: str) -> None:
    quote = quoted(resources, order_id, "ETH@1")
    shop.simulate(order_id, "pay", quote_id=quote.quote_id)
    shop.wait()
    shop.clock.advance(hours=1)
    shop.wait(3)
    assert shop.history(order_id)[-1] == "success/"
    assert int(shop.order(order_id)["amount_received"]) == DUE


def test_choices_come_by_chain_and_usefulness(resources: Resources, order_id: str) -> None:
    groups = list_payable_tokens(resources, order_id)
    chain_ids = [group.chain["chainId"] for group in groups]
    assert chain_ids[0] == 8453
    assert sorted(chain_ids) == sorted(CHAINS)
    first = groups[0].tokens
    assert (first[0].token.address, first[0].is_settlement) == (USDC_BASE, True)
    assert sum(choice.is_settlement for group in groups for choice in group.tokens) == 1
    assert first[1].token.symbol == "ETH"
    for group in groups[1:]:
        assert group.tokens[0].token.is_native
        symbols = [choice.token.symbol for choice in group.tokens]
        assert symbols.index("USDC") < symbols.index("USDT") < symbols.index("WETH") < symbols.index("AAVE")
        assert len(set(symbols)) == len(symbols)
        assert all(choice.token.chain_id == group.chain["chainId"] for choice in group.tokens)
        assert all(choice.logo_uri and choice.name for choice in group.tokens)


@pytest.mark.rule("service.2")
def test_every_first_choice_can_be_quoted(resources: Resources, order_id: str) -> None:
    for group in list_payable_tokens(resources, order_id):
        for choice in group.tokens[:5]:
            quote = quote_order(resources, order_id, choice.token.chain_id, choice.token.address)
            assert quote.amount_in_max >= quote.amount_in > 0


def test_a_settlement_token_that_no_market_trades_can_still_be_transferred(resources: Resources, shop: Shop) -> None:
    class PoorMarket(MarketService):
        router = Router(Snapshot(market_of("ab: A@1 B@1 1000 1000 30bps")))

    order_id = shop.create(order_price=PRICE)
    poor: Any = replace(resources, market=PoorMarket(None, resources.clock))
    assert quote_order(poor, order_id, 8453, USDC_BASE).is_direct
    assert refusal(poor, order_id, "A@1").reason is OrderQuoteRefusal.NO_ROUTE
    ((chain, choices),) = ((group.chain["chainId"], group.tokens) for group in list_payable_tokens(poor, order_id))
    assert (chain, [choice.token.address for choice in choices]) == (8453, [USDC_BASE])

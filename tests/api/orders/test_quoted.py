"""What a shop is told of what its customers paid with: what they were quoted, and nothing that no quote says."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from unittest.mock import ANY

from api.services.checkout.quotes import quote_order
from api.services.simulator.wallet import PAYER
from api.storage.tables import QuotePayer, StoredQuote
from routing_engine.reference import token_registry
from tests.api.conftest import Merchant
from tests.support.shop import Shop
from tests.support.simulated_payments import send

FINAL_S = 6
NATIVE = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee"


def pay(shop: Shop, chain_id: int, token: str, action: str = "pay") -> tuple[str, dict[str, Any]]:
    """Pay an order with a token; return its id, and what it was quoted."""
    order_id = shop.create()
    quote = quote_order(shop.resources, order_id, chain_id, token)
    shop.simulate(order_id, action, quote_id=quote.quote_id)
    shop.wait(FINAL_S)
    quoted = {
        "chain_id": chain_id,
        "token": token,
        "symbol": quote.token_symbol,
        "decimals": quote.token_decimals,
        "amount": str(quote.amount_in),
        "amount_max": str(quote.amount_in_max),
    }
    return order_id, quoted


def test_a_shop_says_in_which_token_an_order_is_paid(shop: Shop, assert_error: Callable[..., None]) -> None:
    """Found: a quote_id came from the order's page only, so paying in another token could not be scripted."""
    weth = token_registry.token("WETH", 1).address
    order_id = shop.create()
    shop.simulate(order_id, "pay", chain_id=1, token=weth)
    shop.wait(FINAL_S)
    order = shop.order(order_id)
    assert order["payment_order_status"] == "success"
    assert order["transfers"][0]["quoted"]["symbol"] == "WETH"
    with shop.resources.database.read() as session:
        assert session.query(StoredQuote).filter_by(order_id=order_id).count() == 1
    wish = {"chain_id": 1, "token": weth}
    assert_error(shop.act(order_id, "pay", **wish), 400, {"token": ANY})
    other = shop.create()
    assert_error(shop.act(other, "pay", token=weth), 400, {"chain_id": ANY})
    assert_error(shop.act(other, "pay", chain_id=1), 400, {"token": ANY})
    assert_error(shop.act(other, "pay", chain_id=5, token=weth), 400, {"chain_id": ANY})
    assert_error(shop.act(other, "pay", chain_id=8453, token=weth), 400, {"token": ANY})
    assert_error(shop.act(other, "expire", **wish), 400, {"token": ANY})
    assert_error(shop.act(other, "pay", quote_id="qt_1", **wish), 400, {"quote_id": ANY})
    assert_error(shop.act(other, "pay", without_reference=True, **wish), 400, {"token": ANY})
    assert_error(shop.act("po_1", "pay", **wish), 404)
    with shop.resources.database.read() as session:
        assert session.query(StoredQuote).filter_by(order_id=other).count() == 0


def test_nobody_elses_order_is_quoted(shop: Shop, other_merchant: Merchant, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    rival = Shop(client=shop.client, resources=shop.resources, clock=shop.clock, merchant=other_merchant)
    assert_error(rival.act(order_id, "pay", chain_id=8453, token=NATIVE), 404)
    with shop.resources.database.read() as session:
        assert session.query(StoredQuote).filter_by(order_id=order_id).count() == 0


def lower(quoted: dict[str, Any]) -> dict[str, Any]:
    return {**quoted, "token": quoted["token"].lower()}


def read_lines(shop: Shop) -> list[dict[str, str]]:
    text = shop.get("/api/v1/transfer.csv").get_data(as_text=True)
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_payment_over_a_bridge_says_what_its_payer_was_quoted(shop: Shop) -> None:
    """Found: 25 USDC arrived, paid with WETH on Ethereum, and no answer, event or file said so."""
    order_id, quoted = pay(shop, 1, token_registry.token("WETH", 1).address.lower())
    order = shop.order(order_id)
    (transfer,) = order["transfers"]
    deposit = order["transaction_hash"]
    assert transfer["hash"] != deposit
    assert lower(transfer["quoted"]) == {**quoted, "hash": deposit}
    assert quoted["symbol"] == "WETH"
    told = {row["hash"]: row["quoted"] for row in order["transactions"]}
    assert told == {deposit: transfer["quoted"], transfer["hash"]: None}
    last = shop.events(order_id)[-1]
    assert last["type"] == "payment_success"
    assert last["data"]["transactions"] == order["transactions"]
    (line,) = read_lines(shop)
    assert line["quoted_chain_id"] == "1"
    assert line["quoted_token_symbol"] == "WETH"
    assert line["quoted_token_address"] == transfer["quoted"]["token"]
    assert line["quoted_amount"] == quoted["amount"]
    assert line["quoted_amount_decimal"] == f"0.{quoted['amount'].zfill(18)}"
    assert (line["source_transaction_hash"], line["token_symbol"]) == (deposit, "USDC")


def test_a_swap_on_the_settlement_chain_differs_from_a_payment_in_its_token(shop: Shop) -> None:
    with_ether, quoted = pay(shop, 8453, NATIVE)
    direct = shop.create()
    shop.simulate(direct, "pay")
    shop.wait(FINAL_S)
    (swapped,), (plain,) = shop.order(with_ether)["transfers"], shop.order(direct)["transfers"]
    assert lower(swapped["quoted"]) == {**quoted, "hash": swapped["hash"]}
    assert plain["quoted"] is None, "nobody was given a quote"
    assert [line["quoted_token_symbol"] for line in read_lines(shop)] == ["ETH", ""]
    listed = {row["payment_order_id"]: row["transfers"] for row in shop.get("/api/v1/payment").get_json()["data"]}
    assert listed == {with_ether: [swapped], direct: [plain]}, "the list says the same"


def test_what_no_quote_fits_has_none(shop: Shop) -> None:
    """Less than was quoted, another wallet's payment, a quote that was given afterwards, and a refund."""
    short, _ = pay(shop, 1, NATIVE, "underpay")
    (transfer,) = shop.order(short)["transfers"]
    assert transfer["quoted"] is None
    strange = shop.create()
    quote = quote_order(shop.resources, strange, 8453, NATIVE)
    send(shop, strange, quote.amount_out)
    shop.wait(FINAL_S)
    later = shop.clock.now() + timedelta(hours=1)
    with shop.resources.database.write() as session:
        row = session.get(StoredQuote, quote.quote_id)
        assert row is not None
        row.created_at = later
        session.add(QuotePayer(order_id=strange, payer=PAYER, quote_id=quote.quote_id))
    (transfer,) = shop.order(strange)["transfers"]
    assert transfer["quoted"] is None
    shop.post(f"/api/v1/payment/{strange}/refund", {})
    shop.wait(FINAL_S)
    assert [line["quoted_amount"] for line in read_lines(shop)] == ["", "", ""]


def test_quotes_that_others_ask_for_hide_none(shop: Shop) -> None:
    """Anybody can ask for quotes of an order, also afterwards and in the name of its payer's wallet."""
    order_id, quoted = pay(shop, 8453, NATIVE)
    with shop.resources.database.write() as session:
        row = session.query(StoredQuote).one()
        for number in range(60):
            late = StoredQuote(
                id=f"qt_zz{number:03}",
                order_id=order_id,
                body={**row.body, "amount_in": "1"},
                created_at=shop.clock.now() + timedelta(minutes=1),
                expires_at=row.expires_at,
            )
            session.add(late)
            session.flush()
            session.add(QuotePayer(order_id=order_id, payer=PAYER, quote_id=late.id))
    (transfer,) = shop.order(order_id)["transfers"]
    assert transfer["quoted"]["amount"] == quoted["amount"]

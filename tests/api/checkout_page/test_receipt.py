"""What the receipt and the record of an order say of its money: never more than the chains have shown."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from flask.testing import FlaskClient

from api.checkout_page.language import strings
from api.checkout_page.status.state import build_state
from api.domain.orders import OrderStatus
from api.domain.transfers import TransferKind
from api.services.checkout.money_seen import MoneySeen, SeenTransfer
from api.services.checkout.quote import OrderQuote
from api.services.checkout.quotes import quote_order
from api.services.orders.views import PublicOrder
from api.services.resources import Resources
from routing_engine.reference import token_registry
from tests.api.checkout_page.test_payment_page_money import DEPOSIT, FOREIGN, order, transfer

__all__ = ["order"]
WHOLE = transfer(amount=42_500_000)
REFUND = transfer(kind=TransferKind.REFUND, tx_hash="0x2", amount=42_500_000)


def rows(order: PublicOrder, *transfers: SeenTransfer, quote: OrderQuote | None = None) -> dict[str, list[str]]:
    """Return the texts of each kind of row of the record."""
    seen = MoneySeen(transfers=transfers, looked_at=None, chain_ids=(8453,), paid_quote=quote)
    state = build_state(order, seen, order.created_at, strings.load())
    assert state.receipt is not None
    found: dict[str, list[str]] = {}
    for row in state.receipt["rows"]:
        found.setdefault(row["name"], []).append(row["text"])
    return found


def closed(order: PublicOrder, status: OrderStatus, reason: str = "", **changes: Any) -> PublicOrder:
    timeline = ({"status": status, "status_reason": reason, "at": "2026-03-01T12:00:30Z", "transaction_hash": ""},)
    return replace(order, status=status, status_reason=reason, timeline=timeline, **changes)


def test_an_open_order_and_one_without_money_have_no_record(order: PublicOrder) -> None:
    for given, transfers in (
        (order, (WHOLE,)), (closed(order, OrderStatus.EXPIRED), ()), (closed(order, OrderStatus.CANCELLED), ()),
    ):  # fmt: skip
        seen = MoneySeen(transfers=transfers, looked_at=None, chain_ids=(8453,))
        assert build_state(given, seen, order.created_at, strings.load()).receipt is None


def test_what_a_bridge_gave_back_was_not_received(order: PublicOrder) -> None:
    back = replace(DEPOSIT, kind=TransferKind.BRIDGE_REFUND, tx_hash="0x3", is_waiting=False)
    shown = rows(closed(order, OrderStatus.FAILED, "route_failed"), replace(DEPOSIT, is_waiting=False), back)
    assert shown["returned"] == ["21.25 USDC · Optimism"]
    assert shown["paid"] == ["21.25 USDC · Optimism"]
    assert not shown.keys() & {"arrived", "missing", "sent_back", "kept"}


def test_another_token_is_named_and_counts_for_nothing(order: PublicOrder) -> None:
    shown = rows(closed(order, OrderStatus.FAILED, "wrong_token"), FOREIGN)
    assert (shown["not_counted"], shown["missing"]) == (["5.00 DAI · Base"], ["42.50 USDC"])
    assert "arrived" not in shown
    back = replace(FOREIGN, kind=TransferKind.REFUND, tx_hash="0x4", amount=2 * 10**18)
    shown = rows(closed(order, OrderStatus.FAILED, "partially_refunded"), FOREIGN, back)
    assert (shown["sent_back"], shown["kept"]) == (["2.00 DAI · Base"], ["3.00 DAI · Base"])


def test_what_was_sent_back_in_full_leaves_nothing(order: PublicOrder) -> None:
    given = closed(order, OrderStatus.REFUNDED, amount_received=42_500_000)
    shown = rows(given, WHOLE, REFUND)
    assert (shown["arrived"], shown["sent_back"]) == (["42.50 USDC · Base"], ["42.50 USDC"])
    assert not shown.keys() & {"kept", "missing", "surplus"}


def test_money_that_came_after_the_close_is_more_than_due(order: PublicOrder) -> None:
    late = transfer(amount=1_000_000, tx_hash="0x5", is_after_close=True)
    given = closed(order, OrderStatus.SUCCESS, amount_received=43_500_000)
    shown = rows(given, WHOLE, late)
    assert (shown["arrived"], shown["surplus"]) == (["43.50 USDC · Base"], ["1.00 USDC"])


def test_only_who_paid_late_is_told_that_the_time_had_ended(order: PublicOrder) -> None:
    """Found: "Time to pay ended" in the receipt of an order paid in time, for which more came once it was paid."""
    more = transfer(amount=1_000_000, tx_hash="0x5", is_after_close=True)
    in_time = rows(closed(order, OrderStatus.SUCCESS, "paid_after_close", amount_received=43_500_000), WHOLE, more)
    assert not in_time.keys() & {"came", "expired"}
    late = closed(order, OrderStatus.SUCCESS, "paid_late", amount_received=42_500_000)
    shown = rows(replace(late, status_reason="paid_after_close"), WHOLE, more)
    assert len(shown["came"]) == len(shown["expired"]) == 1
    cancelled = rows(closed(order, OrderStatus.CANCELLED, "paid_after_close"), more)
    assert ("came" in cancelled, "expired" in cancelled) == (True, False)
    for status, reason, has_ended in (
        (OrderStatus.EXPIRED, "paid_after_close", True),
        (OrderStatus.FAILED, "underpaid", True),
        (OrderStatus.FAILED, "route_failed", False),
    ):
        shown = rows(closed(order, status, reason), more)
        assert ("came" in shown, "expired" in shown) == (True, has_ended)


def test_what_was_swapped_on_the_way_is_told_as_quoted(resources: Resources, order: PublicOrder) -> None:
    ether = token_registry.token("ETH", 8453)
    quote = quote_order(resources, order.order_id, 8453, ether.address)
    given = closed(order, OrderStatus.SUCCESS, amount_received=42_500_000)
    (paid,) = rows(given, WHOLE, quote=quote)["paid"]
    assert paid.startswith("≈ 0.01")
    assert paid.endswith(" ETH · Base")
    halves = [transfer(tx_hash=f"0x{number}", amount=21_250_000) for number in (6, 7)]
    assert rows(given, *halves, quote=quote)["paid"] == ["21.25 USDC · Base"] * 2
    assert rows(given, WHOLE)["paid"] == ["42.50 USDC · Base"]
    assert "fees" not in rows(given, WHOLE)


def test_a_payer_says_by_which_quote(client: FlaskClient, resources: Resources, order: PublicOrder) -> None:
    quote = quote_order(resources, order.order_id, 42161, token_registry.token("ETH", 42161).address)
    path = f"/payment/{order.order_id}/status"

    def labels(query: str) -> list[str]:
        return [step["label"] for step in client.get(f"{path}?{query}").get_json()["steps"]]

    assert "Confirmation on Arbitrum" in labels(f"quote={quote.quote_id}")
    for query in ("", "quote=qt_unknown", f"quote={'x' * 3000}", "quote=", "unknown=1"):
        assert labels(query)[1] == "Confirmation on Base"
    assert client.get(f"{path}?quote=%00").status_code == 400


def test_the_server_draws_the_tab(client: FlaskClient, order: PublicOrder) -> None:
    page = client.get(f"/payment/{order.order_id}").text
    (icon,) = re.findall(r'id="tab-icon" href="(data:image/svg\+xml,[^"]+)"', page)
    assert f'data-waiting="{icon}"' in page
    assert "<title>Pay Tea &amp; Co</title>" in page

"""Which words an order's state has: by its status, by the reason, and by the money that came."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from api.checkout_page.language.strings import Strings, fill, isolate
from api.checkout_page.money.amounts import format_moment, format_money
from api.checkout_page.money.stranded import is_out
from api.checkout_page.money.transfers import describe_amounts, format_amount, is_listed, name_chain
from api.checkout_page.status.panels import is_paused
from api.domain.orders import OrderStatus, StatusReason
from api.services.checkout.money_seen import MoneySeen, SeenTransfer
from api.services.orders.payability import NotPayable
from api.services.orders.views import PublicOrder

PAID_AFTER_CLOSE = "paid_after_close"
PARTIALLY_REFUNDED = "partially_refunded"
CAME_BEFORE = "came_before"
"""A cancelled order had a part of its money already."""
ON_ITS_WAY = "on_its_way"

_WAITING = frozenset({OrderStatus.CREATED, OrderStatus.PROCESSING})

_SUMMARIES: Mapping[OrderStatus, str] = MappingProxyType(
    {
        OrderStatus.CREATED: "pay_to",
        OrderStatus.PROCESSING: "payment_to",
        OrderStatus.SUCCESS: "paid_to",
        OrderStatus.REFUNDED: "refunded_by",
    }
)


def choose_reason(order: PublicOrder, seen: MoneySeen, status: OrderStatus, reason: str) -> str:
    """Return the reason to put into words: what came is said, whether it changed the order or not."""
    if status in _WAITING:
        return reason or _describe_what_came(order, seen)
    if reason == PARTIALLY_REFUNDED or not seen.payments:
        return reason
    if status == OrderStatus.CANCELLED and any(not row.is_after_close for row in seen.payments):
        return CAME_BEFORE
    # An order expires without money only: whatever is seen for one came afterwards.
    came_late = any(row.is_after_close for row in seen.payments) or status == OrderStatus.EXPIRED
    if came_late:
        return PAID_AFTER_CLOSE
    # Of what anybody can make nobody is told to ask for it.
    is_other_here = any(not row.is_counted and is_listed(row) for row in seen.payments)
    return StatusReason.WRONG_TOKEN if is_other_here and reason in {"", StatusReason.PAID_LATE} else reason


def choose_texts(
    order: PublicOrder, seen: MoneySeen, status: OrderStatus, reason: str, strings: Strings
) -> dict[str, str]:
    """Return ``title`` and ``text`` of an order's state."""
    texts = _choose_text(order, status, reason, strings, is_on_its_way=bool(seen.on_its_way))
    return fill(texts, **_collect_values(order, seen, strings))


def choose_leave(order: PublicOrder, seen: MoneySeen, reason: str, strings: Strings) -> Mapping[str, str] | None:
    """Return ``title`` and ``text`` for who leaves while a part was paid and nothing more is on its way; else None."""
    if seen.on_its_way or reason not in {StatusReason.UNDERPAID, StatusReason.WRONG_TOKEN}:
        return None
    return fill(strings.notice[f"leave_{reason}"], **_collect_values(order, seen, strings))


def choose_summary(status: OrderStatus, strings: Strings, merchant: str) -> str:
    """Return the word above the price: to be paid, on its way, or paid."""
    return strings.page[_SUMMARIES.get(status, "order_at")].format(merchant=merchant)


def _describe_what_came(order: PublicOrder, seen: MoneySeen) -> str:
    """Name what came for an order that still waits for money; nothing where it has all it wants."""
    if not order.amount_due:
        return ""
    if any(row.is_counted for row in seen.payments):
        return StatusReason.UNDERPAID
    if seen.payments:
        return StatusReason.WRONG_TOKEN
    return ON_ITS_WAY if seen.on_its_way and order.status == OrderStatus.CREATED else ""


def _choose_text(
    order: PublicOrder, status: OrderStatus, reason: str, strings: Strings, *, is_on_its_way: bool
) -> dict[str, str]:
    if is_paused(order, status):
        return strings.notice["paused"]
    if order.not_payable_reason == NotPayable.GOES_BACK:
        return strings.notice["going_back"]
    if order.not_payable_reason == NotPayable.OUT_OF_TIME and not is_on_its_way:
        return strings.notice["time_over"]
    if status == OrderStatus.CREATED and not order.payable:
        return strings.notice[
            "not_payable" if order.not_payable_reason == NotPayable.NO_ACCOUNT else "live_unavailable"
        ]
    if is_out(order):
        return strings.notice["stranded"]
    if status in _WAITING and reason in {StatusReason.UNDERPAID, StatusReason.WRONG_TOKEN, ON_ITS_WAY}:
        return strings.of_status(OrderStatus.PROCESSING, reason)
    return strings.of_status(status, reason)


def _collect_values(order: PublicOrder, seen: MoneySeen, strings: Strings) -> dict[str, str]:
    """Return what the texts' placeholders stand for."""
    decimals, symbol = order.settlement_token_decimals or 0, order.settlement_token_symbol or ""
    foreign = [row for row in seen.payments if not row.is_counted]
    before = [row for row in seen.payments if not row.is_after_close]
    return {
        "merchant": isolate(order.vendor_name),
        "currency": order.price_currency,
        "chain": name_chain(order.settlement_chain_id or 0),
        "price": format_money(order.price_amount, order.price_decimals, order.price_currency, strings),
        "wanted": format_money(order.settlement_amount or 0, decimals, symbol, strings),
        "received": format_money(order.amount_received, decimals, symbol, strings),
        "missing": format_money(order.amount_due or 0, decimals, symbol, strings),
        "came": describe_amounts(order, foreign, strings) or strings.transfer["other_token"],
        "until": format_moment(order.pay_until, strings),
        "before": describe_amounts(order, before, strings),
        "extra": _describe_extra(order, foreign, strings),
    }


def _describe_extra(order: PublicOrder, foreign: Iterable[SeenTransfer], strings: Strings) -> str:
    """List what came beyond the price: too much of its token, and other tokens."""
    surplus = order.amount_received - (order.settlement_amount or 0)
    chain_id, token = order.settlement_chain_id or 0, order.settlement_token_address or ""
    parts = [format_amount(order, chain_id, token, surplus, strings)] if surplus > 0 else []
    others = describe_amounts(order, filter(is_listed, foreign), strings)
    return strings.transfer["separator"].join([*parts, *([others] if others else [])])

"""The receipt of a paid order, and the record of one that was closed otherwise: to be copied and printed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from api.checkout_page.language.strings import Strings
from api.checkout_page.money.amount_rows import describe_amounts
from api.checkout_page.money.amounts import format_duration, format_moment, format_money, format_rounded
from api.checkout_page.money.totals import write_fees
from api.checkout_page.money.transfers import format_amount_of, name_chain
from api.domain.clock import format_time
from api.domain.orders import OrderStatus, StatusReason
from api.domain.transfers import TransferKind
from api.services.checkout.money_seen import MoneySeen, SeenTransfer
from api.services.checkout.quote import OrderQuote
from api.services.orders.views import PublicOrder

WRAP = "wrap"

Row = Mapping[str, str]


def describe_receipt(
    order: PublicOrder, seen: MoneySeen, status: OrderStatus, strings: Strings, merchant: str
) -> Mapping[str, Any] | None:
    """Return ``title``, ``is_paid`` and ``rows``; None of an order that is open, or for which nothing came.

    A row has ``name``, ``label`` and ``text``, and where it is a time ``at``.
    """
    if status in {OrderStatus.CREATED, OrderStatus.PROCESSING} or not seen.transfers:
        return None
    is_paid = status == OrderStatus.SUCCESS
    words = {name: text.replace("{merchant}", merchant) for name, text in strings.receipt.items()}
    rows = _list_rows(order, seen, status, strings, merchant)
    labelled = [{"label": words.get(row["name"], ""), "at": "", **row} for row in rows]
    return {"title": words["title" if is_paid else "record"], "is_paid": is_paid, "rows": labelled}


def _list_rows(
    order: PublicOrder, seen: MoneySeen, status: OrderStatus, strings: Strings, merchant: str
) -> Iterator[Row]:
    closed_at = _find_close(order, status)
    yield from _tell_time("date" if status == OrderStatus.SUCCESS else "closed", closed_at, strings)
    came = _list_late(order, seen, status)
    if came and _has_ended_by_time(order, status):
        yield from _tell_time("expired", order.expires_at, strings)
    if came:
        yield from _tell_time("came", max(came), strings)
    yield {"name": "order", "text": order.order_id}
    sources = list(_list_sources(seen))
    for name, text in _describe_paid(order, seen.paid_quote, sources, strings):
        yield {"name": name, "text": text}
    if status == OrderStatus.SUCCESS and seen.paid_quote is not None:
        yield from _list_fees(seen.paid_quote, order, strings)
    for row in describe_amounts(order, seen, status, strings, merchant):
        is_settled = row["name"] == "arrived" and order.settlement_chain_id is not None
        yield {**row, "text": f"{row['text']} · {name_chain(order.settlement_chain_id or 0)}"} if is_settled else row
    if status == OrderStatus.SUCCESS and sources and closed_at:
        took = max(0, round((closed_at - min(row.mined_at for row in sources)).total_seconds()))
        yield {"name": "took", "text": format_duration(took, strings)}


def _tell_time(name: str, at: datetime | None, strings: Strings) -> Iterator[Row]:
    if at is not None:
        yield {"name": name, "text": format_moment(at, strings, length="medium"), "at": format_time(at)}


def _find_close(order: PublicOrder, status: OrderStatus) -> datetime | None:
    times = [each["at"] for each in order.timeline if each["status"] == status]
    return datetime.fromisoformat(times[0]) if times else None


def _list_late(order: PublicOrder, seen: MoneySeen, status: OrderStatus) -> list[datetime]:
    """Return when the money came whose moment matters: what paid an order late, or came for one that was closed.

    What came once an order was paid is no part of its payment.
    """
    if status == OrderStatus.SUCCESS:
        was_late = _has_been(order, "status_reason", StatusReason.PAID_LATE)
        return [row.mined_at for row in seen.payments if was_late and not row.is_after_close]
    is_late = any(row.is_after_close for row in seen.payments) or _has_been(
        order, "status_reason", StatusReason.PAID_LATE
    )
    return [row.mined_at for row in seen.payments if is_late or status == OrderStatus.CANCELLED]


def _has_ended_by_time(order: PublicOrder, status: OrderStatus) -> bool:
    """Whether the time to pay was over before the order was paid, or closed in another way."""
    if status == OrderStatus.SUCCESS or _has_been(order, "status", OrderStatus.EXPIRED):
        return True
    return _has_been(order, "status", OrderStatus.FAILED) and not _has_been(
        order, "status_reason", StatusReason.ROUTE_FAILED
    )


def _has_been(order: PublicOrder, name: str, value: str) -> bool:
    return getattr(order, name) == value or any(each[name] == value for each in order.timeline)


def _list_sources(seen: MoneySeen) -> Iterator[SeenTransfer]:
    """Yield what payers sent: into a bridge, or to the merchant."""
    deposits = {row.tx_hash for row in seen.transfers if row.kind == TransferKind.DEPOSIT}
    for row in seen.main:
        is_direct = row.kind == TransferKind.PAYMENT and row.source_tx_hash not in deposits
        if is_direct or row.kind == TransferKind.DEPOSIT:
            yield row


def _describe_paid(
    order: PublicOrder, quote: OrderQuote | None, sources: list[SeenTransfer], strings: Strings
) -> Iterator[tuple[str, str]]:
    """Yield a name and what left the payers' wallets; what does not count has paid nothing.

    What was swapped on the way only the quote knows, and not to the unit.
    """
    for row in sources:
        if quote is None or len(sources) > 1 or quote.chain_id != row.chain_id or quote.is_direct:
            text = format_amount_of(order, row, strings)
        elif _is_swapped(quote):
            text = f"≈ {format_rounded(quote.amount_in, quote.token_decimals, quote.token_symbol, strings)}"
        else:
            text = format_money(row.amount, quote.token_decimals, quote.token_symbol, strings)
        is_foreign = row.kind == TransferKind.PAYMENT and not row.is_counted
        yield "sent" if is_foreign else "paid", f"{text} · {name_chain(row.chain_id)}"


def _is_swapped(quote: OrderQuote) -> bool:
    """Whether the payer's token becomes another one before it leaves the chain."""
    here = (each for each in quote.steps if int(each["fromChainId"]) == int(each["toChainId"]) == quote.chain_id)
    return any(each["protocol"] != WRAP for each in here)


def _list_fees(quote: OrderQuote, order: PublicOrder, strings: Strings) -> Iterator[Row]:
    """Yield what the payment cost beyond what arrived, where that can be valued."""
    if quote.total is not None and quote.total > quote.amount_out:
        yield {"name": "fees", "text": write_fees(quote.total, quote.amount_out, order, strings)}

"""What came for an order, what is missing, what is too much and what went back: one row each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from api.checkout_page.language.strings import Strings
from api.checkout_page.money.transfers import format_amount, name_chain
from api.domain.orders import OrderStatus
from api.domain.transfers import TransferKind
from api.services.checkout.money_seen import MoneySeen, SeenTransfer
from api.services.orders.payability import NotPayable
from api.services.orders.views import PublicOrder
from routing_engine.reference import token_registry

Row = Mapping[str, str]
Sums = dict[tuple[int, str], int]
MOST_TOKENS = 20
"""Of which amounts are listed one by one: anybody can make tokens, and send them."""
_OPEN = frozenset({OrderStatus.CREATED, OrderStatus.PROCESSING})
_CLOSED_SHORT = frozenset({OrderStatus.FAILED, OrderStatus.CANCELLED})


def describe_amounts(
    order: PublicOrder, seen: MoneySeen, status: OrderStatus, strings: Strings, merchant: str
) -> Iterator[Row]:
    """Yield ``name``, ``label`` and ``text`` of each amount that an order's state is about."""
    words = {name: text.format(merchant=merchant) for name, text in strings.amounts.items()}
    counted = _sum_up(row for row in seen.payments if row.is_counted)
    other = _sum_up(row for row in seen.payments if not row.is_counted)
    sent_back = _sum_up(row for row in seen.transfers if row.kind == TransferKind.REFUND)
    arrived = _sum_up(seen.payments)
    kept = {key: arrived.get(key, 0) - amount for key, amount in sent_back.items()}
    returned = _sum_up(row for row in seen.transfers if row.kind == TransferKind.BRIDGE_REFUND)
    difference = _find_difference(order, seen, status)
    if difference or (status != OrderStatus.SUCCESS and arrived):
        yield from _list_rows(order, strings, "price", words["price"], _wanted(order, order.settlement_amount or 0))
    yield from _list_rows(order, strings, "arrived", words["came" if status in _OPEN else "arrived"], counted)
    yield from _list_rows(order, strings, "not_counted", words["not_counted"], other)
    if difference:
        name, amount = difference
        yield from _list_rows(order, strings, name, words[name], _wanted(order, amount))
    yield from _list_rows(order, strings, "returned", words["returned"], returned)
    yield from _list_rows(order, strings, "sent_back", words["sent_back"], sent_back)
    yield from _list_rows(order, strings, "kept", words["kept"], _keep_positive(kept))
    if difference and difference[0] == "surplus" and sent_back:
        left = _subtract(_wanted(order, difference[1]), sent_back)
        yield from _list_rows(order, strings, "excess", words["excess"], _keep_positive(left))


def _find_difference(order: PublicOrder, seen: MoneySeen, status: OrderStatus) -> tuple[str, int] | None:
    """Return what is due or missing, or came beyond the price, and how much; None where it came exactly."""
    if order.settlement_amount is None or not seen.payments:
        return None
    if status in _OPEN:
        if order.amount_due and order.not_payable_reason != NotPayable.GOES_BACK:
            return "due", order.amount_due
    elif status in _CLOSED_SHORT and order.amount_received < order.settlement_amount:
        return "missing", order.settlement_amount - order.amount_received
    surplus = order.amount_received - order.settlement_amount
    return ("surplus", surplus) if surplus > 0 else None


def _sum_up(transfers: Iterable[SeenTransfer]) -> Sums:
    sums: Sums = {}
    for row in transfers:
        key = row.chain_id, row.token_address
        sums[key] = sums.get(key, 0) + row.amount
    return sums


def _subtract(sums: Sums, others: Sums) -> Sums:
    return {key: amount - others.get(key, 0) for key, amount in sums.items()}


def _keep_positive(sums: Sums) -> Sums:
    return {key: amount for key, amount in sums.items() if amount > 0}


def _wanted(order: PublicOrder, amount: int) -> Sums:
    """Return an amount of the token that settles the order."""
    return {(order.settlement_chain_id or 0, order.settlement_token_address or ""): amount}


def _list_rows(order: PublicOrder, strings: Strings, name: str, label: str, sums: Sums) -> Iterator[Row]:
    for (chain_id, token_address), amount in sorted(sums.items(), key=partial(_rank, order))[:MOST_TOKENS]:
        text = format_amount(order, chain_id, token_address, amount, strings)
        is_settled = (chain_id, token_address) == (order.settlement_chain_id, order.settlement_token_address)
        yield {"name": name, "label": label, "text": text if is_settled else f"{text} · {name_chain(chain_id)}"}


def _rank(order: PublicOrder, sum_of: tuple[tuple[int, str], int]) -> int:
    """Put the token that settles the order before others that are known, and those before what anybody made."""
    if sum_of[0] == (order.settlement_chain_id, order.settlement_token_address):
        return 0
    return 1 if token_registry.info_of(*sum_of[0]) else 2

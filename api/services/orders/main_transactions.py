"""The transactions of an order; and which are told where not all can be: anybody can make an order have thousands."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from heapq import nlargest
from typing import Any

from api.domain.clock import format_time
from api.domain.transfers import TransferKind
from api.services.orders.money import Money, is_credited
from api.services.orders.quoted import describe_quoted
from api.services.orders.worth import is_notable
from api.storage.tables import Payment, PaymentOrder

MOST = 100
"""A price is paid in so many notable parts at most; see `api.domain.funds.NOTABLE_SHARE`."""

Place = tuple[int, str]
_Weight = tuple[bool, int, datetime]


def list_transactions(money: Money) -> list[dict[str, Any]]:
    """Describe every transaction of an order once, and what its payer was quoted for it."""
    found: dict[tuple[int, str], datetime] = {}
    quoted: dict[tuple[int, str], dict[str, Any] | None] = {}
    for row in money.payments:
        place = row.chain_id, row.tx_hash
        found.setdefault(place, row.mined_at)
        quoted[place] = quoted.get(place) or describe_quoted(money.find_quote(row), row)
    return [
        {"chain_id": place[0], "hash": place[1], "timestamp": format_time(at), "quoted": quoted[place]}
        for place, at in found.items()
    ]


def choose_main(order: PaymentOrder, payments: Collection[Payment]) -> frozenset[Place]:
    """Return chain and hash of the transactions that weigh most, at most `MOST`.

    Those come first that are notable, with the deposits behind them, what was built for the order, and what goes back;
    then by amount in the token that settles it; then the newest.
    """
    places = dict.fromkeys((row.chain_id, row.tx_hash) for row in payments)
    if len(places) <= MOST:
        return frozenset(places)
    weights: dict[str, _Weight] = {}
    for row in payments:
        weight = _weigh(order, row)
        for text in filter(None, (row.tx_hash, row.source_tx_hash)):
            weights[text] = max(weight, weights.get(text, weight))
    return frozenset(nlargest(MOST, places, key=lambda place: weights[place[1]]))


def describe_main(order: PaymentOrder, money: Money) -> dict[str, Any]:
    """Return ``transactions``, those that weigh most, oldest first.

    Where there are more, ``transactions_left_out`` says how many.
    """
    every = list_transactions(money)
    if len(every) <= MOST:
        return {"transactions": every}
    main = choose_main(order, money.payments)
    told = [each for each in every if (each["chain_id"], each["hash"]) in main]
    return {"transactions": told, "transactions_left_out": len(every) - len(told)}


def _weigh(order: PaymentOrder, row: Payment) -> _Weight:
    is_paid = row.kind == TransferKind.PAYMENT
    is_main = is_notable(order, row) if is_paid else row.is_built or row.kind == TransferKind.REFUND
    return is_main, row.amount if is_credited(order, row) else 0, row.mined_at

"""What the database says of orders and money after everything, and what is wrong with it."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from sqlalchemy import select

from api.domain.events import DEFAULT_TYPES, choose_event
from api.domain.orders import TRANSITIONS, OrderStatus, StatusReason
from api.domain.payments import GONE
from api.domain.transfers import TransferKind
from api.storage.db import Database
from api.storage.tables import Payment, PaymentOrder, Refund, SimulatedTransfer, TimelineEntry, WebhookEvent

LOOK_S = 0.2
MOVED = (TransferKind.PAYMENT, TransferKind.REFUND)
"""What the simulated chains count as a payment of somebody to somebody."""
Step = tuple[OrderStatus, StatusReason]


@dataclass
class Books:
    """Everything that was written down.

    Parameters
    ----------
    moved : sequence of SimulatedTransfer
        What the simulated chains still have.
    wrong : list of str
        What does not hold.
    """

    orders: Sequence[PaymentOrder]
    payments: Sequence[Payment]
    refunds: Sequence[Refund]
    moved: Sequence[SimulatedTransfer]
    wrong: list[str] = field(default_factory=list)

    @property
    def statuses(self) -> Counter[str]:
        """How many orders are in each status."""
        return Counter(order.status for order in self.orders)


Check = Callable[[Books], None]
"""Notes what else is wrong."""


def read_books_when_calm(database: Database, patience_s: float, check: Check | None = None) -> Books:
    """Wait until the workers have nothing left to do; then the books must be right."""
    deadline = time.monotonic() + patience_s
    books = read_books(database, check)
    while books.wrong and time.monotonic() < deadline:
        threading.Event().wait(LOOK_S)
        books = read_books(database, check)
    return books


def read_books(database: Database, check: Check | None = None) -> Books:
    """Read everything in one state, and check it."""
    with database.read_one_state() as session:
        books = Books(
            orders=session.scalars(select(PaymentOrder)).all(),
            payments=session.scalars(select(Payment)).all(),
            refunds=session.scalars(select(Refund)).all(),
            moved=session.scalars(
                select(SimulatedTransfer).where(SimulatedTransfer.is_canonical, SimulatedTransfer.kind == "payment")
            ).all(),
        )
        steps: defaultdict[str, list[Step]] = defaultdict(list)
        for row in session.scalars(select(TimelineEntry).order_by(TimelineEntry.id)):
            steps[row.order_id].append((OrderStatus(row.status), StatusReason(row.status_reason)))
        told = Counter(session.scalars(select(WebhookEvent.order_id).where(WebhookEvent.type.in_(DEFAULT_TYPES))))
    _check_transfers(books)
    _check_received(books)
    _check_refunds(books)
    for order in books.orders:
        _check_history(books, order, steps[order.id], told[order.id])
    if check is not None:
        check(books)
    return books


def _check_transfers(books: Books) -> None:
    """Each transfer on the chains is known as one payment or one refund, and each of these is on the chains."""
    rows = [row for row in books.payments if row.kind in MOVED and row.state not in GONE]
    known = Counter((row.chain_id, row.tx_hash, row.log_index) for row in rows)
    real = Counter((row.chain_id, row.tx_hash, row.log_index) for row in books.moved)
    for key in known.keys() | real.keys():
        if known[key] != real[key]:
            books.wrong.append(f"{key} moved {real[key]} times and is known {known[key]} times")


def _check_received(books: Books) -> None:
    """What an order has received is what was credited to it in the token that it asks for."""
    received: Counter[tuple[str | None, int, str]] = Counter()
    for row in books.payments:
        if row.kind == TransferKind.PAYMENT and row.state not in GONE:
            received[row.order_id, row.chain_id, row.token_address] += row.amount
    for order in books.orders:
        credited = received[order.id, order.settlement_chain_id or 0, order.settlement_token_address or ""]
        if order.amount_received != credited:
            books.wrong.append(f"{order.id} has {order.amount_received}, credited {credited}")
        is_paid = order.status == OrderStatus.SUCCESS and order.status_reason != StatusReason.REORGED
        if is_paid and credited < (order.settlement_amount or 0):
            books.wrong.append(f"{order.id} is {order.status} with {credited} of {order.settlement_amount}")


def _check_refunds(books: Books) -> None:
    """No more is asked back of a payment than it brought; of what is cancelled, only what was sent all the same."""
    asked, sent = Counter[int](), Counter[int | None]()
    for row in books.payments:
        sent[row.refund_id] += row.amount if row.kind == TransferKind.REFUND and row.state not in GONE else 0
    for refund in books.refunds:
        asked[refund.payment_id] += max(0 if refund.cancelled_at else refund.amount, sent[refund.id])
    brought = {row.id: row.amount for row in books.payments}
    books.wrong.extend(
        f"payment {number} brought {brought[number]}, and {amount} is asked back"
        for number, amount in asked.items()
        if amount > brought[number]
    )


def _check_history(books: Books, order: PaymentOrder, steps: Sequence[Step], told: int) -> None:
    """The history is legal, ends where the order stands, and every change was told that has an event."""
    history = [status for status, _ in steps]
    legal = all(b in TRANSITIONS[a] or a == b for a, b in pairwise(history))
    if not legal or history[:1] != [OrderStatus.CREATED] or history[-1] != order.status:
        books.wrong.append(f"{order.id} is {order.status} after {history}")
    expected = sum(choose_event(status, reason) is not None for status, reason in steps)
    if told != expected:
        books.wrong.append(f"{order.id} has {expected} changes to tell of and {told} events")

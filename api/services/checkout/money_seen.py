"""What is known of an order's money, and until when the chains have been read."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.orders import OrderStatus
from api.domain.payments import COUNTED
from api.domain.transfers import TransferKind
from api.services.checkout.paid_quote import find_paid_quote, load_own_quote
from api.services.checkout.quote import OrderQuote
from api.services.orders.money import Money
from api.services.orders.reading import find_unpaid_order, read_payable_order
from api.services.orders.views import PublicOrder, describe_publicly
from api.services.resources import Resources
from api.storage.statements import Statement
from api.storage.tables import DoubtfulBlock, Payment, WatchCursor

STALE = timedelta(minutes=2)
"""How old the newest block of a chain may be; an endpoint that shows only older ones is behind."""
REMEMBERED = timedelta(seconds=1)
"""For how long it is remembered how far the chains were read."""
ANSWERS = frozenset({TransferKind.PAYMENT, TransferKind.BRIDGE_REFUND, TransferKind.REDIRECTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTransfer:
    """A transfer of an order that is in a canonical block.

    Parameters
    ----------
    token_address : str
        In lower case.
    amount : int
        The token's smallest units.
    bridge : str
        Name of the protocol that took it in or gave it out; empty where none did.
    is_counted : bool
        Whether its token and chain are the ones that the order is settled in.
    is_after_close : bool
        Whether the order was closed when it came. Of a cancelled order the block's time says so: what was sent before
        may have been seen afterwards.
    is_waiting : bool
        Of a deposit that was built for the order: whether its bridge may still deliver it.
    is_settled : bool
        Whether it has the confirmations that its value asks for.
    mined_at : datetime
        Its block's time.
    source_tx_hash : str or None
        Of what a bridge delivered: the deposit that it answers.
    is_main : bool
        Whether its transaction is listed: of thousands those are that weigh most.
    """

    kind: TransferKind
    chain_id: int
    tx_hash: str
    token_address: str
    amount: int
    bridge: str
    is_counted: bool
    is_after_close: bool
    is_waiting: bool
    is_settled: bool
    mined_at: datetime
    source_tx_hash: str | None
    is_main: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneySeen:
    """What is known of an order's money.

    Parameters
    ----------
    transfers : tuple of SeenTransfer
        Oldest first.
    looked_at : datetime or None
        Up to when every connected chain has been read without a doubt; None where that can't be said.
    chain_ids : tuple of int
        The chains that are connected.
    paid_quote : OrderQuote or None
        The quote by which it was paid, or by which a payment is on its way that is not seen yet; None if none is known.
    """

    transfers: tuple[SeenTransfer, ...]
    looked_at: datetime | None
    chain_ids: tuple[int, ...]
    paid_quote: OrderQuote | None = None

    @property
    def payments(self) -> tuple[SeenTransfer, ...]:
        """What reached the merchant."""
        return tuple(row for row in self.transfers if row.kind == TransferKind.PAYMENT)

    @property
    def main(self) -> tuple[SeenTransfer, ...]:
        """What is listed one by one; sums are of all."""
        return tuple(row for row in self.transfers if row.is_main)

    @property
    def on_its_way(self) -> tuple[SeenTransfer, ...]:
        """What a bridge has taken in and may still deliver."""
        return tuple(row for row in self.transfers if row.is_waiting)


_DOUBTED = (
    select(func.min(DoubtfulBlock.__table__.c.noted_at))
    .where(
        DoubtfulBlock.__table__.c.env_mode == WatchCursor.__table__.c.env_mode,
        DoubtfulBlock.__table__.c.chain_id == WatchCursor.__table__.c.chain_id,
    )
    .scalar_subquery()
)
_CURSORS = Statement(select(WatchCursor.__table__, _DOUBTED.label("doubted_at")))


def load_order_and_money(
    resources: Resources, order_id: str, quote_id: str | None = None
) -> tuple[PublicOrder, MoneySeen]:
    """Return an order and what is known of its money, of one moment: money that comes meanwhile is in both or neither.

    Parameters
    ----------
    quote_id : str, optional
        Quote of this order by which a payer says to have paid; counts until a payment is seen.

    Raises
    ------
    NotFound
        If there is no such order.
    """
    unpaid = _find_unpaid(resources, order_id) if quote_id is None else None
    if unpaid is not None:
        return unpaid
    with resources.database.read_one_state() as session:
        stored = read_payable_order(session, order_id)
        order = describe_publicly(resources, stored)
        return order, _find_money_seen(resources, session, order, stored.money, quote_id)


def _find_unpaid(resources: Resources, order_id: str) -> tuple[PublicOrder, MoneySeen] | None:
    """Return an order for which nothing moved, without a transaction; None where something did.

    How far the chains are read is asked first: whatever came by then, the order shows. So it may have been asked for
    somebody else a moment before.
    """
    cursors = resources.memory.recall(_CURSORS, resources.clock.now(), REMEMBERED, partial(_read_cursors, resources))
    with resources.database.look() as place:
        stored = find_unpaid_order(place, order_id)
    if stored is None:
        return None
    order = describe_publicly(resources, stored)
    chain_ids = _list_chain_ids(resources, order.env_mode)
    looked_at = _find_looked_at(cursors, order.env_mode, chain_ids)
    return order, MoneySeen(transfers=(), looked_at=looked_at, chain_ids=tuple(sorted(chain_ids)), paid_quote=None)


def _read_cursors(resources: Resources) -> Sequence[Any]:
    with resources.database.look() as place:
        return _CURSORS.fetch(place)


def _list_chain_ids(resources: Resources, env_mode: EnvMode) -> frozenset[int]:
    ledger = resources.ledgers.get(env_mode)
    return ledger.chain_ids if ledger is not None else frozenset()


def _find_money_seen(
    resources: Resources, session: Session, order: PublicOrder, money: Money, quote_id: str | None
) -> MoneySeen:
    rows, chain_ids = money.payments, _list_chain_ids(resources, order.env_mode)
    answered = {row.source_tx_hash for row in rows if row.kind in ANSWERS}
    quote = find_paid_quote(session, money, order.main_transactions)
    if quote is None and quote_id is not None and not rows:
        quote = load_own_quote(session, order.order_id, quote_id)
    return MoneySeen(
        transfers=tuple(_describe_seen(order, row, answered) for row in rows),
        looked_at=_find_looked_at(_CURSORS.fetch(session), order.env_mode, chain_ids),
        chain_ids=tuple(sorted(chain_ids)),
        paid_quote=quote,
    )


def _describe_seen(order: PublicOrder, row: Payment, answered: Collection[str | None]) -> SeenTransfer:
    settled = (order.settlement_chain_id, order.settlement_token_address)
    is_deposit = row.kind == TransferKind.DEPOSIT
    return SeenTransfer(
        kind=TransferKind(row.kind),
        chain_id=row.chain_id,
        tx_hash=row.tx_hash,
        token_address=row.token_address,
        amount=row.amount,
        bridge=row.bridge_id.partition(":")[0],
        is_counted=(row.chain_id, row.token_address) == settled and not row.is_rejected,
        is_after_close=row.is_after_close and not _came_before_cancelling(order, row),
        is_waiting=is_deposit and row.is_built and not row.is_overdue and row.tx_hash not in answered,
        is_settled=row.state in COUNTED,
        mined_at=row.mined_at,
        source_tx_hash=row.source_tx_hash,
        is_main=(row.chain_id, row.tx_hash) in order.main_transactions,
    )


def _came_before_cancelling(order: PublicOrder, row: Payment) -> bool:
    times = [each["at"] for each in order.timeline if each["status"] == OrderStatus.CANCELLED]
    return bool(times) and row.mined_at < datetime.fromisoformat(times[0])


def _find_looked_at(rows: Sequence[Any], env_mode: EnvMode, chain_ids: frozenset[int]) -> datetime | None:
    """Return the moment up to which the chain that was read the least far is known."""
    read = [_read_until(row) for row in rows if row.env_mode == env_mode and row.chain_id in chain_ids]
    return min(read) if read and len(read) == len(chain_ids) else None


def _read_until(cursor: Any) -> datetime:
    read: datetime = cursor.mined_at
    if cursor.block_number >= cursor.head_number:
        read = min(cursor.updated_at, cursor.mined_at + STALE)
    return read if cursor.doubted_at is None else min(read, cursor.doubted_at)

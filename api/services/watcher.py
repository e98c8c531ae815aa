"""Watch the chains for payments: each chain is read once a run, however many orders are open.

A run asks which blocks of the payments it still checks are canonical, reads the transfers of the blocks that are new,
and writes what follows in one transaction. It remembers nothing outside the tables: if it crashes half-way, or runs
twice at once, the next run does what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

import structlog
from sqlalchemy import and_, func, or_, select, union
from sqlalchemy.orm import Session

from api.context import Context
from api.domain.env import EnvMode
from api.domain.ledger import Block, Head, Ledger, Transfer
from api.domain.orders import LATE_WINDOW, OrderStatus
from api.services.crediting import Sighting, credit
from api.services.ledgers import ledgers
from api.services.order_store import PaymentState
from api.storage.db import insert_new
from api.storage.tables import Payment, PaymentOrder, SettlementAccount, WatchCursor

CURSOR_EVERY = timedelta(seconds=10)
"""How long a chain on which nothing happens keeps its old cursor; the blocks since are read again meanwhile."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chain:
    """One chain in one run.

    Parameters
    ----------
    recipients : frozenset of str
        Every address at which a vendor of the environment may receive, on whichever chain: a payment on the wrong one
        is found too.
    """

    context: Context
    ledger: Ledger
    env_mode: EnvMode
    chain_id: int
    head: Head
    recipients: frozenset[str]


def watch(context: Context) -> None:
    """Look at every chain of every environment once."""
    for env_mode, ledger in ledgers(context).items():
        heads = ledger.heads()
        with context.database.read() as session:
            recipients = _recipients(context, session, env_mode)
        for chain_id, head in heads.items():
            _watch_chain(
                _Chain(
                    context=context,
                    ledger=ledger,
                    env_mode=env_mode,
                    chain_id=chain_id,
                    head=head,
                    recipients=recipients,
                )
            )


def _watch_chain(chain: _Chain) -> None:
    with chain.context.database.read() as session:
        cursor = session.get(WatchCursor, (chain.env_mode, chain.chain_id))
        checked = _checked_numbers(chain, session)
        first = _first_unknown(chain, session) if cursor is None else 0
    canonical = chain.ledger.blocks(chain.chain_id, checked | ({cursor.block_number} if cursor else set()))
    if cursor is not None:
        first = _first_new(chain, cursor, canonical)
    is_quiet = cursor is not None and not checked and chain.context.clock.now() - cursor.updated_at < CURSOR_EVERY
    for reached, transfers in _read(chain, first):
        if transfers or not is_quiet:
            _write(chain, canonical, transfers, reached)
        canonical = {}


def _recipients(context: Context, session: Session, env_mode: EnvMode) -> frozenset[str]:
    """Return where money may arrive: present accounts, and those that open orders were made with."""
    late = context.clock.now() - LATE_WINDOW
    is_open = or_(
        PaymentOrder.status.in_([OrderStatus.CREATED, OrderStatus.PROCESSING]),
        and_(PaymentOrder.status == OrderStatus.EXPIRED, PaymentOrder.expires_at >= late),
    )
    accounts = select(SettlementAccount.address).where(SettlementAccount.env_mode == env_mode)
    orders = select(PaymentOrder.settlement_address).where(
        PaymentOrder.env_mode == env_mode, PaymentOrder.settlement_address.is_not(None), is_open
    )
    return frozenset(session.scalars(union(accounts, orders)))


def _checked_numbers(chain: _Chain, session: Session) -> set[int]:
    """Return the blocks of the payments that are not final yet."""
    query = (
        select(Payment.block_number)
        .where(
            Payment.state == PaymentState.SEEN,
            Payment.chain_id == chain.chain_id,
            Payment.env_mode == chain.env_mode,
        )
        .distinct()
    )
    return {number for number in session.scalars(query) if number is not None}


def _first_unknown(chain: _Chain, session: Session) -> int:
    """Return where to begin on a chain that was never read: when the oldest order was made."""
    oldest = session.scalar(select(func.min(PaymentOrder.created_at)).where(PaymentOrder.env_mode == chain.env_mode))
    head = chain.head.block.number
    return head if oldest is None else min(head, chain.ledger.block_at(chain.chain_id, oldest))


def _first_new(chain: _Chain, cursor: WatchCursor, canonical: Mapping[int, Block]) -> int:
    """Return the first block to read: after the cursor, or after what was final by then if the chain has changed."""
    block = canonical.get(cursor.block_number)
    if block is not None and block.hash == cursor.block_hash:
        return cursor.block_number + 1
    log.info("chain_reorganised", chain_id=chain.chain_id, block_number=cursor.block_number)
    return cursor.final_number + 1


def _read(chain: _Chain, first: int) -> Iterator[tuple[Block, tuple[Transfer, ...]]]:
    """Read up to the head, piece by piece; give the block that each piece reaches and what it holds. At least one.

    The block is asked for before the transfers: if the chain changes in between, the cursor is left on a block that is
    no longer canonical, and the next run reads again.
    """
    head = chain.head.block
    if first > head.number:
        yield head, ()
    while first <= head.number:
        last = min(head.number, first + chain.ledger.span - 1)
        reached = head if last == head.number else chain.ledger.blocks(chain.chain_id, [last])[last]
        yield reached, chain.ledger.transfers(chain.chain_id, first, last, chain.recipients)
        first = last + 1


def _write(chain: _Chain, canonical: Mapping[int, Block], transfers: tuple[Transfer, ...], reached: Block) -> None:
    sighting = Sighting(
        env_mode=chain.env_mode,
        chain_id=chain.chain_id,
        head=chain.head,
        canonical=canonical,
        transfers=transfers,
    )
    now = chain.context.clock.now()
    with chain.context.database.write() as session:
        cursor = _hold_cursor(chain, session)
        credit(session, sighting, chain.context.config.confirmations, now)
        cursor.block_number, cursor.block_hash, cursor.mined_at = reached.number, reached.hash, reached.mined_at
        cursor.final_number, cursor.updated_at = min(reached.number, chain.head.final_number), now


def _hold_cursor(chain: _Chain, session: Session) -> WatchCursor:
    """Lock the chain's cursor, so that two workers write one after the other."""
    key = {"env_mode": chain.env_mode, "chain_id": chain.chain_id}
    query = select(WatchCursor).filter_by(**key).with_for_update().execution_options(populate_existing=True)
    cursor = session.scalar(query)
    if cursor is not None:
        return cursor
    block, now = chain.head.block, chain.context.clock.now()
    start = {"block_number": 0, "block_hash": "", "final_number": 0, "mined_at": block.mined_at, "updated_at": now}
    insert_new(session, WatchCursor, key | start)
    return session.scalars(query).one()

"""Watch the chains for payments: each chain is read once a run, however many orders are open.

A run asks which blocks of the payments it still checks are canonical, reads the transfers of the blocks that are new,
and writes what follows in one transaction. It remembers nothing outside the tables: if it crashes half-way, or runs
twice at once, the next run does what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import structlog
from sqlalchemy import ColumnElement, and_, func, or_, select, union
from sqlalchemy.orm import Session

from api.context import Context
from api.domain.env import EnvMode
from api.domain.ledger import Block, ChainUnavailable, Head, Ledger, Transfer
from api.domain.orders import LATE_WINDOW, OrderStatus
from api.services.ledgers import groups, ledgers
from api.services.order_store import PaymentState
from api.services.owned_addresses import recipients_of
from api.services.settlement.at_once import run_at_once
from api.services.settlement.crediting import CHECKED, credit
from api.services.settlement.progress import Progress
from api.services.settlement.sighting import Sighting
from api.storage.db import insert_new
from api.storage.tables import Payment, PaymentOrder, Refund, WatchCursor

CURSOR_EVERY = timedelta(seconds=10)
"""How long a chain on which nothing happens keeps its old cursor; another process would read the blocks since again."""
WATCH_S = 60
"""How long `watch` waits for chains that hang."""

MOST_PIECES = 50
"""How far one run reads on a chain that is behind, before the other chains have their turn again."""
FRESH = timedelta(hours=1)
"""Orders of this age count whatever their status, on a chain that was never read."""
GIVEN_BACK_WITHIN = timedelta(days=7)
"""How long after its deadline a bridge is expected to give a deposit back."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chain:
    """One chain in one run.

    Parameters
    ----------
    recipients : frozenset of str
        Every address at which a vendor of the environment may receive, its removed accounts' and those of other chains
        included: a payment on the wrong chain is found too.
    others : frozenset of str
        Who else may be sent something that matters: payers who are to get money back.
    progress : Progress
        How far earlier looks of this process came, beyond what the cursor says.
    """

    context: Context
    ledger: Ledger
    env_mode: EnvMode
    chain_id: int
    head: Head
    recipients: frozenset[str]
    others: frozenset[str]
    progress: Progress


def watch(context: Context) -> None:
    """Look at every chain of every environment once, all at the same time; one that can't be read is left out.

    Waits for all of them, but not forever for one that hangs. What a look raises beyond that is raised here.
    """

    def look_at(env_mode: EnvMode, ledger: Ledger, group: Sequence[int]) -> None:
        for chain_id in group:
            look(context, env_mode, ledger, chain_id, Progress())

    run_at_once(
        [
            partial(look_at, env_mode, ledger, group)
            for env_mode, ledger in ledgers(context).items()
            for group in groups(ledger)
        ],
        WATCH_S,
    )


def look(context: Context, env_mode: EnvMode, ledger: Ledger, chain_id: int, progress: Progress) -> bool:
    """Look at one chain once; return whether it could be read."""
    try:
        head = ledger.head(chain_id)
        with context.database.read() as session:
            recipients = recipients_of(session, env_mode, [chain_id])[chain_id]
            others = _awaiting_money_back(context, session, env_mode)
        _watch_chain(
            _Chain(
                context=context,
                ledger=ledger,
                env_mode=env_mode,
                chain_id=chain_id,
                head=head,
                recipients=recipients,
                others=others,
                progress=progress,
            )
        )
    except ChainUnavailable as fault:
        log.warning("chain_unavailable", env_mode=env_mode, chain_id=chain_id, reason=str(fault))
        return False
    return True


def _watch_chain(chain: _Chain) -> None:
    with chain.context.database.read() as session:
        cursor = session.get(WatchCursor, (chain.env_mode, chain.chain_id))
        due, checked = _due_and_checked(chain, session)
        first = _first_unknown(chain, session) if cursor is None else 0
    if cursor is not None:
        number, block_hash = chain.progress.since((cursor.block_number, cursor.block_hash))
        if chain.head.block.number < number:
            return  # a node that is behind; what it does not know yet says nothing
        canonical = chain.ledger.blocks(chain.chain_id, due | {number})
        if number in canonical and canonical[number].hash == block_hash:
            first = number + 1
        else:
            log.info("chain_reorganised", chain_id=chain.chain_id, block_number=number)
            first, canonical = cursor.final_number + 1, chain.ledger.blocks(chain.chain_id, checked)
    else:
        canonical = chain.ledger.blocks(chain.chain_id, checked)
    is_quiet = cursor is not None and not checked and chain.context.clock.now() - cursor.updated_at < CURSOR_EVERY
    for reached, transfers in _read(chain, first):
        is_written = bool(transfers) or not is_quiet
        if is_written:
            _write(chain, canonical, transfers, reached)
        chain.progress.note(reached, chain.head.block, is_written=is_written, has_found=bool(transfers))
        canonical = {}


def _open_conditions(context: Context) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return what holds for orders that wait for a payment, and for those that still take a late one."""
    late = context.clock.now() - LATE_WINDOW
    return (
        PaymentOrder.status.in_([OrderStatus.CREATED, OrderStatus.PROCESSING]),
        and_(PaymentOrder.status == OrderStatus.EXPIRED, PaymentOrder.expires_at >= late),
    )


def _awaiting_money_back(context: Context, session: Session, env_mode: EnvMode) -> frozenset[str]:
    """Return the payers whom a merchant is to refund, and those whose deposits a bridge is to give back."""
    is_done = select(Payment.id).where(Payment.refund_id == Refund.id, Payment.state == PaymentState.FINAL)
    refunded = (
        select(Refund.recipient)
        .join(PaymentOrder, PaymentOrder.id == Refund.order_id)
        .where(PaymentOrder.env_mode == env_mode, ~is_done.exists())
    )
    stranded = select(Payment.sender).where(
        Payment.env_mode == env_mode,
        Payment.is_overdue,
        Payment.fill_deadline >= context.clock.now() - GIVEN_BACK_WITHIN,
    )
    return frozenset(session.scalars(union(refunded, stranded)))


def _due_and_checked(chain: _Chain, session: Session) -> tuple[set[int], set[int]]:
    """Return the blocks by which a payment may count or become final now, and those of all that can still be lost.

    As long as the cursor's block is canonical so is everything below it; what waits for nothing but time is not asked
    about again.
    """
    query = select(Payment.block_number, Payment.confirmations, Payment.state).where(
        Payment.state.in_(CHECKED), Payment.chain_id == chain.chain_id, Payment.env_mode == chain.env_mode
    )
    deepest, final = chain.context.config.confirmations.deepest, chain.head.final_number
    due, checked = set(), set()
    for number, depth, state in session.execute(query.distinct()):
        if number is not None:
            checked.add(number)
            if number <= final or (state == PaymentState.SEEN and depth < deepest):
                due.add(number)
    return due, checked


def _first_unknown(chain: _Chain, session: Session) -> int:
    """Return where to begin on a chain that was never read: when the oldest order that may have been paid was made."""
    is_fresh = PaymentOrder.created_at >= chain.context.clock.now() - FRESH
    query = select(func.min(PaymentOrder.created_at)).where(
        PaymentOrder.env_mode == chain.env_mode, or_(*_open_conditions(chain.context), is_fresh)
    )
    oldest, head = session.scalar(query), chain.head.block.number
    return head if oldest is None else min(head, chain.ledger.block_at(chain.chain_id, oldest))


def _read(chain: _Chain, first: int) -> Iterator[tuple[Block, tuple[Transfer, ...]]]:
    """Read up to the head, piece by piece; give the block that each piece reaches and what it holds. At least one.

    The block is asked for before the transfers: if the chain changes in between, the cursor is left on a block that is
    no longer canonical, and the next run reads again.
    """
    head = chain.head.block
    if first > head.number:
        yield head, ()
    for _ in range(MOST_PIECES):
        if first > head.number:
            return
        last = min(head.number, first + chain.ledger.span - 1)
        reached = head if last == head.number else chain.ledger.blocks(chain.chain_id, [last]).get(last)
        if reached is None:
            raise ChainUnavailable(f"block {last} is gone")
        yield reached, chain.ledger.transfers(chain.chain_id, first, last, chain.recipients | chain.others)
        first = last + 1


def _write(chain: _Chain, canonical: Mapping[int, Block], transfers: tuple[Transfer, ...], reached: Block) -> None:
    sighting = Sighting(
        env_mode=chain.env_mode,
        chain_id=chain.chain_id,
        head=chain.head,
        canonical=canonical,
        transfers=transfers,
        reached_at=reached.mined_at,
        recipients=chain.recipients,
        rejected=_rejected(chain, transfers),
    )
    now = chain.context.clock.now()
    with chain.context.database.write() as session:
        cursor = _hold_cursor(chain, session)
        credit(session, sighting, chain.context.config.confirmations, now)
        cursor.block_number, cursor.block_hash, cursor.mined_at = reached.number, reached.hash, reached.mined_at
        cursor.final_number, cursor.updated_at = min(reached.number, chain.head.final_number), now
        cursor.head_number = max(cursor.head_number, chain.head.block.number)


def _rejected(chain: _Chain, transfers: tuple[Transfer, ...]) -> frozenset[str]:
    """Return the senders from whom nothing must be taken; without an answer the blocks are read again later."""
    senders = {row.sender for row in transfers}
    try:
        return frozenset(chain.context.screen(senders)) if senders else frozenset()
    except Exception as fault:  # a stranger's code: whatever goes wrong in it, no payment is taken unchecked
        raise ChainUnavailable(f"screening does not answer: {fault!r}") from fault


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

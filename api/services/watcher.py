"""Watch the chains for payments: each chain is read once a run, however many orders are open.

A run asks which blocks of the payments it still checks are canonical, reads the transfers of the blocks that are new,
and writes what follows in one transaction. It remembers nothing outside the tables: if it crashes half-way, or runs
twice at once, the next run does what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from sqlalchemy import ColumnElement, and_, func, or_, select, union
from sqlalchemy.orm import Session

from api.context import Context
from api.domain.env import EnvMode
from api.domain.ledger import Block, ChainUnavailable, Head, Ledger, Proof, Reading, Transfer, TransferKey
from api.domain.orders import LATE_WINDOW, OrderStatus
from api.services.crediting import CHECKED, Sighting, credit
from api.services.ledgers import ledgers
from api.services.order_store import PaymentState
from api.services.settlement.doubtful_blocks import close_doubts, due_doubts, note_doubts, oldest_doubt
from api.services.settlement.hints import due_hints, follow_hints
from api.services.settlement.open_deposits import awaits_delivery
from api.services.settlement.unproven import unproven
from api.storage.db import insert_new
from api.storage.tables import Payment, PaymentOrder, Refund, SettlementAccount, WatchCursor

CURSOR_EVERY = timedelta(seconds=10)
"""How long a chain on which nothing happens keeps its old cursor; the blocks since are read again meanwhile."""

MOST_PIECES = 50
"""How far one run reads on a chain that is behind, before the other chains have their turn again."""
FRESH = timedelta(hours=1)
"""Orders of this age count whatever their status, on a chain that was never read."""
GIVEN_BACK_WITHIN = timedelta(days=7)
"""How long after its deadline a bridge is expected to give a deposit back."""

LONG_AGO = datetime.fromtimestamp(0, UTC)
"""What has been read so far rules nothing out: deadlines have passed only where final blocks were read again."""
REREAD_SPAN = 500
"""Blocks in one search of their events."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chain:
    """One chain in one run.

    Parameters
    ----------
    recipients : frozenset of str
        Every address at which a vendor of the environment may receive, on whichever chain: a payment on the wrong one
        is found too.
    others : frozenset of str
        Who else may be sent something that matters: payers who are to get money back.
    """

    context: Context
    ledger: Ledger
    env_mode: EnvMode
    chain_id: int
    head: Head
    recipients: frozenset[str]
    others: frozenset[str]

    @property
    def wanted(self) -> frozenset[str]:
        """All of them."""
        return self.recipients | self.others


def watch(context: Context) -> None:
    """Look at every chain of every environment once; one that can't be read is left for the next run."""
    for env_mode, ledger in ledgers(context).items():
        heads = ledger.heads()
        with context.database.read() as session:
            recipients = _recipients(context, session, env_mode)
            others = _awaiting_money_back(context, session, env_mode)
        for chain_id, head in heads.items():
            chain = _Chain(
                context=context,
                ledger=ledger,
                env_mode=env_mode,
                chain_id=chain_id,
                head=head,
                recipients=recipients,
                others=others,
            )
            try:
                _watch_chain(chain)
            except ChainUnavailable as fault:
                log.warning("chain_unavailable", env_mode=env_mode, chain_id=chain_id, reason=str(fault))


def _watch_chain(chain: _Chain) -> None:
    with chain.context.database.read() as session:
        cursor = session.get(WatchCursor, (chain.env_mode, chain.chain_id))
        due, checked = _due_and_checked(chain, session)
        first = _first_unknown(chain, session) if cursor is None else 0
    if cursor is not None and chain.head.block.number < cursor.block_number:
        return  # a node that is behind; what it does not know yet says nothing
    if cursor is not None:
        canonical = chain.ledger.blocks(chain.chain_id, due | {cursor.block_number})
        if _is_on_chain(cursor, canonical):
            first = cursor.block_number + 1
        else:
            log.info("chain_reorganised", chain_id=chain.chain_id, block_number=cursor.block_number)
            first, canonical = cursor.final_number + 1, chain.ledger.blocks(chain.chain_id, checked)
    else:
        canonical = chain.ledger.blocks(chain.chain_id, checked)
    is_quiet = cursor is not None and not checked and chain.context.clock.now() - cursor.updated_at < CURSOR_EVERY
    proofs = _prove(chain, canonical)
    for reached, reading in _read(chain, first):
        if reading.transfers or reading.doubts or not is_quiet:
            _write(chain, canonical, reading, reached, proofs)
        canonical, proofs = {}, {}
    for look_again in (_settle_doubts, _follow_hints, _reread):
        look_again(chain)


def _recipients(context: Context, session: Session, env_mode: EnvMode) -> frozenset[str]:
    """Return where money may arrive: present accounts, and those that open orders were made with."""
    accounts = select(SettlementAccount.address).where(SettlementAccount.env_mode == env_mode)
    orders = select(PaymentOrder.settlement_address).where(
        PaymentOrder.env_mode == env_mode, PaymentOrder.settlement_address.is_not(None)
    )
    # Apart, each is answered from an index alone.
    waiting, late = (orders.where(condition) for condition in _open_conditions(context))
    return frozenset(session.scalars(union(accounts, waiting, late)))


def _open_conditions(context: Context) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return what holds for orders that wait for a payment, and for those that still take a late one."""
    late = context.clock.now() - LATE_WINDOW
    return (
        PaymentOrder.status.in_([OrderStatus.CREATED, OrderStatus.PROCESSING]),
        and_(PaymentOrder.status == OrderStatus.EXPIRED, PaymentOrder.expires_at >= late),
    )


def _awaiting_money_back(context: Context, session: Session, env_mode: EnvMode) -> frozenset[str]:
    """Return the payers whom a merchant is to refund, and those whose deposits a bridge is to give back."""
    refunded = (
        select(Refund.recipient)
        .join(PaymentOrder, PaymentOrder.id == Refund.order_id)
        .where(PaymentOrder.env_mode == env_mode, PaymentOrder.status == OrderStatus.SUCCESS)
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


def _is_on_chain(cursor: WatchCursor, canonical: Mapping[int, Block]) -> bool:
    block = canonical.get(cursor.block_number)
    return block is not None and block.hash == cursor.block_hash


def _read(chain: _Chain, first: int) -> Iterator[tuple[Block, Reading]]:
    """Read up to the head, piece by piece; give the block that each piece reaches and what it holds. At least one.

    The block is asked for before the transfers: if the chain changes in between, the cursor is left on a block that is
    no longer canonical, and the next run reads again.
    """
    head = chain.head.block
    if first > head.number:
        yield head, Reading(transfers=())
    for _ in range(MOST_PIECES):
        if first > head.number:
            return
        last = min(head.number, first + chain.ledger.span - 1)
        reached = head if last == head.number else chain.ledger.blocks(chain.chain_id, [last]).get(last)
        if reached is None:
            raise ChainUnavailable(f"block {last} is gone")
        yield reached, chain.ledger.read(chain.chain_id, first, last, chain.wanted)
        first = last + 1


def _prove(chain: _Chain, canonical: Mapping[int, Block]) -> Mapping[TransferKey, Proof]:
    """Look for proofs of the payments whose blocks are checked now."""
    endpoints = chain.ledger.endpoint_count(chain.chain_id)
    with chain.context.database.read() as session:
        asked = unproven(session, chain.env_mode, chain.chain_id, endpoints, canonical) if canonical else ()
    return chain.ledger.prove(chain.chain_id, asked) if asked else {}


def _write(
    chain: _Chain,
    canonical: Mapping[int, Block],
    reading: Reading,
    reached: Block,
    proofs: Mapping[TransferKey, Proof],
) -> None:
    sighting = _sighting(chain, reading.transfers, canonical=canonical, proofs=proofs)
    now, final = chain.context.clock.now(), min(reached.number, chain.head.final_number)
    can_trace = chain.ledger.can_trace(chain.chain_id)
    with chain.context.database.write() as session:
        cursor = _hold_cursor(chain, session)
        credit(session, sighting, chain.context.config.confirmations, now)
        note_doubts(session, chain.env_mode, chain.chain_id, reading.doubts, now)
        if not cursor.block_hash or not awaits_delivery(session, chain.env_mode, chain.chain_id, now):
            cursor.reread_number = max(cursor.reread_number, final)
        cursor.block_number, cursor.block_hash, cursor.mined_at = reached.number, reached.hash, reached.mined_at
        cursor.head_number, cursor.can_trace = chain.head.block.number, can_trace
        cursor.final_number, cursor.updated_at = final, now


def _settle_doubts(chain: _Chain) -> None:
    """Find out what doubtful blocks hold, and credit what was passed over."""
    now, key = chain.context.clock.now(), (chain.env_mode, chain.chain_id)
    with chain.context.database.read() as session:
        asked = due_doubts(session, *key, now)
    if not asked:
        return
    settlement = chain.ledger.settle(chain.chain_id, asked, chain.wanted)
    sighting = _sighting(chain, settlement.transfers)
    with chain.context.database.write() as session:
        _hold_cursor(chain, session)
        credit(session, sighting, chain.context.config.confirmations, now)
        close_doubts(session, *key, asked, settlement, now)


def _follow_hints(chain: _Chain) -> None:
    """Look where wallets say that they paid, and list the blocks in which that was passed over."""
    now, key = chain.context.clock.now(), (chain.env_mode, chain.chain_id)
    with chain.context.database.read() as session:
        asked = due_hints(session, *key, now)
    if not asked:
        return
    places = chain.ledger.places(chain.chain_id, asked, chain.wanted)
    with chain.context.database.write() as session:
        reached = _hold_cursor(chain, session).block_number
        follow_hints(session, *key, asked, places, reached, now)


def _reread(chain: _Chain) -> None:
    """Search what became final once more while deliveries are awaited here, up to the first block that is in doubt.

    Only then a deposit's deadline has passed for certain.
    """
    now, key = chain.context.clock.now(), (chain.env_mode, chain.chain_id)
    with chain.context.database.read() as session:
        cursor = session.get(WatchCursor, key)
        oldest = oldest_doubt(session, *key)
        if cursor is None or not awaits_delivery(session, *key, now):
            return
    last = min(chain.head.final_number, cursor.block_number, *([] if oldest is None else [oldest - 1]))
    span = max(chain.ledger.span, REREAD_SPAN)
    for first in range(cursor.reread_number + 1, last + 1, span)[:MOST_PIECES]:
        final = min(last, first + span - 1)
        found = chain.ledger.search(chain.chain_id, first, final, chain.wanted)
        block = chain.ledger.blocks(chain.chain_id, [final])[final]
        sighting = _sighting(chain, found, reached_at=block.mined_at)
        with chain.context.database.write() as session:
            held = _hold_cursor(chain, session)
            credit(session, sighting, chain.context.config.confirmations, now)
            held.reread_number = max(held.reread_number, final)


def _sighting(
    chain: _Chain,
    transfers: tuple[Transfer, ...],
    *,
    canonical: Mapping[int, Block] | None = None,
    proofs: Mapping[TransferKey, Proof] | None = None,
    reached_at: datetime = LONG_AGO,
) -> Sighting:
    return Sighting(
        env_mode=chain.env_mode,
        chain_id=chain.chain_id,
        head=chain.head,
        canonical=canonical or {},
        transfers=transfers,
        reached_at=reached_at,
        recipients=chain.recipients,
        rejected=_rejected(chain, transfers),
        proofs=proofs or {},
    )


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

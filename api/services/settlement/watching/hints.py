"""Hints where to look: transactions of which somebody said that they pay something."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, bindparam, delete, func, select, update
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.ledger import Doubt, Place
from api.domain.payments import GONE
from api.services.ledger.chain_reader import HINT
from api.services.settlement.watching.doubtful_blocks import note_doubts
from api.storage.db import insert_new
from api.storage.statements import DirectConnection, Statement
from api.storage.tables import Payment, PaymentHint

MOST_AT_ONCE = 20
MOST_WAITING = 1_000
"""Of one chain: whoever knows the address of a payment page may fill the queue, but nothing is lost by that."""
FORGOTTEN_AFTER = timedelta(hours=1)
LONGEST_PAUSE = timedelta(minutes=5)
FIRST_PAUSE = timedelta(seconds=2)


def add_hint(
    session: Session, env_mode: EnvMode, chain_id: int, tx_hash: str, now: datetime, *, is_untraced: bool = False
) -> bool:
    """Note a hint; the oldest make room for it. Return whether it was new.

    Parameters
    ----------
    is_untraced : bool
        Whether it is the service's own: it has read the transaction, but could get no trace of it.
    """
    key = {"env_mode": env_mode, "chain_id": chain_id, "tx_hash": tx_hash}
    first_try = now + (FIRST_PAUSE if is_untraced else timedelta(0))
    values = {**key, "is_untraced": is_untraced, "reported_at": now, "next_try_at": first_try}
    is_new = insert_new(session, PaymentHint, values)
    if not is_new and is_untraced:  # somebody has reported it before: now it is known to want another trace
        session.execute(update(PaymentHint).filter_by(**key).values(**values, tries=0))
    waiting = (
        session.scalar(select(func.count()).select_from(PaymentHint).where(*_select_chain(env_mode, chain_id))) or 0
    )
    if is_new and waiting > MOST_WAITING:
        others = select(PaymentHint.tx_hash).where(
            *_select_chain(env_mode, chain_id), PaymentHint.tx_hash != tx_hash, PaymentHint.is_untraced.is_(False)
        )
        oldest = others.order_by(PaymentHint.reported_at).limit(waiting - MOST_WAITING)
        hashes = session.scalars(oldest).all()
        session.execute(delete(PaymentHint).where(*_select_chain(env_mode, chain_id), PaymentHint.tx_hash.in_(hashes)))
    return is_new


def list_due_hints(place: Session | DirectConnection, env_mode: EnvMode, chain_id: int, now: datetime) -> Sequence[str]:
    """Return the transactions to look for now."""
    rows = _DUE.fetch(place, {"env_mode": env_mode, "chain_id": chain_id, "now": now})
    return [row.tx_hash for row in rows]


def follow_hints(
    session: Session,
    env_mode: EnvMode,
    chain_id: int,
    asked: Sequence[str],
    places: Mapping[str, Place],
    reached: int,
    now: datetime,
) -> None:
    """List the blocks of transactions that were passed over as doubtful; put off what is not mined or read yet.

    The caller holds the chain's cursor, which stands at `reached`.
    """
    known, nobodys = _load_known(session, env_mode, chain_id, asked)
    passed_over = []
    for row in session.scalars(
        select(PaymentHint).where(*_select_chain(env_mode, chain_id), PaymentHint.tx_hash.in_(asked))
    ):
        place = places.get(row.tx_hash)
        if place is not None and place.block.number > reached:
            place = None  # it is read in a moment
        is_read = place is not None and place.is_read
        may_be_traced = row.is_untraced and not is_read and (row.tx_hash in nobodys or row.tx_hash not in known)
        if place is not None and place.is_relevant and not is_read and (row.tx_hash not in known or may_be_traced):
            passed_over.append(Doubt(block=place.block, told_by=HINT))
        is_done = (place is not None or row.tx_hash in known) and not may_be_traced
        if is_done or row.reported_at < now - FORGOTTEN_AFTER:
            session.delete(row)
        else:
            row.next_try_at = now + min(FIRST_PAUSE * 2**row.tries, LONGEST_PAUSE)
            row.tries = min(row.tries + 1, 16)
    session.flush()
    note_doubts(session, env_mode, chain_id, passed_over, now, wait=timedelta(0))


def _load_known(session: Session, env_mode: EnvMode, chain_id: int, asked: Sequence[str]) -> tuple[set[str], set[str]]:
    """Return which transactions are written down, and those of them in which something belongs to nobody."""
    found = select(Payment.tx_hash, Payment.order_id).where(
        Payment.env_mode == env_mode,
        Payment.chain_id == chain_id,
        Payment.tx_hash.in_(asked),
        Payment.state.not_in(GONE),
    )
    rows = session.execute(found).all()
    return {row[0] for row in rows}, {row[0] for row in rows if row[1] is None}


def _select_chain(env_mode: EnvMode, chain_id: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return PaymentHint.env_mode == env_mode, PaymentHint.chain_id == chain_id


_DUE = Statement(
    select(PaymentHint.tx_hash)
    .where(
        PaymentHint.env_mode == bindparam("env_mode", type_=PaymentHint.env_mode.type),
        PaymentHint.chain_id == bindparam("chain_id", type_=PaymentHint.chain_id.type),
        PaymentHint.next_try_at <= bindparam("now", type_=PaymentHint.next_try_at.type),
    )
    .order_by(PaymentHint.next_try_at)
    .limit(MOST_AT_ONCE)
)

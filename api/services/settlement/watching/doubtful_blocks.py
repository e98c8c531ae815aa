"""Blocks that may hold more than was said of them: listed while the cursor goes on, until they are settled."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, bindparam, delete, func, select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.ledger import Doubt, Settlement
from api.domain.transfers import CanonicalBlock
from api.storage.statements import Place, Statement
from api.storage.tables import DoubtfulBlock

SETTLE_AFTER = timedelta(seconds=10)
"""How long a doubt waits for others, to be settled with them in one go."""
LONGEST_PAUSE = timedelta(minutes=5)
MOST_AT_ONCE = 40
MOST_NAMED = 100
LONGEST_HOST = 64
LONGEST_BRIDGE = 128


def note_doubts(
    session: Session,
    env_mode: EnvMode,
    chain_id: int,
    doubts: Collection[Doubt],
    now: datetime,
    wait: timedelta = SETTLE_AFTER,
) -> None:
    """List doubtful blocks; the caller holds the chain's cursor, and no other writer lists the same."""
    if not doubts:
        return
    numbers = {each.block.number for each in doubts}
    session.execute(delete(DoubtfulBlock).where(*_select_chain(env_mode, chain_id), DoubtfulBlock.number.in_(numbers)))
    session.add_all(
        DoubtfulBlock(
            env_mode=env_mode,
            chain_id=chain_id,
            number=each.block.number,
            hash=each.block.hash,
            reason=each.told_by[:LONGEST_HOST],
            bridge=each.bridge[-LONGEST_BRIDGE:],
            tx_hash=each.tx_hash,
            noted_at=each.block.mined_at,
            next_try_at=now + wait,
        )
        for each in {each.block.number: each for each in doubts}.values()
    )
    session.flush()


def list_due_doubts(place: Place, env_mode: EnvMode, chain_id: int, now: datetime) -> Sequence[Doubt]:
    """Return the doubts that are to be settled now, the oldest first."""
    return [
        Doubt(
            block=CanonicalBlock(number=row.number, hash=row.hash, mined_at=row.noted_at),
            told_by=row.reason,
            bridge=row.bridge,
            tx_hash=row.tx_hash,
        )
        for row in _DUE.fetch(place, {"env_mode": env_mode, "chain_id": chain_id, "now": now})
    ]


def find_oldest_doubt(session: Session, env_mode: EnvMode, chain_id: int) -> int | None:
    """Return the number of the first doubtful block, if there is one."""
    return session.scalar(select(func.min(DoubtfulBlock.number)).where(*_select_chain(env_mode, chain_id)))


def close_doubts(
    session: Session,
    env_mode: EnvMode,
    chain_id: int,
    asked: Collection[Doubt],
    settlement: Settlement,
    now: datetime,
) -> None:
    """Forget the settled ones of the doubts that were asked about, and put the others off."""
    hashes = {each.block.number: each.block.hash for each in asked}
    query = select(DoubtfulBlock).where(*_select_chain(env_mode, chain_id), DoubtfulBlock.number.in_(hashes))
    for row in session.scalars(query):
        if row.hash != hashes[row.number]:
            continue  # the chain was reorganised meanwhile, and its new block is doubtful too
        if row.number in settlement.settled:
            session.delete(row)
        elif row.number in settlement.put_off:
            row.next_try_at = now
        else:
            row.next_try_at = now + min(SETTLE_AFTER * 2**row.tries, LONGEST_PAUSE)
            row.tries = min(row.tries + 1, 16)
    session.flush()


def count_doubts(session: Session) -> dict[tuple[str, int], int]:
    """Return how many blocks are doubtful, by environment and chain."""
    query = select(DoubtfulBlock.env_mode, DoubtfulBlock.chain_id, func.count())
    rows = session.execute(query.group_by(DoubtfulBlock.env_mode, DoubtfulBlock.chain_id))
    return {(row[0], row[1]): row[2] for row in rows}


def list_unread(session: Session) -> list[tuple[str, int, str, str]]:
    """Return environment, chain, bridge and hash of transactions at whose events a bridge's code fails; the newest."""
    columns = DoubtfulBlock.env_mode, DoubtfulBlock.chain_id, DoubtfulBlock.bridge, DoubtfulBlock.tx_hash
    query = select(*columns).where(DoubtfulBlock.tx_hash != "").order_by(DoubtfulBlock.noted_at.desc())
    return [(row[0], row[1], row[2], row[3]) for row in session.execute(query.limit(MOST_NAMED))]


def _select_chain(env_mode: EnvMode, chain_id: int) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return DoubtfulBlock.env_mode == env_mode, DoubtfulBlock.chain_id == chain_id


_DUE = Statement(
    select(*DoubtfulBlock.__table__.columns)
    .where(
        DoubtfulBlock.env_mode == bindparam("env_mode", type_=DoubtfulBlock.env_mode.type),
        DoubtfulBlock.chain_id == bindparam("chain_id", type_=DoubtfulBlock.chain_id.type),
        DoubtfulBlock.next_try_at <= bindparam("now", type_=DoubtfulBlock.next_try_at.type),
    )
    .order_by(DoubtfulBlock.number)
    .limit(MOST_AT_ONCE)
)

"""Simulated chains: a block every quarter of a second of the clock, and transfers in tables.

Blocks are not stored. A block's number says when it was mined, and its hash follows from its number and from the
newest reorganisation that touched it. Only what happened is stored: transfers and reorganisations. A transfer may lie
in a block that the clock has not reached: it happens when its time comes.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from api.domain.transfers import CanonicalBlock, TransferKind
from api.storage.db import insert_new
from api.storage.statements import Place, Statement
from api.storage.tables import SimulatedChain, SimulatedReorg, SimulatedTransfer

GENESIS = datetime(2025, 1, 1, tzinfo=UTC)
BLOCK_TIME = timedelta(milliseconds=250)
FINALITY_BLOCKS = 12
"""A block this far below the head can't be reorganised."""

"""Chains are locked in this order, so that nobody waits for each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTransfer:
    """A transfer that a simulated wallet or bridge makes."""

    kind: TransferKind
    chain_id: int
    token_address: str
    sender: str
    recipient: str
    amount: int
    reference: bytes | None = None
    source_chain_id: int | None = None
    source_tx_hash: str | None = None
    reorg_when_seen: bool = False


def find_number_at(moment: datetime) -> int:
    """Return the number of the newest block at a moment."""
    return (moment - GENESIS) // BLOCK_TIME


def find_mined_at(number: int) -> datetime:
    """Return when a block was, or will be, mined."""
    return GENESIS + number * BLOCK_TIME


def make_hash() -> str:
    """Make up a transaction's hash."""
    return f"0x{secrets.token_hex(32)}"


def hold(session: Session, *chain_ids: int) -> Mapping[int, SimulatedChain]:
    """Lock chains until the transaction ends, so that no block is closed while a transfer goes into it."""
    return {chain_id: _hold(session, chain_id) for chain_id in sorted(chain_ids)}


def append(session: Session, transfer: NewTransfer, now: datetime, *, delay: timedelta = timedelta()) -> str:
    """Put a transfer into the first block that nobody has read, or into a later one; return its transaction's hash.

    Parameters
    ----------
    now : datetime
        Moment after whose block it is mined.
    delay : timedelta
        How much later it is mined.
    """
    chain = hold(session, transfer.chain_id)[transfer.chain_id]
    number = max(chain.head_number, find_number_at(now)) + 1 + delay // BLOCK_TIME
    tx_hash = make_hash()
    session.add(
        SimulatedTransfer(
            chain_id=transfer.chain_id,
            block_number=number,
            block_hash=describe_blocks(session, transfer.chain_id, [number])[number].hash,
            tx_hash=tx_hash,
            log_index=0,
            kind=transfer.kind,
            token_address=transfer.token_address,
            sender=transfer.sender,
            recipient=transfer.recipient,
            amount=transfer.amount,
            reference=transfer.reference,
            source_chain_id=transfer.source_chain_id,
            source_tx_hash=transfer.source_tx_hash,
            reorg_when_seen=transfer.reorg_when_seen,
        )
    )
    session.flush()
    return tx_hash


def reorganise(session: Session, chain: SimulatedChain, first: int, lost: Collection[bytes], now: datetime) -> None:
    """Replace every block of a locked chain from number `first` on.

    Parameters
    ----------
    lost : collection of bytes
        References whose transfers do not come back; all others are mined again, in blocks of the same numbers.
    """
    session.add(SimulatedReorg(chain_id=chain.chain_id, first_number=first, at=now))
    session.flush()
    query = select(SimulatedTransfer).where(
        SimulatedTransfer.chain_id == chain.chain_id,
        SimulatedTransfer.block_number >= first,
        SimulatedTransfer.is_canonical,
    )
    rows = session.scalars(query).all()
    fresh = describe_blocks(session, chain.chain_id, {row.block_number for row in rows})
    for row in rows:
        row.is_canonical = False
        if row.reference not in lost:
            session.add(_copy(row, fresh[row.block_number].hash))
    session.flush()


def take_back(session: Session, deposit: SimulatedTransfer) -> None:
    """Undo what a bridge would have done, on any chain, because of a deposit that was reorganised away."""
    query = select(SimulatedTransfer).where(
        SimulatedTransfer.reference == deposit.reference,
        SimulatedTransfer.source_chain_id == deposit.chain_id,
        SimulatedTransfer.source_tx_hash == deposit.tx_hash,
    )
    for row in session.scalars(query):
        # What the bridge has paid out already stays: that is the relayer's loss.
        row.is_canonical &= row.block_number <= _hold(session, row.chain_id).head_number


def describe_blocks(place: Place, chain_id: int, numbers: Collection[int]) -> Mapping[int, CanonicalBlock]:
    """Return the canonical blocks with these numbers, reached by the clock or not."""
    if not numbers:
        return {}
    reorgs = [(row.id, row.first_number) for row in _REORGS.fetch(place, {"chain_id": chain_id, "last": max(numbers)})]
    found = {}
    for number in numbers:
        fork = max((key for key, first in reorgs if first <= number), default=0)
        digest = hashlib.sha256(f"{chain_id}:{number}:{fork}".encode()).hexdigest()
        found[number] = CanonicalBlock(number=number, hash=f"0x{digest}", mined_at=find_mined_at(number))
    return found


def _hold(session: Session, chain_id: int) -> SimulatedChain:
    chain = session.scalar(_HELD, {"chain_id": chain_id})
    if chain is not None:
        return chain
    insert_new(session, SimulatedChain, {"chain_id": chain_id, "head_number": 0})
    return session.scalars(_HELD, {"chain_id": chain_id}).one()


def _copy(row: SimulatedTransfer, block_hash: str) -> SimulatedTransfer:
    columns = {column.key: getattr(row, column.key) for column in SimulatedTransfer.__table__.columns}
    return SimulatedTransfer(**{**columns, "block_hash": block_hash, "is_canonical": True})


_REORGS = Statement(
    select(SimulatedReorg.id, SimulatedReorg.first_number).where(
        SimulatedReorg.chain_id == bindparam("chain_id", type_=SimulatedReorg.chain_id.type),
        SimulatedReorg.first_number <= bindparam("last", type_=SimulatedReorg.first_number.type),
    )
)
_HELD = (
    select(SimulatedChain)
    .where(SimulatedChain.chain_id == bindparam("chain_id"))
    .with_for_update()
    .execution_options(populate_existing=True)
)

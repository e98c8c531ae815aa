"""What one look has shown, divided into portions, each for a transaction of its own.

Anybody can move thousands of single units to a vendor in a block, and while one transaction writes, others may wait for
it. So each writes so much and no more. What a look has no time for is put off: its blocks are in doubt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from sqlalchemy import bindparam, or_, select
from sqlalchemy.orm import Session

from api.domain.ledger import Doubt, Proof
from api.domain.payments import CHECKED, Evidence
from api.domain.transfers import CanonicalBlock, Transfer, TransferKey, TransferKind, get_key, moves_the_same
from api.services.ledger.chain_blocks import split_into_portions
from api.services.ledger.chain_reader import HINT
from api.services.ledger.look_budgets import take_turns
from api.services.settlement.crediting.matching import Match, match_transfers
from api.services.settlement.crediting.observation import ChainObservation
from api.services.settlement.crediting.replacing import takes_the_place, tells_the_same
from api.storage.statements import Statement
from api.storage.tables import Payment

MOST_TAKEN, MOST_CHECKED = 100, 500
"""Transfers that are taken in, and payments that are checked, in one transaction."""
MOST_PORTIONS = 5
"""Transactions of one look."""
AT_ONCE = 500
"""Transactions of a chain in one question to the database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Portions:
    """A look as it is written down.

    Parameters
    ----------
    portions : sequence of ChainObservation
        One for each transaction; at least one.
    put_off : sequence of Doubt
        The blocks of what this look does not take in.
    """

    portions: Sequence[ChainObservation]
    put_off: Sequence[Doubt] = ()


def divide(session: Session, observation: ChainObservation) -> Portions:
    """Return what a look has shown in portions; the first of each transaction come first, then the second of each."""
    transfers = _leave_contradictions_out(observation.transfers)
    seen = frozenset(map(get_key, transfers))
    vanished: Sequence[int] = ()
    if len(transfers) > MOST_TAKEN:
        transfers, vanished = _choose_work(session, observation, transfers)
    work = take_turns(transfers, lambda each: each.tx_hash)
    most = MOST_PORTIONS * MOST_TAKEN
    checked = _list_checked(session, observation)[: MOST_PORTIONS * MOST_CHECKED]
    parts = zip_longest(
        split_into_portions(work[:most], MOST_TAKEN),
        split_into_portions(checked, MOST_CHECKED),
        split_into_portions(vanished, MOST_CHECKED),
    )
    portions = [
        replace(observation, transfers=_sort(part or ()), checked=ids or (), vanished=gone or (), seen=seen)
        for part, ids, gone in parts
    ]
    blocks: dict[int, CanonicalBlock] = {each.block.number: each.block for each in work[most:]}
    return Portions(
        portions=portions or [replace(observation, transfers=(), seen=seen)],
        put_off=(*(Doubt(block=each, told_by=HINT) for each in blocks.values()), *observation.put_off),
    )


def _leave_contradictions_out(transfers: Sequence[Transfer]) -> list[Transfer]:
    """Leave out what is said of a place by who was heard later, and says something else; he is asked again."""
    first: dict[TransferKey, Transfer] = {}
    return [each for each in transfers if moves_the_same(first.setdefault(get_key(each), each), each)]


def _sort(transfers: Sequence[Transfer]) -> tuple[Transfer, ...]:
    """Return transfers as they came about: what is given back is looked for behind what was put in."""
    return tuple(sorted(transfers, key=lambda each: (each.block.number, each.tx_hash, each.log_index)))


def _choose_work(
    session: Session, observation: ChainObservation, transfers: Sequence[Transfer]
) -> tuple[list[Transfer], Sequence[int]]:
    """Return the transfers that are to be written, and the rows of what their transactions have moved no more.

    What is written as it was seen, and names nothing new, is left out; so are deposits that are nobody's. So whatever
    was put off is less each time.
    """
    blocks = {each.tx_hash: each.block.hash for each in transfers}
    known = _load_known(session, observation, list(blocks))
    keys = set(map(get_key, transfers))
    vanished = [
        row.id for key, row in known.items() if key not in keys and row.block_hash not in (None, blocks[row.tx_hash])
    ]
    found = match_transfers(session, observation.env_mode, transfers, observation.recipients)
    matches = {get_key(each.transfer): each for each in found}
    proofs = observation.proofs
    return [each for each in transfers if _is_work(each, known.get(get_key(each)), matches, proofs)], vanished


def _is_work(
    transfer: Transfer,
    row: Payment | None,
    matches: Mapping[TransferKey, Match],
    proofs: Mapping[TransferKey, Proof],
) -> bool:
    match = matches.get(get_key(transfer))
    is_named = match is not None and match.evidence != Evidence.NONE
    if row is None:
        return is_named or (match is not None and transfer.kind != TransferKind.DEPOSIT)
    if not tells_the_same(row, transfer):
        return takes_the_place(row, transfer, proofs)
    return row.block_hash != transfer.block.hash or (row.order_id is None and is_named)


def _load_known(
    session: Session, observation: ChainObservation, hashes: Sequence[str]
) -> Mapping[TransferKey, Payment]:
    query = select(Payment).where(Payment.chain_id == observation.chain_id, Payment.env_mode == observation.env_mode)
    return {
        (row.tx_hash, row.log_index): row
        for part in split_into_portions(hashes, AT_ONCE)
        for row in session.scalars(query.where(Payment.tx_hash.in_(part)))
    }


def _list_checked(session: Session, observation: ChainObservation) -> Sequence[int]:
    """Return the rows of payments that are checked now: the first of each transaction, then the second of each.

    Of one transaction's those come first that were not checked for longest.
    """
    if not observation.canonical and observation.ends_at is None:
        return ()
    rows = _UNSETTLED.fetch(session, {"env_mode": observation.env_mode, "chain_id": observation.chain_id})
    end = observation.ends_at
    due = [
        row
        for row in rows
        if row.block_number in observation.canonical or (end is not None and (row.block_number or 0) > end)
    ]
    return [row.id for row in take_turns(due, lambda row: str(row.tx_hash))]


_UNSETTLED = Statement(
    select(Payment.id, Payment.tx_hash, Payment.block_number)
    .where(
        or_(*(Payment.state == each for each in sorted(CHECKED))),
        Payment.chain_id == bindparam("chain_id", type_=Payment.chain_id.type),
        Payment.env_mode == bindparam("env_mode", type_=Payment.env_mode.type),
    )
    .order_by(Payment.updated_at, Payment.id)
)

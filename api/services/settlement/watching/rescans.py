"""Read blocks again that were read before: for an operator who does not trust what was said of them then."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from api.domain.audit import AuditAction, Change
from api.domain.env import EnvMode
from api.domain.errors import InvalidData, ServiceUnavailable
from api.domain.ledger import ChainUnavailable, Doubt, Ledger
from api.services.audit import record_change
from api.services.ledger.chain_reader import HINT
from api.services.resources import Resources
from api.services.settlement.watching.second_looks import credit_again
from api.services.settlement.watching.watched_chain import WatchedChain, open_chain
from api.storage.tables import Payment, WatchCursor

RETRY_AFTER_S = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescanned:
    """Blocks that were read again: how many transfers they hold, and the transactions of payments that were new.

    `doubtful` is how many of the blocks neither their receipts nor another endpoint could settle; the worker goes on
    trying.
    """

    first: int
    last: int
    transfers: int
    found: tuple[str, ...]
    doubtful: int


def rescan(resources: Resources, env_mode: EnvMode, chain_id: int, first: int, last: int) -> Iterator[Rescanned]:
    """Read these blocks again, piece by piece, and credit what is missing; the worker may run beside it.

    Raises
    ------
    InvalidData
        If the chain is not connected, or the worker has not read so far yet.
    ServiceUnavailable
        If the chain can't be read just now.
    """
    chain, reached = _open(resources, env_mode, chain_id)
    if first < 0 or first > last:
        raise InvalidData.at("from", f"Must be at least 0 and at most --to, which is {last}")
    if last > reached:
        raise InvalidData.at("to", f"The worker has read chain {chain_id} up to block {reached}; use at most that")
    _record_begin(resources, (env_mode, chain_id), {"first": first, "last": last})
    for start in range(first, last + 1, chain.ledger.span):
        chain, _ = _open(resources, env_mode, chain_id)  # a look of its own, with all that a look may spend
        yield _read_again(chain, start, min(last, start + chain.ledger.span - 1))


def rescan_transaction(resources: Resources, env_mode: EnvMode, chain_id: int, tx_hash: str) -> Rescanned:
    """Read the block of a transaction again, whatever the transaction looks like.

    Raises
    ------
    InvalidData
        If the chain is not connected, does not know the transaction, or was not read so far yet.
    ServiceUnavailable
        If the chain can't be read just now.
    """
    chain, reached = _open(resources, env_mode, chain_id)
    try:
        place = chain.ledger.find_places(chain_id, [tx_hash], chain.watched).get(tx_hash)
    except ChainUnavailable as fault:
        raise ServiceUnavailable(str(fault), retry_after_s=RETRY_AFTER_S) from fault
    if place is None:
        raise InvalidData.at("tx", f"Chain {chain_id} has no such transaction in a block")
    if place.block.number > reached:
        raise InvalidData.at("tx", f"It is in block {place.block.number}, and the worker has only read up to {reached}")
    _record_begin(resources, (env_mode, chain_id), {"transaction_hash": tx_hash, "first": place.block.number})
    return _read_again(chain, place.block.number, place.block.number, Doubt(block=place.block, told_by=HINT))


def _record_begin(resources: Resources, place: tuple[EnvMode, int], what: Mapping[str, Any]) -> None:
    """Write down what is about to be read again; what is found stands in the payments themselves."""
    env_mode, chain_id = place
    begun = Change(action=AuditAction.BLOCKS_RESCANNED, subject=f"chain {chain_id}", env_mode=env_mode, after=what)
    with resources.database.write() as session:
        record_change(session, begun, resources.clock.now())


def _open(resources: Resources, env_mode: EnvMode, chain_id: int) -> tuple[WatchedChain, int]:
    ledger = resources.ledgers.get(env_mode)
    if ledger is None or chain_id not in ledger.chain_ids:
        known = ", ".join(map(str, sorted(ledger.chain_ids))) if ledger is not None else "none"
        raise InvalidData.at("chain", f"Chain {chain_id} is not connected in {env_mode}; connected are: {known}")
    with resources.database.read() as session:
        cursor = session.get(WatchCursor, (env_mode, chain_id))
    if cursor is None:
        raise InvalidData.at("chain", f"The worker has not read chain {chain_id} yet; start it first")
    return _open_chain(resources, env_mode, ledger, chain_id), cursor.block_number


def _open_chain(resources: Resources, env_mode: EnvMode, ledger: Ledger, chain_id: int) -> WatchedChain:
    try:
        return open_chain(resources, env_mode, ledger, chain_id)
    except ChainUnavailable as fault:
        raise ServiceUnavailable(str(fault), retry_after_s=RETRY_AFTER_S) from fault


def _read_again(chain: WatchedChain, first: int, last: int, *doubts: Doubt) -> Rescanned:
    try:
        reading = chain.ledger.read(chain.chain_id, first, last, chain.watched)
        asked = {each.block.number: each for each in (*reading.doubts, *reading.put_off, *doubts)}
        settlement = chain.ledger.settle(chain.chain_id, list(asked.values()), chain.watched)
        transfers = (*reading.transfers, *settlement.transfers)
        before = _list_payments(chain, first, last)
        left = [doubt for number, doubt in asked.items() if number not in settlement.settled]
        credit_again(chain, transfers, left)
    except ChainUnavailable as fault:
        raise ServiceUnavailable(f"{fault}; blocks below {first} were read", retry_after_s=RETRY_AFTER_S) from fault
    found = sorted(_list_payments(chain, first, last) - before)
    return Rescanned(
        first=first,
        last=last,
        transfers=len({(each.tx_hash, each.log_index) for each in transfers}),
        found=tuple(dict.fromkeys(tx_hash for tx_hash, _ in found)),
        doubtful=len(left),
    )


def _list_payments(chain: WatchedChain, first: int, last: int) -> set[tuple[str, str]]:
    query = select(Payment.tx_hash, Payment.public_id).where(
        Payment.env_mode == chain.env_mode,
        Payment.chain_id == chain.chain_id,
        Payment.block_number.between(first, last),
    )
    with chain.resources.database.read() as session:
        return {(row[0], row[1]) for row in session.execute(query)}

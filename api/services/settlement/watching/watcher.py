"""Watch the chains for payments: each chain is read once a run, however many orders are open.

A run asks which blocks of the payments it still checks are canonical, reads the transfers of the blocks that are new,
and writes what follows in one transaction. It remembers nothing outside the tables: if it crashes half-way, or runs
twice at once, the next run does what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

import structlog
from sqlalchemy import bindparam, func, or_, select

from api.domain.env import EnvMode
from api.domain.ledger import ChainUnavailable, Ledger, Proof, Reading
from api.domain.transfers import CanonicalBlock, Transfer, TransferKey, get_key, moves_the_same
from api.services.resources import Resources
from api.services.settlement.crediting.unproven import list_unproven
from api.services.settlement.watching.at_once import run_at_once
from api.services.settlement.watching.awaited_deliveries import awaits_delivery
from api.services.settlement.watching.checked_blocks import list_due_and_checked
from api.services.settlement.watching.doubtful_blocks import note_doubts
from api.services.settlement.watching.hints import add_hint
from api.services.settlement.watching.progress import Progress
from api.services.settlement.watching.second_looks import look_again
from api.services.settlement.watching.stillness import list_still
from api.services.settlement.watching.watched_chain import (
    CURSOR_EVERY,
    ChainGroup,
    WatchedChain,
    build_open_conditions,
    list_groups,
    observe_chain,
    open_chain,
)
from api.services.settlement.watching.writing import credit_all
from api.storage.statements import Statement
from api.storage.tables import OwnedAddress, PaymentOrder, WatchCursor

WATCH_S = 60
"""How long `watch` waits for chains that hang."""

BEHIND_FOR = timedelta(minutes=2)
"""How long a chain may be shorter than what was read of it: then somebody told of blocks that it does not have."""

MOST_PIECES = 50
"""How far one run reads on a chain that is behind, before the other chains have their turn again."""
FRESH = timedelta(hours=1)
"""On a chain that was never read, orders of this age count whatever their status, and addresses of this age."""
NEXT_LOOK = timedelta(seconds=1)
"""When what a look had no time for goes on."""
CLOCKS_APART = timedelta(minutes=15)
"""How far a chain's time may lie behind this machine's: blocks are found by theirs, orders and addresses have ours."""

log = structlog.get_logger(__name__)


def watch(resources: Resources) -> None:
    """Look at every chain of every environment once, all at the same time; one that can't be read is left out.

    Waits for all of them, but not forever for one that hangs. What a look raises beyond that is raised here.
    """

    def look_at(group: ChainGroup) -> None:
        ledger = resources.ledgers[group.env_mode]
        still = list_still(resources, group.env_mode, ledger, group.chain_ids)
        for chain_id in group.chain_ids:
            if chain_id not in still:
                look(resources, group.env_mode, ledger, chain_id, Progress())

    run_at_once([partial(look_at, each) for each in list_groups(resources.ledgers)], WATCH_S)


def look(resources: Resources, env_mode: EnvMode, ledger: Ledger, chain_id: int, progress: Progress) -> bool:
    """Look at one chain once; return whether it could be read."""
    try:
        _watch_chain(open_chain(resources, env_mode, ledger, chain_id), progress)
    except BaseException as fault:
        ledger.forget_read(chain_id)  # what was read just now may not have been written
        if not isinstance(fault, ChainUnavailable):
            raise
        if progress.note_failure(str(fault)):
            log.warning("chain_unavailable", env_mode=env_mode, chain_id=chain_id, reason=str(fault))
        return False
    progress.note_success()
    return True


def _watch_chain(chain: WatchedChain, progress: Progress) -> None:
    key = {"env_mode": chain.env_mode, "chain_id": chain.chain_id}
    with chain.resources.database.look() as connection:
        cursor = next(iter(_CURSOR.fetch(connection, key)), None)
        due, checked = list_due_and_checked(chain, connection)
    first = _find_first_unknown(chain) if cursor is None else 0
    if cursor is not None:
        number, block_hash = progress.since((cursor.block_number, cursor.block_hash))
        if chain.head.block.number < number and chain.resources.clock.now() - cursor.updated_at < BEHIND_FOR:
            return  # a node that is behind; what it does not know yet says nothing
        canonical = chain.ledger.read_blocks(chain.chain_id, due | {number})
        if number in canonical and canonical[number].hash == block_hash:
            first = number + 1
        else:
            log.info("chain_reorganised", chain_id=chain.chain_id, block_number=number)
            if chain.head.block.number < number:
                _forget_blocks_beyond(chain, number)
            first = min(cursor.final_number, _find_final(chain, cursor.final_number)) + 1
            canonical = chain.ledger.read_blocks(chain.chain_id, checked)
    else:
        canonical = chain.ledger.read_blocks(chain.chain_id, checked)
    is_quiet = cursor is not None and not checked and chain.resources.clock.now() - cursor.updated_at < CURSOR_EVERY
    proofs, others = ({}, ()) if checked.isdisjoint(canonical) else _prove(chain, canonical)
    settled = _find_final(chain, first - 1 if cursor is None else cursor.final_number)
    for reached, found in _read(chain, first):
        reading = replace(found, transfers=(*others, *found.transfers))
        has_found = bool(reading.transfers or reading.doubts or reading.untraced or reading.put_off)
        is_written = has_found or not is_quiet
        is_put_off = is_written and _write(chain, canonical, reading, reached, proofs, settled)
        progress.note(reached, chain.head.block, is_written=is_written, has_found=bool(reading.transfers))
        canonical, proofs, others = {}, {}, ()
        if reading.put_off or is_put_off:
            break  # this look has spent what it has; the next one begins at once
    look_again(chain)


def _find_final(chain: WatchedChain, last: int) -> int:
    """Return up to which block the chain is final, or `last` while its endpoints can't agree on it."""
    return last if chain.head.final_number is None else chain.head.final_number


def _forget_blocks_beyond(chain: WatchedChain, number: int) -> None:
    """Take the chain to be as long as it says it is, after blocks up to `number` have been read that it has not.

    What was paid in them counts no more, until it is mined again.
    """
    head = chain.head.block.number
    log.warning("chain_is_shorter", env_mode=chain.env_mode, chain_id=chain.chain_id, block_number=number, head=head)
    with credit_all(chain, observe_chain(chain, (), ends_at=head)) as written:
        written.cursor.head_number = head


def _find_first_unknown(chain: WatchedChain) -> int:
    """Return where to begin on a chain that was never read.

    That is when the oldest order that may have been paid was made, or an address of the last hour was registered:
    whatever reached it since then is somebody's money, also without an order.
    """
    fresh = chain.resources.clock.now() - FRESH
    ordered = select(func.min(PaymentOrder.created_at)).where(
        PaymentOrder.env_mode == chain.env_mode,
        or_(*build_open_conditions(chain.resources), PaymentOrder.created_at >= fresh),
    )
    registered = select(func.min(OwnedAddress.created_at)).where(
        OwnedAddress.env_mode == chain.env_mode,
        OwnedAddress.chain_id == chain.chain_id,
        OwnedAddress.created_at >= fresh,
    )
    with chain.resources.database.read() as session:
        since = [moment for query in (ordered, registered) if (moment := session.scalar(query)) is not None]
    head = chain.head.block.number
    return min(head, chain.ledger.find_block_at(chain.chain_id, min(since) - CLOCKS_APART)) if since else head


def _read(chain: WatchedChain, first: int) -> Iterator[tuple[CanonicalBlock, Reading]]:
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
        reached = head if last == head.number else chain.ledger.read_blocks(chain.chain_id, [last]).get(last)
        if reached is None:
            raise ChainUnavailable(f"block {last} is gone")
        yield reached, chain.ledger.read(chain.chain_id, first, last, chain.watched)
        first = last + 1


def _prove(
    chain: WatchedChain, canonical: Mapping[int, CanonicalBlock]
) -> tuple[Mapping[TransferKey, Proof], Sequence[Transfer]]:
    """Look for proofs of the payments whose blocks are checked now; return those, and what lies there instead."""
    endpoints = chain.ledger.count_endpoints(chain.chain_id)
    with chain.resources.database.read() as session:
        asked = list_unproven(session, chain.env_mode, chain.chain_id, endpoints, canonical) if canonical else ()
    proofs = chain.ledger.prove(chain.chain_id, asked, chain.watched) if asked else {}
    certain = {key: each.transfer for key, each in proofs.items() if each.transfer is not None and each.is_certain}
    there = [(each, certain.get(get_key(each), each)) for each in asked]
    return proofs, [found for each, found in there if not moves_the_same(found, each)]


def _write(
    chain: WatchedChain,
    canonical: Mapping[int, CanonicalBlock],
    reading: Reading,
    reached: CanonicalBlock,
    proofs: Mapping[TransferKey, Proof],
    settled: int,
) -> bool:
    """Write what a reading holds; return whether some of it was put off."""
    observation = observe_chain(chain, reading.transfers, canonical=canonical, proofs=proofs)
    now, final = chain.resources.clock.now(), min(reached.number, settled)
    can_trace = chain.ledger.can_trace(chain.chain_id)
    with credit_all(chain, observation) as written:
        session, cursor = written.session, written.cursor
        note_doubts(session, chain.env_mode, chain.chain_id, reading.doubts, now)
        later = (*reading.put_off, *written.put_off, *written.in_vain)
        note_doubts(session, chain.env_mode, chain.chain_id, later, now, NEXT_LOOK)
        for tx_hash in reading.untraced:
            add_hint(session, chain.env_mode, chain.chain_id, tx_hash, now, is_untraced=True)
        refuted = {key[0] for key, each in proofs.items() if each.is_refuted}
        for tx_hash in refuted:  # it may lie in a block that was read
            add_hint(session, chain.env_mode, chain.chain_id, tx_hash, now)
        session.flush()
        if not cursor.block_hash or not awaits_delivery(session, chain.env_mode, chain.chain_id, now):
            cursor.reread_number = max(cursor.reread_number, final)
        cursor.block_number, cursor.block_hash, cursor.mined_at = reached.number, reached.hash, reached.mined_at
        cursor.head_number = max(cursor.head_number, chain.head.block.number)
        cursor.final_number, cursor.can_trace, cursor.updated_at = final, can_trace, now
    if refuted:
        chain.ledger.forget_read(chain.chain_id)
    return bool(written.put_off)


_CURSOR = Statement(
    select(*WatchCursor.__table__.columns).where(
        WatchCursor.env_mode == bindparam("env_mode", type_=WatchCursor.env_mode.type),
        WatchCursor.chain_id == bindparam("chain_id", type_=WatchCursor.chain_id.type),
    )
)

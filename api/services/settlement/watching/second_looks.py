"""Looks at blocks that were read before: in doubt, hinted at, or final while a delivery is awaited."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from api.domain.ledger import Doubt
from api.domain.transfers import Transfer
from api.services.settlement.watching.awaited_deliveries import awaits_delivery
from api.services.settlement.watching.doubtful_blocks import (
    close_doubts,
    find_oldest_doubt,
    list_due_doubts,
    note_doubts,
)
from api.services.settlement.watching.hints import add_hint, follow_hints, list_due_hints
from api.services.settlement.watching.watched_chain import WatchedChain, hold_cursor, observe_chain
from api.services.settlement.watching.writing import credit_all
from api.storage.tables import WatchCursor

REREAD_SPAN = 500
"""Blocks in one search of their events."""
MOST_SEARCHES = 50


def look_again(chain: WatchedChain) -> None:
    """Do whatever is due of all that; on a chain on which nothing happens that is asked in one go."""
    now, key = chain.resources.clock.now(), (chain.env_mode, chain.chain_id)
    with chain.resources.database.look() as connection:
        doubts = list_due_doubts(connection, *key, now)
        hints = list_due_hints(connection, *key, now)
        is_awaited = awaits_delivery(connection, *key, now)
    if doubts:
        _settle_doubts(chain, doubts)
    if hints:
        _follow_reports(chain, hints)
    if is_awaited:
        _read_again(chain)


def _settle_doubts(chain: WatchedChain, asked: Sequence[Doubt]) -> None:
    """Find out what doubtful blocks hold, and credit what was passed over."""
    now, key = chain.resources.clock.now(), (chain.env_mode, chain.chain_id)
    settlement = chain.ledger.settle(chain.chain_id, asked, chain.watched)
    observation = observe_chain(chain, settlement.transfers)
    with credit_all(chain, observation) as written:
        put_off = {each.block.number for each in written.put_off}
        in_vain = {each.block.number for each in written.in_vain}
        settled, later = settlement.settled - put_off - in_vain, (settlement.put_off | put_off) - in_vain
        close_doubts(written.session, *key, asked, replace(settlement, settled=settled, put_off=later), now)
        for tx_hash in settlement.untraced:
            add_hint(written.session, *key, tx_hash, now, is_untraced=True)


def _follow_reports(chain: WatchedChain, asked: Sequence[str]) -> None:
    """Look where wallets say that they paid, and list the blocks in which that was passed over."""
    now, key = chain.resources.clock.now(), (chain.env_mode, chain.chain_id)
    places = chain.ledger.find_places(chain.chain_id, asked, chain.watched)
    with chain.resources.database.write() as session:
        reached = hold_cursor(chain, session).block_number
        follow_hints(session, *key, asked, places, reached, now)


def _read_again(chain: WatchedChain) -> None:
    """Search what became final once more while deliveries are awaited here, up to the first block that is in doubt.

    Only then a deposit's deadline has passed for certain.
    """
    now, key = chain.resources.clock.now(), (chain.env_mode, chain.chain_id)
    with chain.resources.database.read() as session:
        cursor = session.get(WatchCursor, key)
        oldest = find_oldest_doubt(session, *key)
        if cursor is None or not awaits_delivery(session, *key, now):
            return  # what was due before this has settled it
    if chain.head.final_number is None:
        return
    last = min(chain.head.final_number, cursor.block_number, *([] if oldest is None else [oldest - 1]))
    span = max(chain.ledger.span, REREAD_SPAN)
    for first in range(cursor.reread_number + 1, last + 1, span)[:MOST_SEARCHES]:
        final = min(last, first + span - 1)
        found = chain.ledger.search(chain.chain_id, first, final, chain.watched)
        block = chain.ledger.read_blocks(chain.chain_id, [final])[final]
        observation = observe_chain(chain, found, reached_at=block.mined_at)
        with credit_all(chain, observation) as written:
            left = (*written.put_off, *written.in_vain)
            note_doubts(written.session, *key, left, now, timedelta(0))
            if not left:
                written.cursor.reread_number = max(written.cursor.reread_number, final)
        if left:
            return


def credit_again(chain: WatchedChain, transfers: tuple[Transfer, ...], doubts: Sequence[Doubt]) -> None:
    """Credit what blocks hold that were read before, and list those that are in doubt; the cursor stays."""
    observation, now = observe_chain(chain, transfers), chain.resources.clock.now()
    with credit_all(chain, observation) as written:
        note_doubts(written.session, chain.env_mode, chain.chain_id, (*doubts, *written.put_off, *written.in_vain), now)

"""One chain in one look: what is watched on it, and its cursor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy import ColumnElement, and_, bindparam, select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.ledger import Head, Ledger, Proof
from api.domain.orders import LATE_WINDOW, OrderStatus
from api.domain.payments import PaymentState
from api.domain.transfers import CanonicalBlock, Transfer, TransferKey, get_key
from api.domain.watched import Watched
from api.services.ledger.chain_blocks import split_into_portions
from api.services.resources import Resources
from api.services.settlement.crediting.observation import ChainObservation
from api.services.settlement.crediting.settled_tokens import leave_strange_tokens_out
from api.services.settlement.watching.awaited_back import list_awaited_refunds, list_awaited_returns
from api.services.settlement.watching.screened_people import screen_people
from api.services.vendors.owned_addresses import load_recipients
from api.storage.db import insert_new
from api.storage.tables import Payment, PaymentOrder, WatchCursor

CURSOR_EVERY = timedelta(seconds=10)
"""How long a chain on which nothing happens keeps its old cursor; another process would read the blocks since again."""
ENOUGH_TO_COMPARE = 2
"""Endpoints of a chain; one alone has nobody to contradict it."""
HASHES_AT_ONCE = 5_000
"""Transactions in one question to the database: no driver takes more than 65,535 values."""
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedChain:
    """One chain in one run.

    Parameters
    ----------
    watched : Watched
        Its recipients are every address at which a vendor of the environment may receive, its removed accounts' and
        those of other chains included: a payment on the wrong chain is found too.
    """

    resources: Resources
    ledger: Ledger
    env_mode: EnvMode
    chain_id: int
    head: Head
    watched: Watched


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainGroup:
    """What one task looks at: a chain, or the simulated ones, which can't hang, in turn; `name` is the share's."""

    env_mode: EnvMode
    chain_ids: tuple[int, ...]
    name: str


def list_groups(ledgers: Mapping[EnvMode, Ledger]) -> tuple[ChainGroup, ...]:
    """Return all chains as they are watched."""
    groups = []
    for env_mode, ledger in ledgers.items():
        chain_ids = tuple(sorted(ledger.chain_ids))
        if ledger.is_simulated:
            groups.append(ChainGroup(env_mode=env_mode, chain_ids=chain_ids, name=env_mode))
        else:
            groups += [
                ChainGroup(env_mode=env_mode, chain_ids=(each,), name=f"{env_mode}/{each}") for each in chain_ids
            ]
    return tuple(groups)


def open_chain(resources: Resources, env_mode: EnvMode, ledger: Ledger, chain_id: int) -> WatchedChain:
    """Return a chain as it is now.

    Raises
    ------
    ChainUnavailable
        If it can't be read just now.
    """
    head = ledger.read_head(chain_id)
    with resources.database.look() as connection:
        return WatchedChain(
            resources=resources,
            ledger=ledger,
            env_mode=env_mode,
            chain_id=chain_id,
            head=head,
            watched=Watched(
                recipients=load_recipients(connection, env_mode, [chain_id])[chain_id],
                refunds=list_awaited_refunds(connection, env_mode, chain_id),
                returns=list_awaited_returns(connection, env_mode, chain_id, resources.clock.now()),
            ),
        )


def observe_chain(
    chain: WatchedChain,
    transfers: tuple[Transfer, ...],
    *,
    canonical: Mapping[int, CanonicalBlock] | None = None,
    proofs: Mapping[TransferKey, Proof] | None = None,
    reached_at: datetime | None = None,
    ends_at: int | None = None,
) -> ChainObservation:
    """Return what a look has shown, with its people screened; see `ChainObservation`.

    What means nothing is left out, so that nobody is asked about it, and nothing that is written waits for it; so is
    what one endpoint alone says of a payment that was final.
    """
    transfers = leave_strange_tokens_out(chain.resources.database, chain.env_mode, transfers, chain.watched)
    transfers = _leave_hearsay_out(chain, transfers)
    seen = ChainObservation(
        env_mode=chain.env_mode,
        chain_id=chain.chain_id,
        head=chain.head,
        canonical=canonical or {},
        transfers=transfers,
        reached_at=reached_at,
        recipients=chain.watched.recipients,
        proofs=proofs or {},
        endpoints={each: chain.ledger.count_endpoints(each) for each in chain.ledger.chain_ids},
        ends_at=ends_at,
    )
    return screen_people(chain.resources, seen)


def _leave_hearsay_out(chain: WatchedChain, transfers: tuple[Transfer, ...]) -> tuple[Transfer, ...]:
    """Leave out what is said to lie elsewhere than where it was seen, unless two endpoints say so now.

    A transaction is in one block. So one of the two words is a lie while the chain has the former block still; and
    where several endpoints had it final, it hardly ever takes that back.
    """
    if not transfers or chain.ledger.count_endpoints(chain.chain_id) < ENOUGH_TO_COMPARE:
        return transfers
    hashes = sorted({each.tx_hash for each in transfers})
    query = select(Payment.tx_hash, Payment.block_number, Payment.block_hash, Payment.state).where(
        Payment.block_hash.is_not(None), Payment.chain_id == chain.chain_id, Payment.env_mode == chain.env_mode
    )
    with chain.resources.database.read() as session:
        rows = [
            row
            for part in split_into_portions(hashes, HASHES_AT_ONCE)
            for row in session.execute(query.where(Payment.tx_hash.in_(part)))
        ]
    places = {row.tx_hash: row for row in rows}
    moved = [
        each for each in transfers if each.tx_hash in places and each.block.hash != places[each.tx_hash].block_hash
    ]
    numbers = {places[each.tx_hash].block_number for each in moved if places[each.tx_hash].state != PaymentState.FINAL}
    there = chain.ledger.read_blocks(chain.chain_id, numbers) if numbers else {}
    standing = {
        row.tx_hash
        for row in (places[each.tx_hash] for each in moved)
        if row.state == PaymentState.FINAL or _is_there(row.block_hash, there.get(row.block_number))
    }
    asked = [each for each in moved if each.tx_hash in standing]
    proofs = chain.ledger.prove(chain.chain_id, asked, chain.watched) if asked else {}
    hearsay = {each for each in asked if not proofs.get(get_key(each), Proof()).has_second_opinion}
    for tx_hash in sorted({each.tx_hash for each in hearsay}):
        log.warning("payment_said_elsewhere", chain_id=chain.chain_id, tx_hash=tx_hash)
    return tuple(each for each in transfers if each not in hearsay)


def _is_there(block_hash: str, block: CanonicalBlock | None) -> bool:
    return block is not None and block.hash == block_hash


def hold_cursor(chain: WatchedChain, session: Session) -> WatchCursor:
    """Lock the chain's cursor, so that two workers write one after the other."""
    key = {"env_mode": chain.env_mode, "chain_id": chain.chain_id}
    cursor = session.scalar(_HELD, key)
    if cursor is not None:
        return cursor
    block, now = chain.head.block, chain.resources.clock.now()
    start = {"block_number": 0, "block_hash": "", "final_number": 0, "mined_at": block.mined_at, "updated_at": now}
    insert_new(session, WatchCursor, key | start)
    return session.scalars(_HELD, key).one()


def build_open_conditions(resources: Resources) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return what holds for orders that wait for a payment, and for those that still take a late one."""
    late = resources.clock.now() - LATE_WINDOW
    return (
        PaymentOrder.status.in_([OrderStatus.CREATED, OrderStatus.PROCESSING]),
        and_(PaymentOrder.status == OrderStatus.EXPIRED, PaymentOrder.expires_at >= late),
    )


_HELD = (
    select(WatchCursor)
    .where(WatchCursor.env_mode == bindparam("env_mode"), WatchCursor.chain_id == bindparam("chain_id"))
    .with_for_update()
    .execution_options(populate_existing=True)
)

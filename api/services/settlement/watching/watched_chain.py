"""One chain in one look: what is watched on it, and its cursor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from sqlalchemy import ColumnElement, and_, select
from sqlalchemy.orm import Session

from api.domain.env import EnvMode
from api.domain.ledger import ChainUnavailable, Head, Ledger, Proof
from api.domain.orders import LATE_WINDOW, OrderStatus
from api.domain.transfers import CanonicalBlock, Transfer, TransferKey, list_people
from api.domain.watched import Watched
from api.services.resources import Resources
from api.services.settlement.crediting.observation import ChainObservation
from api.services.settlement.watching.awaited_back import list_awaited_refunds, list_awaited_returns
from api.services.vendors.owned_addresses import load_recipients
from api.storage.db import insert_new
from api.storage.tables import PaymentOrder, WatchCursor

CURSOR_EVERY = timedelta(seconds=10)
"""How long a chain on which nothing happens keeps its old cursor; another process would read the blocks since again."""
LONG_AGO = datetime.fromtimestamp(0, UTC)
"""What has been read so far rules nothing out: deadlines have passed only where final blocks were read again."""


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
    reached_at: datetime = LONG_AGO,
    ends_at: int | None = None,
) -> ChainObservation:
    """Return what a look has shown, with its senders screened; see `ChainObservation`."""
    return ChainObservation(
        env_mode=chain.env_mode,
        chain_id=chain.chain_id,
        head=chain.head,
        canonical=canonical or {},
        transfers=transfers,
        reached_at=reached_at,
        recipients=chain.watched.recipients,
        rejected=_screen_senders(
            chain, (*transfers, *(each.transfer for each in (proofs or {}).values() if each.transfer))
        ),
        proofs=proofs or {},
        endpoints={each: chain.ledger.count_endpoints(each) for each in chain.ledger.chain_ids},
        ends_at=ends_at,
    )


def _screen_senders(chain: WatchedChain, transfers: tuple[Transfer, ...]) -> frozenset[str]:
    """Return the senders from whom nothing must be taken; without an answer the blocks are read again later."""
    senders = frozenset(each for row in transfers for each in list_people(row))
    try:
        return frozenset(chain.resources.screen(senders)) if senders else frozenset()
    except Exception as fault:  # a stranger's code: whatever goes wrong in it, no payment is taken unchecked
        raise ChainUnavailable(f"screening does not answer: {fault!r}") from fault


def hold_cursor(chain: WatchedChain, session: Session) -> WatchCursor:
    """Lock the chain's cursor, so that two workers write one after the other."""
    key = {"env_mode": chain.env_mode, "chain_id": chain.chain_id}
    query = select(WatchCursor).filter_by(**key).with_for_update().execution_options(populate_existing=True)
    cursor = session.scalar(query)
    if cursor is not None:
        return cursor
    block, now = chain.head.block, chain.resources.clock.now()
    start = {"block_number": 0, "block_hash": "", "final_number": 0, "mined_at": block.mined_at, "updated_at": now}
    insert_new(session, WatchCursor, key | start)
    return session.scalars(query).one()


def build_open_conditions(resources: Resources) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    """Return what holds for orders that wait for a payment, and for those that still take a late one."""
    late = resources.clock.now() - LATE_WINDOW
    return (
        PaymentOrder.status.in_([OrderStatus.CREATED, OrderStatus.PROCESSING]),
        and_(PaymentOrder.status == OrderStatus.EXPIRED, PaymentOrder.expires_at >= late),
    )

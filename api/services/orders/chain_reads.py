"""Which chains nobody reads just now: whoever pays there would learn nothing of it, and neither would the merchant."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import select

from api.domain.env import EnvMode
from api.services.resources import Resources
from api.storage.statements import Place, Statement
from api.storage.tables import PaymentOrder, WatchCursor

UNSEEN_AFTER = timedelta(minutes=3)
"""How long a chain may not have been read before nobody is sent there: a worker that is replaced takes seconds."""

_CURSOR, _ORDER = WatchCursor.__table__.c, PaymentOrder.__table__.c
SETTLEMENT_READ_AT = (
    select(_CURSOR.updated_at)
    .where(_CURSOR.env_mode == _ORDER.env_mode, _CURSOR.chain_id == _ORDER.settlement_chain_id)
    .correlate(PaymentOrder.__table__)
    .scalar_subquery()
    .label("settlement_read_at")
)
"""When the chain was read last on which an order's merchant receives."""
_READS = Statement(select(_CURSOR.env_mode, _CURSOR.chain_id, _CURSOR.updated_at))


def load_reads(place: Place) -> Mapping[tuple[str, int | None], datetime]:
    """Return when each chain was read last, up to its head or on the way there, by environment and chain id."""
    return {(row.env_mode, row.chain_id): row.updated_at for row in _READS.fetch(place)}


def is_unread(resources: Resources, env_mode: EnvMode, read_at: datetime | None, waiting_since: datetime) -> bool:
    """Say whether a chain has not been read for long; one that never was, since an order began to wait for it.

    The simulated chains are tables, which are there as long as the database is.
    """
    if resources.is_simulated(env_mode):
        return False
    return resources.clock.now() - (read_at or waiting_since) > UNSEEN_AFTER


def list_unread(resources: Resources, env_mode: EnvMode, waiting_since: datetime) -> frozenset[int]:
    """Return the chains of an environment that have not been read for long; see `is_unread`."""
    ledger = resources.ledgers.get(env_mode)
    if ledger is None or ledger.is_simulated:
        return frozenset()
    with resources.database.look() as place:
        reads = load_reads(place)
    return frozenset(
        each for each in ledger.chain_ids if is_unread(resources, env_mode, reads.get((env_mode, each)), waiting_since)
    )

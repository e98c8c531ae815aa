"""What a worker's first look leaves of simulated chains on which nothing has happened: at a moment always the same."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import insert, select, union

from api.domain.env import EnvMode
from api.services.resources import Resources
from api.services.settlement.watching.watcher import watch
from api.services.simulator.ledger import SimulatedLedger
from api.storage.base import Base
from api.storage.statements import Statement
from api.storage.tables import (
    DoubtfulBlock,
    PaymentHint,
    SimulatedChain,
    SimulatedReorg,
    SimulatedTransfer,
    WatchCursor,
)

LEFT: tuple[type[Base], ...] = (SimulatedChain, WatchCursor)
"""Where a look at a chain leaves a row."""
_WRITTEN: dict[tuple[datetime, int], dict[type[Base], dict[str, Any]]] = {}
"""Those rows, by the moment of the look and the chain."""
_TOUCHED = Statement(
    union(*(select(each.chain_id) for each in (*LEFT, SimulatedTransfer, SimulatedReorg, PaymentHint, DoubtfulBlock)))
)


def watch_what_moves(resources: Resources) -> None:
    """Let the worker look, as `watch` does, but at no quiet chain that it has looked at first at this very moment.

    Most tests begin at the same moment and pay on one of five chains. A first look at the others takes as long as all
    else that such a test does, and leaves what it left before: that is written again. A chain on which anything has
    moved, is to move or was reported is looked at.
    """
    now, quiet = resources.clock.now(), _list_quiet(resources)
    _write_again([_WRITTEN[now, each] for each in quiet if (now, each) in _WRITTEN], resources)
    watch(resources)
    _write_down([each for each in quiet if (now, each) not in _WRITTEN], resources, now)


def _list_quiet(resources: Resources) -> frozenset[int]:
    """Return the simulated chains that were never looked at, and on which there is nothing to be seen."""
    ledger = resources.ledgers.get(EnvMode.TEST)
    if type(ledger) is not SimulatedLedger:
        return frozenset()
    with resources.database.look() as connection:
        return ledger.chain_ids - {row.chain_id for row in _TOUCHED.fetch(connection, {})}


def _write_again(rows: Iterable[dict[type[Base], dict[str, Any]]], resources: Resources) -> None:
    if not rows:
        return
    with resources.database.write() as session:
        for table in LEFT:
            session.execute(insert(table), [each[table] for each in rows])


def _write_down(chain_ids: Iterable[int], resources: Resources, now: datetime) -> None:
    with resources.database.read() as session:
        for chain_id in chain_ids:
            left = {
                SimulatedChain: session.get(SimulatedChain, chain_id),
                WatchCursor: session.get(WatchCursor, (EnvMode.TEST, chain_id)),
            }
            if all(left.values()):
                _WRITTEN[now, chain_id] = {
                    table: {each.key: getattr(row, each.key) for each in table.__mapper__.column_attrs}
                    for table, row in left.items()
                }

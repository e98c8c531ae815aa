"""The markets that quotes were made on, kept so that a quote can be made again on the same one.

A market changes with every block, and little of it: most are kept as what differs from an earlier one.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, select, update
from sqlalchemy.orm import Session

from api.storage.db import insert_new
from api.storage.tables import MarketSnapshot
from routing_engine import Snapshot, formats
from routing_engine.formats import Contents

if TYPE_CHECKING:
    from routing_engine import Router

SLACK = timedelta(hours=1)
"""By how much a market is kept longer than asked, so that most quotes have nothing to write about it."""

MOST_CHANGED = 0.2
"""Part of the markets above which a market is kept whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedSnapshot:
    """A row of `MarketSnapshot` to be: without its time."""

    id: str
    base_id: str | None
    body: bytes


_SNAPSHOT = MarketSnapshot.__table__.c
IS_KEPT = (
    select(_SNAPSHOT.id)
    .where(_SNAPSHOT.id == bindparam("market_id"), _SNAPSHOT.kept_until >= bindparam("kept_until"))
    .exists()
)
"""Whether a market is stored until then, by whichever process; so is what it rests on. Asked before `pack`, so that of
several processes that follow one market the first packs it."""
_KEPT = select(_SNAPSHOT.id, _SNAPSHOT.kept_until).where(_SNAPSHOT.id.in_(bindparam("ids", expanding=True)))


class SnapshotArchive:
    """Keeps markets in the database; remembers the last whole one, from which the next ones differ.

    It also remembers the router that was last built on a kept market: who doubts a quote asks more than once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._whole: tuple[Snapshot, PackedSnapshot] | None = None
        self._last: tuple[PackedSnapshot, ...] = ()
        self._rebuilt: Router | None = None

    def pack(self, snapshot: Snapshot) -> Sequence[PackedSnapshot]:
        """Return what has to be stored for `snapshot`: a row that others rest on before them.

        Takes time in proportion to what changed. So it is done before a transaction begins, and once for each market.
        """
        with self._lock:
            if not self._last or self._last[-1].id != snapshot.id:
                self._last = self._pack(snapshot)
            return self._last

    def keep(self, session: Session, rows: Sequence[PackedSnapshot], until: datetime) -> None:
        """Store what `pack` gave, unless it is there, until at least `until`."""
        stored = {row.id: row.kept_until for row in session.execute(_KEPT, {"ids": [row.id for row in rows]})}
        for row in rows:
            if row.id in stored and stored[row.id] >= until:
                continue
            values = {"id": row.id, "base_id": row.base_id, "body": row.body, "kept_until": until + SLACK}
            if not insert_new(session, MarketSnapshot, values):
                change = update(MarketSnapshot).where(MarketSnapshot.id == row.id)
                session.execute(change.values(kept_until=until + SLACK))

    def find_router(self, session: Session, snapshot_id: str) -> Router | None:
        """Return a router on a market that is kept, or None; building one takes a second for 20,000 pools."""
        last = self._rebuilt
        if last is not None and last.snapshot.id == snapshot_id:
            is_kept = session.scalar(select(MarketSnapshot.id).where(MarketSnapshot.id == snapshot_id)) is not None
            return last if is_kept else None
        snapshot = self.find(session, snapshot_id)
        if snapshot is None:
            return None
        from routing_engine import Router  # brings the compiler

        self._rebuilt = router = Router(snapshot)
        return router

    def find(self, session: Session, snapshot_id: str) -> Snapshot | None:
        """Return a market that was kept, or None."""
        row = session.get(MarketSnapshot, snapshot_id)
        if row is None:
            return None
        contents = formats.unpack(row.body, f"snapshot {row.id}")
        if row.base_id is None:
            return Snapshot.of(contents)
        base = self.find(session, row.base_id)
        if base is None:
            return None
        return base.apply(
            contents.markets, gas_prices=contents.gas_prices, blocks=contents.blocks, taken_at=contents.taken_at
        )

    def _pack(self, snapshot: Snapshot) -> tuple[PackedSnapshot, ...]:
        whole, packed = self._whole or (None, None)
        if whole is not None and packed is not None:
            if whole.id == snapshot.id:
                return (packed,)
            changes = _list_changes(snapshot, whole)
            if changes is not None:
                return packed, PackedSnapshot(id=snapshot.id, base_id=packed.id, body=formats.pack(changes))
        packed = PackedSnapshot(id=snapshot.id, base_id=None, body=formats.pack(snapshot.contents))
        self._whole = snapshot, packed
        return (packed,)


def forget_snapshots(session: Session, now: datetime) -> None:
    """Delete markets whose time is over; those that rest on others first, which are kept at least as long."""
    over = MarketSnapshot.kept_until < now
    session.execute(delete(MarketSnapshot).where(over, MarketSnapshot.base_id.is_not(None)))
    bases = select(MarketSnapshot.base_id).where(MarketSnapshot.base_id.is_not(None))
    session.execute(delete(MarketSnapshot).where(over, MarketSnapshot.id.not_in(bases)))


def _list_changes(snapshot: Snapshot, whole: Snapshot) -> Contents | None:
    """Return how a market differs from an earlier one; None where it is better kept whole."""
    changed = snapshot.changed_since(whole)
    if changed is None or len(changed) > MOST_CHANGED * len(whole.markets):
        return None
    if not whole.gas_prices.keys() <= snapshot.gas_prices.keys() or not whole.blocks.keys() <= snapshot.blocks.keys():
        return None
    return Contents(
        markets=tuple(changed),
        refused=snapshot.refused,
        blocks=snapshot.blocks,
        gas_prices=snapshot.gas_prices,
        taken_at=snapshot.taken_at,
    )

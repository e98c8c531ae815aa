"""Snapshots that are kept, so that going to a block, and back from it, is cheap; never more than a number of them."""

from __future__ import annotations

from threading import Lock

from routing_engine.errors import BadRecording
from routing_engine.history.sources import BlockSource
from routing_engine.snapshot.snapshot import Snapshot

KEPT = 64
"""Snapshots share the markets that did not change. One of 1,400 markets takes about 0.1 MB more."""

NEAR = 8
"""So many blocks are rather replayed than all markets read again: those would share nothing with their neighbours."""


class Checkpoints:
    """Markets by place, replayed from the nearest place that is known; for many threads.

    On the way back each block is replayed about twice: a replay over many blocks keeps some on the way, evenly spaced,
    and the next one, between two of them, keeps all. Otherwise changes of many blocks are applied at once.

    Parameters
    ----------
    source : BlockSource
        Of the markets.
    most : int
        Snapshots kept; at least 2.
    """

    def __init__(self, source: BlockSource, most: int = KEPT) -> None:
        self._source, self.most = source, most
        self._kept: dict[int, Snapshot] = {}
        self._lock = Lock()
        self._last = -1

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, place: int) -> Snapshot:
        """Return the market at a place of the source, held against the hash that was recorded.

        Raises
        ------
        BadRecording
            If it cannot be read, or is another one.
        """
        with self._lock:
            snapshot = self._replay(place)
        block = self._source.blocks[place]
        if block.snapshot_id and snapshot.id != block.snapshot_id:
            message = f"gives the market {snapshot.id}, and {block.snapshot_id} was recorded by version {block.engine}"
            raise BadRecording(str(self._source.path), f"block {block.number}", f"{message} of the library")
        return snapshot

    def _replay(self, place: int) -> Snapshot:
        start = max((each for each in self._kept if each <= place), default=-1)
        whole = self._source.find_whole(place)
        if start < 0 or whole - start > NEAR:
            self._kept.clear()  # what is read now shares nothing with it
            start, snapshot = whole, self._source.read_whole(whole)
            self._keep(start, snapshot, place)
        else:
            snapshot = self._kept[start]
        # On the way back what lies before is asked for next.
        spacing = -(-(place - start) // max(1, self.most // 2)) if place == self._last - 1 else place - start
        self._last = place
        while start < place:
            following = place - (place - start - 1) // spacing * spacing
            snapshot = self._source.apply_steps(start + 1, following, snapshot)
            self._keep(following, snapshot, place)
            start = following
        return snapshot

    def _keep(self, place: int, snapshot: Snapshot, wanted: int) -> None:
        """Keep a snapshot; instead of the last one after the place that is wanted, else of the first of all."""
        self._kept[place] = snapshot
        if len(self._kept) > self.most:
            last = max(self._kept)
            del self._kept[last if last > wanted else min(self._kept)]

"""The time machine: a recorded market at any of its blocks, forward and back."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, overload

from routing_engine.errors import InvalidRequest
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.history.canonical import Reorganisation, find_canonical
from routing_engine.history.checkpoints import KEPT, Checkpoints
from routing_engine.history.recorded_block import RecordedBlock
from routing_engine.history.sources import BlockSource, DeltasFile, RecordingFile
from routing_engine.snapshot.snapshot import Snapshot
from routing_engine.values import seal

if TYPE_CHECKING:
    from routing_engine.router import Router

WEI_PER_GWEI = 10**9
ABSENT = "is not recorded"


@seal
class History(Table):
    """A recorded market of one chain, block by block; as a table, a row for each block.

    It is a sequence of snapshots: ``len(history)``, ``history[-1]``, ``history[10:20]``, ``for snapshot in history``,
    ``reversed(history)``. Only blocks that are part of the chain count: what a reorganisation abandoned is in
    `reorganisations`. Markets are read when they are asked for, and each is held against the hash that was recorded.

    Open it with `History.open`.
    """

    def __init__(
        self,
        source: BlockSource,
        checkpoints: Checkpoints,
        places: Sequence[int],
        reorganisations: Sequence[Reorganisation],
    ) -> None:
        vars(self).update(
            reorganisations=tuple(reorganisations),
            blocks=tuple(source.blocks[place].number for place in places),
            _source=source,
            _checkpoints=checkpoints,
            _places=tuple(places),
        )

    blocks: tuple[int, ...]
    """Numbers of the blocks, in order."""
    reorganisations: tuple[Reorganisation, ...]
    """What the chain abandoned after it was recorded, in the order in which it happened."""

    _source: BlockSource
    _checkpoints: Checkpoints
    _places: tuple[int, ...]

    @classmethod
    def open(cls, path: str | Path, *, deltas: str | Path | None = None, keep: int = KEPT) -> History:
        """Open a recording, or a market file with the deltas of later blocks.

        Parameters
        ----------
        path : str or Path
            A recording, as ``snapshot capture --follow`` and `HistoryWriter` make it; or a market file.
        deltas : str or Path, optional
            Of the market file: changes of later blocks in the neutral format.
        keep : int
            How many snapshots are held in memory at most, 2 or more; they share what did not change.

        Raises
        ------
        BadRecording, BadMarketFile
            If a file cannot be read. What an interrupted write left at the end is no error: `cut_off` tells of it.
        InvalidRequest
            If fewer than 2 snapshots are to be kept.
        """
        if isinstance(keep, bool) or not isinstance(keep, int) or keep < 2:
            raise InvalidRequest("keep", f"must be an int of at least 2, not {keep!r}")
        source = RecordingFile(Path(path)) if deltas is None else DeltasFile(Path(path), Path(deltas))
        return cls(source, Checkpoints(source, keep), *find_canonical(source.blocks))

    @property
    def chain_id(self) -> int:
        """The chain whose blocks these are."""
        return self._source.chain_id

    @property
    def cut_off(self) -> int:
        """Bytes at the end of the file that an interrupted write left; they are not used."""
        return self._source.cut_off

    @property
    def recorded(self) -> tuple[RecordedBlock, ...]:
        """What was recorded of each block beside its market."""
        return tuple(self._source.blocks[place] for place in self._places)

    @property
    def gaps(self) -> tuple[tuple[int, int], ...]:
        """First and last numbers of blocks that were not recorded between two that were."""
        return tuple((one + 1, other - 1) for one, other in pairwise(self.blocks) if other > one + 1)

    def at(self, block: int) -> Snapshot:
        """Return the market after a block.

        Raises
        ------
        InvalidRequest
            If it was not recorded; the message names its neighbours.
        BadRecording
            If what is recorded is damaged.
        """
        place = bisect_left(self.blocks, block)
        if place == len(self) or self.blocks[place] != block:
            beside = [f"{each:,}" for each in self.blocks[max(0, place - 1) : place + 1]]
            raise InvalidRequest("block", f"{block} {ABSENT}; next to it are {' and '.join(beside) or 'none'}")
        return self[place]

    def routers(self) -> Iterator[Router]:
        """Yield a router on each block in turn, each made of the one before at the cost of what changed."""
        from routing_engine.router import Router

        router: Router | None = None
        for snapshot in self:
            router = Router(snapshot) if router is None else router.follow(snapshot)
            yield router

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> Snapshot: ...

    @overload
    def __getitem__(self, place: slice) -> History: ...

    def __getitem__(self, place: int | slice) -> Snapshot | History:
        """Return a market by its place, or the history of some of the blocks: it shares what is kept in memory."""
        if isinstance(place, slice):
            return type(self)(self._source, self._checkpoints, self._places[place], self.reorganisations)
        return self._checkpoints.find(self._places[index(place)])

    def __iter__(self) -> Iterator[Snapshot]:
        return (self[place] for place in range(len(self)))

    def __reversed__(self) -> Iterator[Snapshot]:
        return (self[place] for place in reversed(range(len(self))))

    def __reduce__(self) -> tuple[object, ...]:
        """Travel as the names of its files, which have to be there too where it arrives."""
        return _reopen, (*self._source.opened, self._checkpoints.most, self._places)

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each block; see `Table`."""
        told = self.recorded
        missing = [other - one - 1 for one, other in pairwise((self.blocks[0] - 1, *self.blocks))] if told else []
        prices = [math.nan if each.gas_price is None else each.gas_price / WEI_PER_GWEI for each in told]
        return (
            Column("block", Kind.COUNT, self.blocks),
            Column("taken_at", Kind.TEXT, [each.taken_at for each in told]),
            Column("changed", Kind.COUNT, [each.changed for each in told], unit="markets"),
            Column("removed", Kind.COUNT, [each.removed for each in told], unit="markets"),
            Column("markets", Kind.COUNT, [each.markets for each in told]),
            Column("gas_price_gwei", Kind.NUMBER, prices, unit="gwei"),
            Column("missing_before", Kind.COUNT, missing, unit="blocks"),
            Column("block_hash", Kind.TEXT, [each.block_hash for each in told], is_detail=True),
            Column("snapshot_id", Kind.TEXT, [each.snapshot_id for each in told], is_detail=True),
        )

    def __repr__(self) -> str:
        span = f" {self.blocks[0]:,} to {self.blocks[-1]:,}" if self.blocks else ""
        parts = [f"{len(self):,} blocks{span} of chain {self.chain_id}"]
        absent = sum(last - first + 1 for first, last in self.gaps)
        parts += [f"{absent:,} not recorded between"] * bool(absent)
        parts += [f"{len(self.reorganisations)} reorganisations"] * bool(self.reorganisations)
        parts += [f"the last {self.cut_off:,} bytes of the file are cut off"] * bool(self.cut_off)
        return f"History({'; '.join(parts)})"


def _reopen(path: Path, deltas: Path | None, keep: int, places: tuple[int, ...]) -> History:
    """Inverse of `History.__reduce__`: what a file holds keeps its place, also where more is recorded meanwhile."""
    found = History.open(path, deltas=deltas, keep=keep)
    return History(found._source, found._checkpoints, places, found.reorganisations)

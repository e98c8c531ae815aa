"""Recorded blocks, and replaying them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from routing_engine import Snapshot, formats
from routing_engine.formats import Contents

SUFFIX = "_block_deltas.json.gz"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A recorded market and what each block after it changed."""

    name: str
    start: Snapshot
    steps: tuple[Contents, ...]

    @property
    def states(self) -> int:
        """Pool states that the blocks bring."""
        return sum(len(step.markets) for step in self.steps)


def recordings(folder: Path) -> Iterator[Recording]:
    """Yield the recordings of a folder, by name; their ids are computed, as those of markets in use are."""
    for deltas in sorted(folder.glob(f"*{SUFFIX}")):
        name = deltas.name.removesuffix(SUFFIX)
        start = Snapshot.load(deltas.with_name(f"{name}.json.gz"))
        assert start.id
        yield Recording(name=name, start=start, steps=tuple(formats.load_deltas(deltas)))


def replay(recording: Recording) -> Snapshot:
    """Apply every block and name every snapshot on the way, as a feed does."""
    snapshot = recording.start
    for step in recording.steps:
        snapshot = snapshot.apply(step.markets, removed=step.withdrawn, blocks=step.blocks)
        assert snapshot.id
    return snapshot

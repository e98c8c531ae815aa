"""Which recorded blocks are part of the chain in the end, and which were abandoned on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from routing_engine.history.recorded_block import RecordedBlock
from routing_engine.values import seal


@seal
@dataclass(frozen=True, slots=True)
class Reorganisation:
    """Recorded blocks that the chain abandoned.

    Parameters
    ----------
    abandoned : tuple of RecordedBlock
        Oldest first.
    by : RecordedBlock
        The first block that was recorded of the chain that took their place.
    """

    abandoned: tuple[RecordedBlock, ...]
    by: RecordedBlock

    def __repr__(self) -> str:
        return f"Reorganisation({len(self.abandoned)} abandoned from block {self.abandoned[0].number:,})"


def find_canonical(blocks: Iterable[RecordedBlock]) -> tuple[list[int], list[Reorganisation]]:
    """Return the places of the blocks that are part of the chain, and what was abandoned.

    Parameters
    ----------
    blocks : iterable of RecordedBlock
        In the order in which they were recorded.
    """
    kept: list[int] = []
    seen: list[RecordedBlock] = []
    found: list[Reorganisation] = []
    for place, block in enumerate(blocks):
        seen.append(block)
        stays = len(kept)
        while stays and not is_built_on(block, seen[kept[stays - 1]]):
            stays -= 1
        if stays < len(kept):
            found.append(Reorganisation(tuple(seen[each] for each in kept[stays:]), block))
        kept[stays:] = [place]
    return kept, found


def is_built_on(block: RecordedBlock, other: RecordedBlock) -> bool:
    """Tell whether a block comes after one that was recorded before and is still part of its chain."""
    if block.follows and other.block_hash:
        return other.block_hash == block.follows
    return other.number < block.number

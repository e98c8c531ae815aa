"""Where the markets of blocks come from: a recording, or a market file and a file of deltas."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from routing_engine import formats
from routing_engine.errors import BadMarketFile, BadRecording, InvalidMarket
from routing_engine.formats import Contents
from routing_engine.history.changes import apply_changes, merge_changes, read_whole
from routing_engine.history.members import Member, read_member, scan_members
from routing_engine.history.recorded_block import RecordedBlock
from routing_engine.snapshot.snapshot import Snapshot

FORMAT, VERSION = "routing-engine-recording", 1
WHOLE = "whole"
"""Kind of a member that holds all markets of the block of the member before it."""


class BlockSource(Protocol):
    """Blocks in the order in which they were recorded, and their markets."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def opened(self) -> tuple[Path, Path | None]:
        """What `History.open` gets for it: the recording or market file, and the file of deltas."""

    @property
    def chain_id(self) -> int:
        """The chain whose blocks these are."""

    @property
    def blocks(self) -> Sequence[RecordedBlock]:
        """All, those that were abandoned too."""

    @property
    def cut_off(self) -> int:
        """Bytes at the end that an interrupted write left, and that are not used."""

    def find_whole(self, place: int) -> int:
        """Return the last place, not after this one, whose market can be read without those before."""

    def read_whole(self, place: int) -> Snapshot:
        """Return the market at such a place."""

    def apply_steps(self, first: int, last: int, before: Snapshot) -> Snapshot:
        """Return the market at the place `last`, of the one at the place before `first`."""


@dataclass(frozen=True, slots=True)
class Contained:
    """What a recording's file holds: members by place, and those that hold all markets."""

    chain_id: int
    blocks: tuple[RecordedBlock, ...]
    steps: tuple[Member, ...]
    wholes: dict[int, Member]
    size: int
    """Bytes that are whole."""


class RecordingFile:
    """A recording; its file is kept closed but while it is read.

    Raises
    ------
    BadRecording
        If it cannot be read; it names the place.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.opened = path, (path.absolute(), None)
        found = scan_recording(path)
        self.chain_id, self.blocks = found.chain_id, found.blocks
        self._steps, self._wholes = found.steps, found.wholes
        self._whole_places = sorted(found.wholes)
        self.size, self.cut_off = found.size, path.stat().st_size - found.size

    def find_whole(self, place: int) -> int:
        """See `BlockSource`."""
        return self._whole_places[bisect_right(self._whole_places, place) - 1]

    def read_whole(self, place: int) -> Snapshot:
        """See `BlockSource`."""
        with self._named(place):
            return read_whole(self._read([self._wholes[place]])[0], str(self.path))

    def apply_steps(self, first: int, last: int, before: Snapshot) -> Snapshot:
        """See `BlockSource`."""
        with self._named(last):
            documents = self._read(self._steps[first : last + 1])
            wholes = [number for number, document in enumerate(documents) if "market" in document]
            if wholes:
                before = read_whole(documents[wholes[-1]], str(self.path))
                documents = documents[wholes[-1] + 1 :]
            return apply_changes(merge_changes(documents), before, str(self.path)) if documents else before

    def _read(self, members: Sequence[Member]) -> list[dict[str, Any]]:
        with self.path.open("rb") as file:
            return [read_member(file, member, self.path) for member in members]

    @contextmanager
    def _named(self, place: int) -> Iterator[None]:
        """Turn what goes wrong while the market at a place is read into an error that names its block."""
        block = f"block {self.blocks[place].number}"
        try:
            yield
        except OSError as error:
            raise BadRecording(str(self.path), block, f"cannot be read ({error.strerror})") from error
        except (BadMarketFile, InvalidMarket) as error:
            raise BadRecording(str(self.path), f"{block}: {error.field}", error.message) from error
        except (KeyError, TypeError, AttributeError) as error:
            raise BadRecording(str(self.path), block, f"is not of this version ({error!r})") from error


class DeltasFile:
    """A market file and the deltas of later blocks, both in memory as they are small.

    Raises
    ------
    BadMarketFile
        If they cannot be read, or do not belong together.
    """

    cut_off = 0

    def __init__(self, path: Path, deltas: Path) -> None:
        self.path, self.opened = deltas, (path.absolute(), deltas.absolute())
        self._base = Snapshot.load(path)
        self._steps: list[Contents] = formats.load_deltas(deltas)
        chains = {chain_id for step in self._steps for chain_id in step.blocks}
        self.chain_id = min(chains or self._base.blocks or {1})
        first = self._base.blocks.get(self.chain_id)
        if first is None:
            raise BadMarketFile(str(path), "meta.block", "is missing; say which block the market is of")
        self.blocks = [RecordedBlock(number=first, markets=len(self._base.markets))]
        known = dict(self._base.markets)
        for number, step in enumerate(self._steps):
            self.blocks.append(self._describe(number, step, known))

    def find_whole(self, place: int) -> int:
        """See `BlockSource`."""
        return 0

    def read_whole(self, place: int) -> Snapshot:
        """See `BlockSource`."""
        return self._base

    def apply_steps(self, first: int, last: int, before: Snapshot) -> Snapshot:
        """See `BlockSource`."""
        for step in self._steps[first - 1 : last]:
            changed = [market for market in step.markets if before.markets.get(market.id) != market]
            before = before.apply(changed, removed=step.withdrawn, blocks=step.blocks)
        return before

    def _describe(self, number: int, step: Contents, known: dict[str, Any]) -> RecordedBlock:
        block, last = step.blocks[self.chain_id], self.blocks[-1].number
        if block <= last or (number == 0 and block != last + 1):  # blocks that are missing later are told as gaps
            message = f"is {block}, which does not follow {last}; use the deltas of this market"
            raise BadMarketFile(str(self.path), f"blocks.{number}.block", message)
        counted = Counter(known.get(market.id) != market for market in step.markets)
        gone = [name for name in step.withdrawn if known.pop(name, None)]
        known.update({market.id: market for market in step.markets})
        return RecordedBlock(number=block, changed=counted[True], removed=len(gone), markets=len(known))


def scan_recording(path: Path) -> Contained:
    """Return what a recording holds, without its markets.

    Raises
    ------
    BadRecording
        If it cannot be read, is none, or is damaged before its end.
    """
    blocks: list[RecordedBlock] = []
    steps: list[Member] = []
    wholes: dict[int, Member] = {}
    first: dict[str, Any] = {}
    size = 0
    try:
        with path.open("rb") as file:
            members = list(scan_members(file, path))
            if members and not is_sound(file, members[-1], path):
                members.pop()
    except OSError as error:
        raise BadRecording(str(path), "", f"cannot be read ({error.strerror}); check the path") from error
    for member in members:
        first = first or _check_first(member.head, path)
        if member.head.get("kind") == WHOLE and blocks:
            wholes[len(blocks) - 1] = member
        else:
            blocks.append(_read_block(member, path))
            steps.append(member)
        size = member.offset + member.size
    if not blocks:
        raise BadRecording(str(path), "", "holds no whole block; begin it anew")
    return Contained(first["chain_id"], tuple(blocks), tuple(steps), {0: steps[0]} | wholes, size)


def is_sound(file: Any, member: Member, path: Path) -> bool:
    """Tell whether a member can be read: the last one may be damaged where a machine lost its power."""
    try:
        read_member(file, member, path)
    except BadRecording:
        return False
    return True


def _check_first(head: dict[str, Any], path: Path) -> dict[str, Any]:
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise BadRecording(str(path), "format", f"is not {FORMAT!r}; `snapshot capture --follow` writes one")
    if head.get("version") != VERSION or not isinstance(head.get("chain_id"), int):
        raise BadRecording(str(path), "version", f"is {head.get('version')!r}; this library reads version {VERSION}")
    return head


def _read_block(member: Member, path: Path) -> RecordedBlock:
    try:
        return RecordedBlock.from_record(member.head["block"])
    except (KeyError, TypeError, ValueError) as error:
        raise BadRecording(str(path), f"byte {member.offset}", f"says of its block: {error}") from error

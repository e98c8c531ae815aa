"""Recording a market block by block: what is written stays, and an interruption costs the last block at most."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO, Any

from routing_engine import __version__
from routing_engine.errors import BadRecording
from routing_engine.history.canonical import find_canonical, is_built_on
from routing_engine.history.changes import apply_changes, describe_changes, describe_whole, list_changes
from routing_engine.history.checkpoints import Checkpoints
from routing_engine.history.members import pack_member
from routing_engine.history.recorded_block import RecordedBlock
from routing_engine.history.sources import FORMAT, VERSION, WHOLE, RecordingFile
from routing_engine.snapshot.snapshot import Snapshot

WHOLE_AFTER = 8
"""All markets are written again after this many times as many changes: so much is replayed at most for any block."""
BLOCK_COST = 4
"""What reading a block costs beside its changes, in changes."""


class HistoryWriter:
    """Appends blocks to a recording; one process at a time.

    A block is on the disk before `append` returns. It is read back, as `History` would, before it is written.

    Parameters
    ----------
    path : str or Path
        Of the file; it need not exist.
    chain_id : int
        Whose blocks are recorded.

    Raises
    ------
    BadRecording
        If the file is no recording of this chain, is damaged, or another process writes to it.
    """

    def __init__(self, path: str | Path, chain_id: int) -> None:
        self.path, self.chain_id = Path(path), chain_id
        self.blocks: list[RecordedBlock] = []
        """The recorded blocks that are part of the chain."""
        self.last: Snapshot | None = None
        """The market that was recorded last; None in a new recording."""
        self.cut_off = 0
        """Bytes of an interrupted write that were taken off the end."""
        self._since = 0
        self._file = self._open()
        try:
            if os.fstat(self._file.fileno()).st_size:
                self._resume()
        except BaseException:
            self._file.close()
            raise

    def append(self, snapshot: Snapshot, *, block_hash: str = "", parent: str = "", follows: str = "") -> RecordedBlock:
        """Record the market after a block, which `snapshot.blocks` names.

        Parameters
        ----------
        snapshot : Snapshot
            Best made by `apply` of the last one, so that markets keep their order.
        block_hash, parent : str
            Of the block; empty where they are not known.
        follows : str, optional
            Hash of the last recorded block that is still part of the chain; by default, of the one recorded last.

        Raises
        ------
        BadRecording
            If the snapshot does not say of which block it is.
        """
        number = snapshot.blocks.get(self.chain_id)
        if number is None:
            message = f"of chain {self.chain_id} is missing in the snapshot; say it by apply(blocks=…)"
            raise BadRecording(str(self.path), "block", message)
        changed, removed = list_changes(self.last, snapshot) if self.last is not None else ([], [])
        block = RecordedBlock(
            number=number,
            block_hash=block_hash,
            parent=parent,
            follows=follows or (self.blocks[-1].block_hash if self.blocks else ""),
            taken_at=snapshot.taken_at,
            snapshot_id=snapshot.id,
            changed=len(changed),
            removed=len(removed),
            markets=len(snapshot.markets),
            gas_price=snapshot.gas_prices.get(self.chain_id),
            engine=__version__,
        )
        self._write(block, snapshot)
        while self.blocks and not is_built_on(block, self.blocks[-1]):
            self.blocks.pop()
        self.blocks.append(block)
        return block

    def close(self) -> None:
        """Let others write."""
        self._file.close()

    def __enter__(self) -> HistoryWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, block: RecordedBlock, snapshot: Snapshot) -> None:
        head: dict[str, Any] = {"block": block.to_record()}
        if self.last is None:
            first = {"format": FORMAT, "version": VERSION, "chain_id": self.chain_id}
            self._put(pack_member({**first, **head}, describe_whole(snapshot)))
            self.last = snapshot
            return
        document = describe_changes(self.last, snapshot)
        found = apply_changes(document, self.last, str(self.path))
        if found.id != snapshot.id:  # such as a token whose decimals were put right, or a gas price that went away
            document, found = describe_whole(snapshot), snapshot
        member = pack_member(head, document)
        self._since += block.changed + block.removed + BLOCK_COST
        if self._since >= WHOLE_AFTER * block.markets:
            member += pack_member({"kind": WHOLE, **head}, describe_whole(found))
            self._since = 0
        self._put(member)
        self.last = found

    def _put(self, data: bytes) -> None:
        """Write all of it or, where the disk is full or somebody interrupts, nothing."""
        end, left = self._file.seek(0, os.SEEK_END), memoryview(data)
        try:
            while left:
                left = left[self._file.write(left) :]
            os.fsync(self._file.fileno())
        except BaseException:
            self._file.truncate(end)
            raise

    def _open(self) -> IO[bytes]:
        try:
            file = self.path.open("r+b" if self.path.exists() else "x+b", buffering=0)
        except OSError as error:
            raise BadRecording(str(self.path), "", f"cannot be written ({error.strerror}); choose another") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise BadRecording(
                str(self.path), "", "is being written by another process; stop that one first"
            ) from error
        return file

    def _resume(self) -> None:
        """Take off what an interruption left, and go on from the last block."""
        source = RecordingFile(self.path)
        if source.chain_id != self.chain_id:
            message = f"is {source.chain_id}, and {self.chain_id} is to be recorded; choose another file"
            raise BadRecording(str(self.path), "chain_id", message)
        last = len(source.blocks) - 1
        self.last = Checkpoints(source).find(last)
        self.blocks = [source.blocks[place] for place in find_canonical(source.blocks)[0]]
        self.cut_off = source.cut_off
        self._file.truncate(source.size)
        since = source.blocks[source.find_whole(last) + 1 :]
        self._since = sum(each.changed + each.removed + BLOCK_COST for each in since)

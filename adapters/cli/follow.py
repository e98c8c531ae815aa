"""Following a chain into a recording, block by block: resumable, also through reorganisations."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from adapters.base import AdapterError, VenueUnavailable
from adapters.chain.adapter import OnChainAdapter
from adapters.chain.capture_log import CaptureLog
from adapters.chain.gas import GasAdapter
from adapters.cli.capture import read_whole
from adapters.rpc.block import Block
from adapters.rpc.endpoint import LacksBlock
from adapters.rpc.endpoint_pool import RpcPool
from routing_engine import Snapshot
from routing_engine.formats import Contents
from routing_engine.history.recorded_block import RecordedBlock
from routing_engine.history.writer import HistoryWriter
from routing_engine.reference.chains import block_time_s

MOST_BEHIND = 100
"""Blocks that are read one by one where following fell behind; nodes keep the state of little more than these."""
RETRY_S = 5.0
SHARE = 4
"""The chain is asked for a new block so many times in the time between two."""
FASTEST_S, SLOWEST_S = 0.25, 3.0

Progress = Callable[[RecordedBlock], None]
"""Told each block once it is on the disk."""


class Follower:
    """Records one chain.

    Parameters
    ----------
    rpc : RpcPool
        The chain.
    adapter : OnChainAdapter
        Reads its pools; new, as it is followed from its first read on.
    writer : HistoryWriter
        The recording: a new one, or one that is gone on with.
    log : CaptureLog
        Keeps the first read of all pools, so that one that is interrupted goes on; the adapter's `wrap` is its own.
    progress : callable
        Told of each block.
    complain : callable
        Told in words what goes wrong; following goes on.
    """

    def __init__(
        self,
        rpc: RpcPool,
        adapter: OnChainAdapter,
        writer: HistoryWriter,
        log: CaptureLog,
        *,
        progress: Progress = lambda block: None,
        complain: Callable[[str], None] = lambda text: None,
    ) -> None:
        self._rpc, self._adapter, self._writer, self._log = rpc, adapter, writer, log
        self._gas = GasAdapter(rpc)
        self._progress, self._complain = progress, complain
        self._told: set[str] = set()

    def run(self, is_stopped: Event, most: int | None = None) -> int:
        """Record until somebody stops it, or so many blocks were recorded; return how many were.

        What an endpoint does wrong is told, and tried again.
        """
        pause_s = min(max(block_time_s(self._writer.chain_id) / SHARE, FASTEST_S), SLOWEST_S)
        done, is_failing = 0, False
        while not is_stopped.is_set() and (most is None or done < most):
            try:
                found = self.record_new(is_stopped, None if most is None else most - done)
            except AdapterError as fault:
                if not is_failing:
                    self._complain(str(fault))
                is_failing = True
                is_stopped.wait(RETRY_S)
                continue
            done, is_failing = done + found, False
            if not found:
                is_stopped.wait(pause_s)
        return done

    def record_new(self, is_stopped: Event | None = None, most: int | None = None) -> int:
        """Record each block since the last one; return how many there were.

        Raises
        ------
        AdapterError
            If the chain cannot be read; what was recorded before stays.
        """
        if self._adapter.memory is None:
            return self._record_first()
        head = self._rpc.read_head()
        ancestor = self._find_ancestor(head)
        if ancestor is None or head.number - ancestor.number > MOST_BEHIND:
            self._record(head)
            return 1
        numbers = range(ancestor.number + 1, head.number + 1)[:most]
        for done, number in enumerate(numbers):
            if is_stopped is not None and is_stopped.is_set():
                return done
            block = head if number == head.number else self._rpc.read_block(number)
            if block is None:
                raise VenueUnavailable(f"chain {self._writer.chain_id}: block {number} is not there any more")
            try:
                self._record(block)
            except LacksBlock:  # it fell too far behind: go on at the newest
                self._record(self._rpc.read_head())
                return done + 1
        return len(numbers)

    def _record_first(self) -> int:
        """Read all pools; going on with a recording, the block may be the one that was recorded last."""
        contents = read_whole(self._adapter, self._rpc, self._log)
        self._log.seal()
        memory = self._adapter.memory
        is_new = memory is not None and not self._is_recorded(memory.head)
        if memory is not None and is_new:
            self._append(memory.head, contents)
        self._log.remove()
        for name, fault in memory.faults.items() if memory else ():
            self._tell(f"{name} is missing: {fault}")
        return int(is_new)

    def _is_recorded(self, head: Block) -> bool:
        """Whether a recording that is gone on with has got as far as the first block that was read, or further.

        An endpoint may be behind the one that was asked then; only another block in the place of the last one says
        that the chain was reorganised.
        """
        last = self._writer.blocks[-1] if self._writer.blocks else None
        if last is None or head.number > last.number:
            return False
        found = self._rpc.read_block(last.number)
        return found is None or found.hash == last.block_hash

    def _record(self, block: Block) -> None:
        self._append(block, self._adapter.parse(self._adapter.read(block)))

    def _append(self, block: Block, contents: Contents) -> None:
        writer, ancestor = self._writer, self._find_ancestor(block)
        snapshot = apply_contents(writer.last, contents, self._read_gas(block))
        follows = ancestor.block_hash if ancestor else block.parent if writer.blocks else ""
        self._progress(writer.append(snapshot, block_hash=block.hash, parent=block.parent, follows=follows))

    def _read_gas(self, block: Block) -> dict[int, int]:
        try:
            return dict(self._gas.parse(self._gas.read(block.number)).gas_prices)
        except AdapterError as fault:
            self._tell(f"the gas price is not known: {fault}")
            return {}

    def _find_ancestor(self, block: Block) -> RecordedBlock | None:
        """Return the last recorded block that a block is built on, or that it is; None where there is none."""
        for recorded in reversed(self._writer.blocks):
            if recorded.block_hash in (block.parent, block.hash):
                return recorded
            if recorded.number < block.number:
                found = self._rpc.read_block(recorded.number)
                if found is not None and found.hash == recorded.block_hash:
                    return recorded
        return None

    def _tell(self, text: str) -> None:
        """Complain, once of each thing."""
        if text not in self._told:
            self._told.add(text)
            self._complain(text)


def apply_contents(before: Snapshot | None, contents: Contents, gas_prices: dict[int, int]) -> Snapshot:
    """Return the snapshot of all that a chain has now; markets keep the order that they have in the one before."""
    now = {market.id: market for market in contents.markets}
    if before is None:
        before = Snapshot((), refused=contents.refused)
    return before.apply(
        [market for name, market in now.items() if before.markets.get(name) != market],
        removed=[name for name in before.markets if name not in now],
        gas_prices=gas_prices,
        blocks=contents.blocks,
        taken_at=contents.taken_at,
    )

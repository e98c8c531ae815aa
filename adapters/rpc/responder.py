"""A live chain as whoever replies."""

from __future__ import annotations

from adapters.rpc.abi import Call, Log, LogFilter
from adapters.rpc.block import Block
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.logs import LogReader, TooLong
from adapters.rpc.multicall import Multicall
from adapters.rpc.reading import Reply, Request, Unanswered
from adapters.rpc.scan_program import Scan
from adapters.rpc.scan_reader import ScanReader


class ChainClient:
    """Reads a chain; remembers between blocks how much its endpoints bear at once.

    Parameters
    ----------
    rpc : RpcPool
        The chain.
    """

    def __init__(self, rpc: RpcPool) -> None:
        self.multicall, self.logs = Multicall(rpc), LogReader(rpc)
        self.scans = ScanReader(rpc, self.multicall)

    def answer_at(self, block: Block) -> ChainResponder:
        """Return who answers as of a block."""
        return ChainResponder(self, block)


class ChainResponder:
    """Answers requests from a chain, all at one block.

    Parameters
    ----------
    reader : ChainClient
        Of the chain.
    at : Block
        The block.
    """

    def __init__(self, reader: ChainClient, at: Block) -> None:
        self._reader, self._at = reader, at

    def answer(self, request: Request) -> Reply:
        """Ask the chain; see `Responder`."""
        calls = [call for call in request.calls if isinstance(call, Call)]
        scans = [scan for scan in request.calls if isinstance(scan, Scan)]
        called = iter(self._reader.multicall.read(calls, self._at))
        scanned = iter(self._reader.scans.read(scans, self._at))
        return Reply(
            outcomes=tuple(next(called if isinstance(call, Call) else scanned) for call in request.calls),
            logs=tuple(self._answer_logs(each) for each in request.filters),
        )

    def _answer_logs(self, wanted: LogFilter) -> tuple[Log, ...] | Unanswered:
        try:
            return self._reader.logs.read(wanted, self._at)
        except TooLong as error:
            return Unanswered(str(error))

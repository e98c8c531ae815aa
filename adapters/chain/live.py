"""A live chain as whoever replies."""

from __future__ import annotations

from adapters.chain.logs import LogReader
from adapters.chain.reading import Reply, Request
from adapters.multicall import Multicall
from adapters.rpc import Block, RpcPool


class ChainReader:
    """Reads a chain; remembers between blocks how much its endpoints bear at once.

    Parameters
    ----------
    rpc : RpcPool
        The chain.
    """

    def __init__(self, rpc: RpcPool) -> None:
        self._multicall, self._logs = Multicall(rpc), LogReader(rpc)

    def at(self, block: Block) -> ChainResponder:
        """Return who answers as of a block."""
        return ChainResponder(self._multicall, self._logs, block)


class ChainResponder:
    """Answers requests from a chain, all at one block.

    Parameters
    ----------
    multicall : Multicall
        For calls.
    logs : LogReader
        For events.
    at : Block
        The block.
    """

    def __init__(self, multicall: Multicall, logs: LogReader, at: Block) -> None:
        self._multicall, self._logs, self._at = multicall, logs, at

    def answer(self, request: Request) -> Reply:
        """Ask the chain; see `Responder`."""
        return Reply(
            outcomes=self._multicall.read(request.calls, self._at) if request.calls else (),
            logs=tuple(self._logs.read(each, self._at) for each in request.filters),
        )

"""One endpoint of a chain, asked apart from the others and never waited for longer than a moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from typing import Any, Protocol

from adapters.base import VenueUnavailable
from adapters.rpc.block import Block
from adapters.rpc.endpoint import Answer, Endpoint, Parsed, Question

OPINION_S = 3.0
"""How long somebody waits for a second opinion."""


class Asker(Protocol):
    """Who is asked about a chain: several endpoints that stand in for each other, or a single one."""

    chain_id: int

    @property
    def answered_by(self) -> str:
        """Host of the endpoint whose answers were taken last."""
        ...

    def ask(
        self, questions: Sequence[Question], parse: Callable[[list[Answer]], Parsed], at: Block | None = None
    ) -> Parsed:
        """Put questions; see `adapters.rpc.endpoint_pool.RpcPool.ask`."""
        ...


class SingleEndpoint:
    """An endpoint that nobody stands in for: what it answers is its own word.

    Parameters
    ----------
    chain_id : int
        Of the chain.
    endpoint : Endpoint
        Shared with the pool that fails over.
    patience_s : float
        An answer that takes longer is given up. While it is still under way nothing else is asked.
    """

    def __init__(self, chain_id: int, endpoint: Endpoint, patience_s: float = OPINION_S) -> None:
        self.chain_id, self._endpoint, self._patience_s = chain_id, endpoint, patience_s
        self._threads = ThreadPoolExecutor(1, thread_name_prefix=f"opinion-{chain_id}")
        self._pending: Future[Any] | None = None

    @property
    def host(self) -> str:
        """Who it is."""
        return self._endpoint.host

    @property
    def answered_by(self) -> str:
        """Who it is, too: nobody else answers here."""
        return self._endpoint.host

    @property
    def in_step(self) -> bool:
        """Whether its head was near that of the others."""
        return self._endpoint.in_step

    def ask(
        self, questions: Sequence[Question], parse: Callable[[list[Answer]], Parsed], at: Block | None = None
    ) -> Parsed:
        """Put questions; see `Endpoint.ask`. What is answered has to show by its hashes which fork it is of.

        Raises
        ------
        VenueUnavailable
            If it does not answer, in time or at all.
        LacksBlock
            If it does not have the state that is asked for.
        """
        if self._pending is not None and not self._pending.done():
            raise VenueUnavailable(f"{self.host}: still has not answered the last question")
        future = self._threads.submit(self._endpoint.ask, questions, parse)
        self._pending = future
        try:
            return future.result(self._patience_s)
        except TookTooLong as late:
            raise VenueUnavailable(f"{self.host}: no answer within {self._patience_s:g} s") from late

    def close(self) -> None:
        """Ask no more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

"""Whether a chain's endpoints trace transactions, asked anew every few minutes."""

from __future__ import annotations

from collections.abc import Callable

from adapters.rpc.endpoint import Answer, Question
from api.domain.ledger import ChainUnavailable
from api.services.ledger.chain_reader import ChainReader

EVERY_S = 300.0
"""Providers change what they offer, and endpoints are exchanged."""
UNKNOWN_EVERY_S = 30.0


class TraceProbe:
    """Finds out by tracing a transaction that was read lately.

    Parameters
    ----------
    reader : ChainReader
        Of the chain.
    clock : callable
        Seconds.
    """

    def __init__(self, reader: ChainReader, clock: Callable[[], float]) -> None:
        self._reader, self._clock = reader, clock
        self._known: bool | None = None
        self._next_at = 0.0

    def ask(self) -> bool | None:
        """Return what is known; None before a transaction was read, or while nobody answers."""
        sample, now = self._reader.sample, self._clock()
        if sample is None or now < self._next_at:
            return self._known
        question: Question = ("debug_traceTransaction", [sample, {"tracer": "callTracer"}])
        try:
            self._known = self._reader.ask([question], _is_trace)
        except ChainUnavailable:
            self._next_at = now + UNKNOWN_EVERY_S
        else:
            self._next_at = now + EVERY_S
        return self._known


def _is_trace(answers: list[Answer]) -> bool:
    return isinstance(answers[0], dict) and "from" in answers[0]

"""How an endpoint fares."""

from __future__ import annotations

from dataclasses import dataclass

from adapters.http.circuit_breaker import BreakerState


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointHealth:
    """What an operator wants to know of an endpoint.

    Parameters
    ----------
    host : str
        Without the path, which may hold a key.
    state : BreakerState
        Of its circuit breaker.
    head : int or None
        Last block number it told.
    fault : str
        Its last failure; empty if it never failed.
    in_step : bool
        Whether its head was near that of the others.
    answers : bool
        Whether it answered when all were compared last; before that it counts as one that does.
    other_chain : int or None
        Of which chain it was found to be instead; None where it is of its own.
    """

    host: str
    state: BreakerState
    head: int | None
    fault: str
    in_step: bool
    answers: bool
    other_chain: int | None = None

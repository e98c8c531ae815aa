"""What a bridge has: whoever quotes it, pays over it and reads what it says, in one object."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from adapters.base import Connectable, FirmQuotes
from adapters.bridges.events import FindReaders
from adapters.chain.protocol import Deployments
from adapters.rpc.reading import Responder
from adapters.transactions.base import PaymentBuilder

Newest: TypeAlias = Callable[[int], Responder]
"""Gives who answers for a chain as of its newest block; raises `VenueUnavailable` without an endpoint for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bridge:
    """One bridge; an entry point in the group ``routing_engine.bridges`` names it. What it lacks is None.

    Its lanes come from an adapter, or from a protocol. Nobody need pay over it: without payments it is quoted only.

    Parameters
    ----------
    adapter : Connectable or None
        Reads the lanes where a service is asked, or nobody. It confirms hops as well: it is a `FirmQuotes`.
    protocol : Deployments or None
        Reads the lanes from contracts; run by the adapter `chain`.
    payments : callable or None
        Returns the builders of calls that pay over it.
    events : FindReaders or None
        Returns the readers of its events on a chain.
    firm_quotes : callable or None
        Makes who confirms hops over a bridge whose contracts say what they give.

    Raises
    ------
    ValueError
        If it has payments and no events.
    """

    adapter: Connectable | None = None
    protocol: Deployments | None = None
    payments: Callable[[], Iterable[PaymentBuilder]] | None = None
    events: FindReaders | None = None
    firm_quotes: Callable[[Newest], FirmQuotes] | None = None

    def __post_init__(self) -> None:
        if self.payments is not None and self.events is None:
            raise ValueError("a bridge with `payments` must have `events`: nothing else credits what was paid over it")

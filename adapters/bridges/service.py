"""What bridges share that are read from one service: whom to ask, and how often."""

from __future__ import annotations

from adapters.base import Adapter, Client, Payload, Source, Venues
from routing_engine.model import Token


class ServiceAdapter(Adapter[Payload]):
    """A bridge that is read from one service.

    Parameters
    ----------
    client : Client
        Puts the questions.
    tokens : tuple of Token
        The tokens to look for.
    url : str, optional
        Where the service is; by default the public one.
    """

    name: str
    """Short name, also of the source."""
    url: str
    """Of the public service; where a source asks another one, of that."""
    interval_s: float
    """Seconds between two readings."""
    max_age_s: float
    """Seconds after which what was read is left out."""

    def __init__(self, client: Client, tokens: tuple[Token, ...], url: str | None = None) -> None:
        self.client = client
        self.url = url or self.url
        self.tokens = {token.key: token for token in tokens}

    @classmethod
    def connect(cls, venues: Venues) -> tuple[Source, ...]:
        """Return the service at the option ``url``, or the public one, as the only source."""
        adapter = cls(venues.http, venues.tokens, venues.options.get("url"))
        return (Source(adapter=adapter, interval_s=cls.interval_s, max_age_s=cls.max_age_s),)

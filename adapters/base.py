"""What an adapter is, and how it fails."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, runtime_checkable

from routing_engine.formats import Contents
from routing_engine.model import Hop, Token

UNAVAILABLE = ":unavailable"
"""In `Contents.refused`, behind the name of a protocol of which nothing could be read."""

Payload = TypeVar("Payload")


class AdapterError(Exception):
    """Root of what may go wrong with one source; caught by the feed, which goes on with the others."""

    code = "adapter_error"


class VenueUnavailable(AdapterError):
    """The source does not answer now; the next refresh tries again.

    Parameters
    ----------
    message : str
        For the operator; names the host, never the whole URL, which may hold a key.
    retry_after_s : float, optional
        How long the source asked to be left alone.
    """

    code = "venue_unavailable"

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Declined(AdapterError):
    """The source answers, but not this question; asking again the same way is no use.

    Parameters
    ----------
    message : str
        As `VenueUnavailable`.
    status : int
        HTTP status.
    body : object
        The answer's JSON, or None where it is not JSON.
    """

    code = "declined"

    def __init__(self, message: str, *, status: int, body: Any = None) -> None:
        super().__init__(message)
        self.status = status
        self.body = body


class BadPayload(AdapterError):
    """The source answered something that cannot be trusted; its last good state is kept until it is stale."""

    code = "bad_payload"


class TooLarge(BadPayload):
    """An answer is longer, or nested deeper, than anybody wants to read; whoever gave it may be well."""


class Adapter(Protocol[Payload]):
    """One source of markets.

    Fetching and parsing are apart: `fetch` does all input and output, `parse` is a pure function, so recorded payloads
    test everything that can be wrong about numbers.
    """

    @property
    def name(self) -> str:
        """Short name for people and metrics; an adapter that reads one chain adds it: ``uniswap_v2@1``."""
        ...

    def fetch(self) -> Payload:
        """Read the source.

        Raises
        ------
        AdapterError
            `VenueUnavailable` if it does not answer, `Declined` if it refuses, `BadPayload` if the answer is not even
            of the right shape.
        """
        ...

    def parse(self, payload: Payload) -> Contents:
        """Turn a payload into all markets that the source has now.

        What was given before and is not given again is gone. Markets that have not changed are best given again as the
        same objects: then nobody compares them.

        Raises
        ------
        BadPayload
            If a number is missing, malformed or out of bounds; the message names the field.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FirmQuote:
    """What a bridge confirms for one amount and one recipient.

    Parameters
    ----------
    hop : Hop
        What will be sent and received now; compare its `amount_out` with what was promised.
    terms : mapping of str to object
        What the transaction needs beside the amounts, by the names of the bridge's own documentation.
    """

    hop: Hop
    terms: Mapping[str, object] = field(default_factory=dict)


@runtime_checkable
class FirmQuotes(Protocol):
    """What the adapter of a bridge can do besides: confirm a hop over one of its lanes.

    Lanes are indicative: they were asked for at another amount, for nobody, a while ago. Before somebody pays with one
    it is asked for again.
    """

    @property
    def protocols(self) -> tuple[str, ...]:
        """Of the hops that it can confirm."""
        ...

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        """Ask for the very amount and addresses of a hop, now.

        Parameters
        ----------
        hop : Hop
            Over a lane of this adapter.
        sender, recipient : str
            Addresses on the two chains.

        Raises
        ------
        AdapterError
            `Declined` if the bridge no longer takes this amount, the others as `Adapter.fetch`.
        """
        ...


class Client(Protocol):
    """Puts questions to services that speak JSON: `adapters.http.client.JsonClient`, or a recording."""

    def get(self, url: str, params: Mapping[str, str | int] | None = None) -> Any:
        """Return the document at `url`; raises `AdapterError`."""
        ...

    def post(self, url: str, body: object) -> Any:
        """Send `body` as JSON and return the answer's document; raises `AdapterError`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Venues:
    """The outside world, as adapters are given it.

    Parameters
    ----------
    http : Client
        For services that speak JSON.
    tokens : tuple of Token
        The tokens to look for.
    options : mapping of str to str
        This adapter's own settings.
    """

    http: Client
    tokens: tuple[Token, ...]
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """An adapter, how often it is read, and for how long what it gave may be used.

    Parameters
    ----------
    adapter : Adapter
        Its name is the source's name.
    interval_s : float
        Seconds between the starts of two readings.
    max_age_s : float
        Seconds after which what was read is stale, and left out.
    """

    adapter: Adapter[Any]
    interval_s: float
    max_age_s: float


class Connectable(Protocol):
    """What an entry point names: a class, or anything else, that makes adapters."""

    def connect(self, venues: Venues) -> Iterable[Source]:
        """Return a source for each chain or service that `venues` reaches; none where it has nothing to read."""
        ...

"""What an adapter is, how it fails, and how installed ones are found."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any, Protocol, TypeVar

from routing_engine.formats import Contents

ENTRY_POINTS = "routing_engine.adapters"

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


class Adapter(Protocol[Payload]):
    """One source of markets.

    Fetching and parsing are apart: `fetch` does all input and output, `parse` is a pure function, so recorded payloads
    test everything that can be wrong about numbers.
    """

    @property
    def name(self) -> str:
        """Short name for people and metrics."""
        ...

    def fetch(self) -> Payload:
        """Read the source.

        Raises
        ------
        VenueUnavailable
            If it does not answer.
        BadPayload
            If the answer is not even of the right shape.
        """
        ...

    def parse(self, payload: Payload) -> Contents:
        """Turn a payload into markets.

        Raises
        ------
        BadPayload
            If a number is missing, malformed or out of bounds.
        """
        ...


def installed_adapters() -> dict[str, type[Adapter[Any]]]:
    """Return the adapter classes that installed packages offer, by entry point name.

    A package adds one by a line in its metadata, in the group ``routing_engine.adapters``.
    """
    return {entry.name: entry.load() for entry in sorted(entry_points(group=ENTRY_POINTS))}

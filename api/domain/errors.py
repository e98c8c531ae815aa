"""Why the service refuses a request, in its own words; `api.bodies.errors` gives each its HTTP status."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One property of a request and what is wrong with it.

    Parameters
    ----------
    path : str
        Dotted path of the property, such as ``line_items.0.title``; empty for the request as a whole.
    message : str
        What is wrong, and where it is not evident, the remedy.
    """

    path: str
    message: str


class RequestRefused(Exception):
    """The request is not carried out.

    Parameters
    ----------
    message : str
        One sentence for the caller.
    problems : Problem
        The offending properties, if the refusal is about some.
    retry_after_s : int, optional
        After how many seconds the same request may succeed.
    """

    def __init__(self, message: str, *problems: Problem, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.problems = problems
        self.retry_after_s = retry_after_s


class InvalidData(RequestRefused):
    """Properties are missing or malformed."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("Invalid request data", *problems)

    @classmethod
    def at(cls, path: str, message: str) -> InvalidData:
        """Refuse one property."""
        return cls(Problem(path=path, message=message))


class Faults:
    """Gathers what several checks find wrong, so that a caller learns of all of it at once.

    Each check runs in a `with` of its own; ``refuse()`` follows the last one.
    """

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    @contextmanager
    def gather(self) -> Iterator[None]:
        """Note what a check refuses, and go on after it."""
        try:
            yield
        except InvalidData as refused:
            self._problems.extend(refused.problems)

    def refuse(self) -> None:
        """Refuse all that was found.

        Raises
        ------
        InvalidData
            If there was anything.
        """
        if self._problems:
            raise InvalidData(*self._problems)


class Unauthenticated(RequestRefused):
    """The API key is missing, unknown or revoked."""


class Forbidden(RequestRefused):
    """The key may not do this, in this environment."""


class NotFound(RequestRefused):
    """There is no such thing, or it is another vendor's."""


class Gone(RequestRefused):
    """There was such a thing, and its time is over."""


class Conflict(RequestRefused):
    """The thing's present state does not allow this."""


class TooManyRequests(RequestRefused):
    """The caller has as much of this under way as it may."""


class Unprocessable(RequestRefused):
    """The request contradicts an earlier one."""


class UnsupportedMedia(RequestRefused):
    """The body is not JSON."""


class ServiceUnavailable(RequestRefused):
    """Something the service needs is down; the same request may succeed later."""

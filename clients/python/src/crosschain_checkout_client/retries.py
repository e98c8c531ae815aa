"""Which requests are sent again, and when."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

BUSY = frozenset({429, 503})
"""The service did nothing: any request that may be repeated at all is sent again."""
LOST = frozenset({502, 504})
"""A proxy got no answer, as if the connection had failed: something may have been done."""
SAFE = frozenset({"GET", "PATCH"})
"""Carried out twice, they change nothing more. A DELETE would find nothing the second time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """How often and how patiently requests are sent again.

    A POST is never sent again without an `Idempotency-Key`; this client gives each one.

    Parameters
    ----------
    most : int
        Retries after the first attempt; 0 for none.
    first_s, longest_s : float
        The first wait is at most `first_s`, each further one at most twice that, up to `longest_s`; a `Retry-After` is
        waited for before it.
    patience_s : float
        The longest `Retry-After` that is waited for; beyond it the error comes at once.
    """

    most: int = 3
    first_s: float = 0.5
    longest_s: float = 8.0
    patience_s: float = 60.0

    def choose_wait(
        self, attempt: int, request: httpx.Request, outcome: httpx.Response | httpx.RequestError
    ) -> float | None:
        """Return in how many seconds to send `request` again, or None if it is not to be.

        Parameters
        ----------
        attempt : int
            How many there were already, from 1.
        request : httpx.Request
            As it was sent.
        outcome : httpx.Response or httpx.RequestError
            What came of it.
        """
        asked = None if isinstance(outcome, httpx.RequestError) else read_retry_after(outcome)
        if attempt > self.most or not _may_repeat(request, outcome, asked):
            return None
        if asked is not None and asked > self.patience_s:
            return None
        ceiling = min(self.longest_s, self.first_s * 2.0 ** (attempt - 1))
        # Spread, or all clients of a service that was away come back at the same moment.
        spread: float = random.uniform(0.5, 1.0)
        return (asked or 0.0) + ceiling * spread


def _may_repeat(request: httpx.Request, outcome: httpx.Response | httpx.RequestError, asked: float | None) -> bool:
    has_key = "Idempotency-Key" in request.headers
    if request.method == "POST" and not has_key:
        return False
    if isinstance(outcome, httpx.RequestError) or outcome.status_code in LOST:
        return has_key or request.method in SAFE
    if outcome.status_code == 409:
        return has_key and asked is not None  # it passes by itself: an earlier attempt, or money that is not final yet
    return outcome.status_code in BUSY


def read_retry_after(response: httpx.Response) -> float | None:
    """Return the seconds that a `Retry-After` asks for, as a number or as a date; None where there is none."""
    text = response.headers.get("Retry-After", "")
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())

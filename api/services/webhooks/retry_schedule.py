"""When a delivery that failed is tried again."""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from api.domain.env import EnvMode
from api.net.client import HttpReply

# Before each attempt, counted from the one before.
DELAYS = (
    timedelta(0),
    timedelta(seconds=5),
    timedelta(minutes=5),
    timedelta(minutes=30),
    timedelta(hours=2),
    timedelta(hours=5),
    timedelta(hours=10),
    timedelta(hours=14),
    timedelta(hours=20),
    timedelta(hours=24),
)
TRIES = {EnvMode.LIVE: len(DELAYS), EnvMode.TEST: 3}
JITTER = 0.1
MAX_RETRY_AFTER = timedelta(hours=24)
DISABLE_AFTER = timedelta(days=5)

_SECONDS = re.compile(r"[0-9]{1,9}", re.ASCII)


def plan_next_attempt(
    attempts: int, env_mode: EnvMode, reply: HttpReply, now: datetime, rng: random.Random
) -> datetime | None:
    """Return when to try again, or None to give up.

    Parameters
    ----------
    attempts : int
        How many have been made, at least 1.
    reply : HttpReply
        What came of the last one; its `Retry-After` puts the next one off, by 24 h at most.
    rng : random.Random
        Spreads the attempts, so that a receiver that comes back is not met by all of them at once.
    """
    if attempts >= TRIES[env_mode]:
        return None
    delay = DELAYS[attempts] * rng.uniform(1 - JITTER, 1 + JITTER)
    return now + max(delay, min(retry_after(reply.retry_after, now), MAX_RETRY_AFTER))


def retry_after(header: str | None, now: datetime) -> timedelta:
    """Read a `Retry-After` header: seconds or a date; zero where there is none that makes sense."""
    text = (header or "").strip()
    if _SECONDS.fullmatch(text):
        return timedelta(seconds=int(text))
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return timedelta(0)
    return max((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - now, timedelta(0))

"""Bring a vendor's events to a program on this machine, signed as a webhook's are."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import click

from api.cli.http import ServiceAway, ServiceClient

EVENTS = "/api/v1/events"
POLL_S, LONGEST_S = 1.0, 30.0
"""Between two questions, and at most while the service is away."""
TIMEOUT_S = 15.0
"""For the receiver, as for a webhook."""
OLDEST = timedelta(minutes=5)
"""How far the clocks of a service's processes may be apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forwarded:
    """An event that was sent on, and what came of it.

    Parameters
    ----------
    status : int or None
        What the receiver answered; None if it did not.
    error : str
        Why it did not.
    """

    event_id: str
    event: dict[str, Any]
    at: datetime
    status: int | None
    error: str
    duration_ms: int


def derive_secret(key: str) -> str:
    """Return the secret that signs what is forwarded: always the same for an API key, which it does not give away."""
    digest = hmac.new(key.encode(), b"checkout webhooks listen", hashlib.sha256).digest()
    return f"whsec_{base64.b64encode(digest).decode()}"


def find_cursor(client: ServiceClient) -> str:
    """Return where events begin that nobody has seen yet, by the service's own clock and order."""
    _, date = client.get_dated(EVENTS, limit=1)
    try:
        now = parsedate_to_datetime(date)
    except ValueError:
        now = datetime.now(UTC)
    since = (now - OLDEST).astimezone(UTC).isoformat()
    while True:
        page = client.get(EVENTS, since=since)
        since = page["next_cursor"] or since
        if not page["has_more"]:
            return since


def follow_events(client: ServiceClient, since: str, pause: Callable[[float], None]) -> Iterator[dict[str, Any]]:
    """Yield every event after `since` as it becomes known, each once and in its order.

    While the service is away, it is asked again and again, ever more rarely.
    """
    wait_s = POLL_S
    while True:
        try:
            page = client.get(EVENTS, since=since)
        except ServiceAway as error:
            if wait_s == POLL_S:
                click.echo(f"{error.message}; it is asked again.", err=True)
            wait_s = min(LONGEST_S, 2 * wait_s)
            pause(max(wait_s, error.retry_after_s or 0))
            continue
        wait_s = POLL_S
        for row in page["data"]:
            yield row
            since = row["id"]
        since = page["next_cursor"] or since
        if not page["has_more"]:
            pause(POLL_S)


def forward(row: dict[str, Any], url: str, secret: str) -> Forwarded:
    """Send an event on, as the service sends webhooks; a redirect is not followed."""
    import requests
    from standardwebhooks import Webhook

    body = json.dumps({"event": row["event"]}, ensure_ascii=False, separators=(",", ":"))
    at = datetime.now(UTC)
    headers = {
        "Content-Type": "application/json",
        "webhook-id": row["id"],
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(row["id"], at, body),
    }
    begun, status, error = time.monotonic(), None, ""
    with requests.Session() as session:
        session.trust_env = False  # a proxy would not find this machine
        try:
            answer = session.post(
                url, data=body.encode(), headers=headers, timeout=TIMEOUT_S, allow_redirects=False, stream=True
            )
            status = answer.status_code
            answer.close()
        except requests.RequestException as fault:
            error = _describe(fault)
    duration_ms = round(1000 * (time.monotonic() - begun))
    return Forwarded(event_id=row["id"], event=row["event"], at=at, status=status, error=error, duration_ms=duration_ms)


def write_lines(done: Forwarded, url: str) -> Iterator[str]:
    """Say in two lines what was sent and what was answered."""
    at = done.at.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    order_id = done.event.get("data", {}).get("payment_order_id", "")
    yield f"{at}  --> {done.event.get('type')}  [{done.event_id}]  {order_id}"
    answer = f"[{done.status}]" if done.status is not None else f"[{done.error}]"
    yield f"{at}  <-- {answer} POST {url}  [{done.event_id}]  {done.duration_ms} ms"


def is_wanted(row: dict[str, Any], types: Collection[str]) -> bool:
    """Whether an event is of one of these types; no types are all."""
    return not types or row["event"].get("type") in types


def _describe(fault: Exception) -> str:
    words = {"ConnectionError": "nothing listens there", "ConnectTimeout": "no answer", "ReadTimeout": "no answer"}
    return words.get(type(fault).__name__, type(fault).__name__)

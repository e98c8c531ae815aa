"""Checks that a delivery is from the service: Standard Webhooks 1.0.0."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from crosschain_checkout_client.errors import WebhookRefused, WebhookUnreadable
from crosschain_checkout_client.models import Event, WebhookBody
from crosschain_checkout_client.wire import read_value

TOLERANCE_S = 300
LEAST_BYTES = 16
"""Of a secret: with an empty one anybody could sign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedEvent:
    """An event that is from the service.

    Parameters
    ----------
    id : str
        The same in every delivery of the event. Deliveries may come more than once: handle each id once.
    event : Event
        What happened.
    """

    id: str
    event: Event


def verify_webhook(
    body: bytes | str,
    headers: Mapping[str, str],
    *secrets: str | Sequence[str],
    tolerance_s: float = TOLERANCE_S,
    now_s: float | None = None,
) -> ReceivedEvent:
    """Return the event of a delivery, once its signature and its age are right.

    Parameters
    ----------
    body : bytes or str
        The request's body as it came, to the byte: not parsed and written again.
    headers : mapping of str to str
        The request's headers, in any case.
    *secrets : str or sequence of str
        `whsec_…` as the service showed it; several while one is being replaced, one by one or in a list.
    tolerance_s : float
        How old it may be, or how far in the future.
    now_s : float, optional
        Seconds since 1970; by default the machine's clock.

    Raises
    ------
    WebhookRefused
        If it is not from the service, too old, or damaged.
    WebhookUnreadable
        If it is from the service, but of a kind that this version does not know.
    ValueError
        If a secret is none.
    TypeError
        If body or headers are of another type, as parsed ones are.
    """
    keys = [_read_secret(each) for given in secrets for each in _list_secrets(given)]
    if not keys:
        raise ValueError("secrets is empty: give the subscription's secret, whsec_…")
    if not isinstance(body, bytes | bytearray | memoryview | str):
        raise TypeError(
            f"body is the request's body as it came, bytes or str, not {type(body).__name__}: don't parse it"
        )
    if not hasattr(headers, "items"):  # frameworks have classes of their own for them
        raise TypeError(f"headers is the mapping of the request's headers, and not {type(headers).__name__}")
    content = body.encode(errors="surrogatepass") if isinstance(body, str) else bytes(body)
    sent_headers = {name.lower(): value for name, value in headers.items()}
    event_id, sent, signatures = (sent_headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not (event_id and sent and signatures):
        raise WebhookRefused("A header is missing: webhook-id, webhook-timestamp or webhook-signature")
    signed = b".".join((event_id.encode(errors="replace"), sent.encode(errors="replace"), content))
    if not _is_signed(signed, keys, signatures):
        raise WebhookRefused("No signature is right: is this the secret of this subscription, and the body untouched?")
    _check_age(sent, time.time() if now_s is None else now_s, tolerance_s)
    try:
        return ReceivedEvent(id=event_id, event=read_value(WebhookBody, json.loads(content)).event)
    except ValueError as error:
        raise WebhookUnreadable(f"It is from the service, but can't be read: {error}") from error


def _list_secrets(given: str | Sequence[str] | None) -> Sequence[str | None]:
    return [given] if given is None or isinstance(given, str) else given


def _read_secret(secret: str | None) -> bytes:
    if secret is None:
        raise ValueError("secrets: None is no secret of a webhook, whsec_…: is the setting there?")
    try:
        key = base64.b64decode(secret.strip().removeprefix("whsec_"), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < LEAST_BYTES:
        raise ValueError("This is no webhook's secret; it begins with whsec_ and was shown when the webhook was made")
    return key


def _is_signed(signed: bytes, keys: list[bytes], signatures: str) -> bool:
    """Compare every signature with every key, in the same time whatever is right."""
    given = [each.removeprefix("v1,").encode(errors="replace") for each in signatures.split() if each[:3] == "v1,"]
    right = [base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()) for key in keys]
    matches = [hmac.compare_digest(one, other) for one in given for other in right]
    return any(matches)


def _check_age(sent: str, now_s: float, tolerance_s: float) -> None:
    if not re.fullmatch(r"[0-9]{1,12}", sent):
        raise WebhookRefused("webhook-timestamp is no number of seconds")
    age_s = now_s - int(sent)
    if abs(age_s) > tolerance_s:
        raise WebhookRefused(f"It was sent {age_s:.0f} s ago, which is beyond {tolerance_s:.0f} s: is the clock right?")

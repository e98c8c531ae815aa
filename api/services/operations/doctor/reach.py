"""Whether the API answers where customers are sent, and whether vendors' receivers take what they are sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from urllib.parse import urlsplit

import requests
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.services.operations.doctor.findings import Finding, praise, warn
from api.services.resources import Resources
from api.services.webhooks.outbox import DeliveryStatus
from api.storage.tables import Vendor, WebhookAttempt, WebhookDelivery, WebhookSubscription

API, RECEIVERS = "api", "receivers"
TIMEOUT_S = 5.0
UNTRUSTED = (
    "see that the certificate is of BASE_URL's name and has not ended; where its authority is your own, set "
    "REQUESTS_CA_BUNDLE to the file with its certificate, for every command and process"
)
ENOUGH = 3
"""Deliveries that nobody took, since the last that somebody did: fewer may be a receiver that is started anew."""
MOST_NAMED, MOST_LOOKED_AT = 5, 100
JUST_BEFORE = timedelta(minutes=1)
"""The first delivery that failed was made that much before it failed, at most."""


def check_reach(resources: Resources, address: str | None = None) -> Iterator[Finding]:
    """Ask the API for its health, and the database for receivers that take nothing.

    Parameters
    ----------
    address : str, optional
        Where the API is; its own `BASE_URL` without it.
    """
    yield _check_api(resources.config.base_url if address is None else address.rstrip("/"))
    with suppress(SQLAlchemyError):  # the database's own findings say so
        yield _check_receivers(resources)


def _check_api(base_url: str) -> Finding:
    remedy = "start `checkout serve`, or see BASE_URL and the proxy; it may be that only this machine can't reach it"
    try:
        with requests.get(f"{base_url}/healthz", timeout=TIMEOUT_S, allow_redirects=False, stream=True) as answer:
            status = answer.status_code
    except requests.exceptions.SSLError:
        message = f"answers at {base_url} with a certificate that this machine does not trust"
        return warn(API, message, UNTRUSTED)
    except requests.RequestException as error:
        return warn(API, f"does not answer at {base_url} ({type(error).__name__})", remedy)
    if status != requests.codes.ok:
        return warn(API, f"answers {status} at {base_url}/healthz", remedy)
    return praise(API, f"answers at {base_url}")


def _check_receivers(resources: Resources) -> Finding:
    with resources.database.read() as session:
        failing = [each for each in map(partial(_describe, session), _list_failing(session)) if each]
    if not failing:
        return praise(RECEIVERS, "none has refused the last deliveries")
    more = f"; and {len(failing) - MOST_NAMED} more" if len(failing) > MOST_NAMED else ""
    return warn(
        RECEIVERS,
        f"nothing is taken by {'; '.join(failing[:MOST_NAMED])}{more}",
        "what is not allowed is this service's own word: see ALLOW_LOCAL_WEBHOOKS; else tell their vendors: "
        "GET …/deliveries says what each answered, they correct or delete the webhook",
    )


def _list_failing(session: Session) -> Sequence[tuple[WebhookSubscription, str]]:
    query = (
        select(WebhookSubscription, Vendor.name)
        .join(Vendor, Vendor.id == WebhookSubscription.vendor_id)
        .where(
            WebhookSubscription.failing_since.is_not(None),
            WebhookSubscription.disabled_at.is_(None),
            WebhookSubscription.deleted_at.is_(None),
        )
        .order_by(WebhookSubscription.failing_since)
        .limit(MOST_LOOKED_AT)
    )
    return [(row, vendor) for row, vendor in session.execute(query)]


def _describe(session: Session, found: tuple[WebhookSubscription, str]) -> str:
    """Name a webhook that takes nothing; without its address, which may hold a secret of the receiver."""
    row, vendor = found
    since = row.failing_since
    if since is None:
        return ""
    untaken = select(func.count(WebhookDelivery.id)).where(
        WebhookDelivery.subscription_id == row.id,
        WebhookDelivery.attempts > 0,
        WebhookDelivery.status.in_([DeliveryStatus.PENDING, DeliveryStatus.FAILED]),
        WebhookDelivery.created_at >= since - JUST_BEFORE,
    )
    count = session.scalar(untaken) or 0
    if count < ENOUGH:
        return ""
    place = f"{urlsplit(row.url).hostname}, {row.env_mode}, {vendor!r}"
    last = session.execute(
        select(WebhookAttempt.response_status, WebhookAttempt.error)
        .join(WebhookDelivery, WebhookDelivery.id == WebhookAttempt.delivery_id)
        .where(WebhookDelivery.subscription_id == row.id, WebhookDelivery.created_at >= since - JUST_BEFORE)
        .order_by(WebhookAttempt.id.desc())
        .limit(1)
    ).first()
    said = "" if last is None else f", the last: {last.error or last.response_status}"
    return f"{row.id} ({place}): {count} deliveries since {format_time(since)}{said}"

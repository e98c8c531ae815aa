"""Webhook subscriptions, blocking; made from `async_subscriptions.py` by `make clients`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Unpack

from crosschain_checkout_client import models
from crosschain_checkout_client.calls import Call, T
from crosschain_checkout_client.checks import check_id
from crosschain_checkout_client.pages import Send, list_pages

PATH = "/api/v1/webhook_subscription"


class Webhooks:
    """Webhook subscriptions and their deliveries; `verify_webhook` checks what they receive."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def create(
        self, *, idempotency_key: str | None = None, **subscription: Unpack[models.NewSubscription]
    ) -> models.SecretSubscription:
        """Register an address; keep the `secret` of the answer, which is shown this once."""
        call = Call(
            method="POST", path=PATH, kind=models.Registered, body=subscription, idempotency_key=idempotency_key
        )
        return (self._send(call)).data

    def list(self, *, env_mode: models.EnvMode | None = None) -> Sequence[models.Subscription]:
        """Read all subscriptions of the key's environment, without their secrets."""
        query = {"env_mode": env_mode}
        return (self._send(Call(method="GET", path=PATH, kind=models.SubscriptionList, query=query))).data

    def get(self, webhook_id: str) -> models.Subscription:
        """Read a subscription, without its secret."""
        path = f"{PATH}/{check_id(webhook_id=webhook_id)}"
        return (self._send(Call(method="GET", path=path, kind=models.FoundSubscription))).data

    def change(self, webhook_id: str, **change: Unpack[models.SubscriptionChange]) -> models.Subscription:
        """Change the address or the types of events; what is not named stays, and so does the secret."""
        path = f"{PATH}/{check_id(webhook_id=webhook_id)}"
        return (self._send(Call(method="PATCH", path=path, kind=models.Changed, body=change))).data

    def delete(self, webhook_id: str) -> None:
        """Delete a subscription; what was not delivered yet is given up."""
        self._send(Call(method="DELETE", path=f"{PATH}/{check_id(webhook_id=webhook_id)}", kind=models.Message))

    def send_test(
        self, webhook_id: str, *, idempotency_key: str | None = None, **sample: Unpack[models.SampleEvent]
    ) -> str:
        """Send an event about an order that does not exist, and return its id."""
        call = self._post(webhook_id, "test", models.SentTest, idempotency_key, sample)
        return (self._send(call)).data.event_id

    def rotate_secret(self, webhook_id: str, *, idempotency_key: str | None = None) -> models.SecretSubscription:
        """Make a new secret; for 24 hours deliveries are signed with both."""
        call = self._post(webhook_id, "rotate_secret", models.Registered, idempotency_key)
        return (self._send(call)).data

    def enable(self, webhook_id: str, *, idempotency_key: str | None = None) -> models.Enabled:
        """Send new events to a subscription that was disabled; `missed_since` says since when it missed some."""
        return self._send(self._post(webhook_id, "enable", models.Enabled, idempotency_key))

    def redeliver_missed(
        self,
        webhook_id: str,
        since: str | datetime,
        *,
        limit: int | None = None,
        idempotency_key: str | None = None,
    ) -> models.RedeliveredPage:
        """Send a page of the events since a moment that a subscription did not get; `next_cursor` is the next one's."""
        body = {"since": since} if limit is None else {"since": since, "limit": limit}
        call = self._post(webhook_id, "redeliver_missed", models.Redelivered, idempotency_key, body)
        return (self._send(call)).data

    def list_deliveries(
        self,
        webhook_id: str,
        *,
        limit: int | None = None,
        status: models.DeliveryStatus | Sequence[models.DeliveryStatus] | None = None,
        event_id: str | None = None,
        payment_order_id: str | None = None,
    ) -> Iterator[models.Delivery]:
        """Yield what was sent to a subscription and what came of it, newest first; of several filters what has all."""
        wanted = {"status": status, "event_id": event_id, "payment_order_id": payment_order_id}

        def ask(start: str | None) -> models.DeliveryPage:
            query = {**wanted, "limit": limit, "cursor": start}
            path = f"{PATH}/{check_id(webhook_id=webhook_id)}/deliveries"
            return self._send(Call(method="GET", path=path, kind=models.DeliveryPage, query=query))

        for page in list_pages(ask, None):
            yield from page.data

    def redeliver(self, delivery_id: str, *, idempotency_key: str | None = None) -> models.Delivery:
        """Send an event to a subscription again, with the same id."""
        path = f"/api/v1/webhook_delivery/{check_id(delivery_id=delivery_id)}/redeliver"
        call = Call(method="POST", path=path, kind=models.Redelivery, idempotency_key=idempotency_key)
        return (self._send(call)).data

    def _post(self, webhook_id: str, act: str, kind: type[T], key: str | None, body: object = None) -> Call[T]:
        path = f"{PATH}/{check_id(webhook_id=webhook_id)}/{act}"
        given = body if isinstance(body, dict) else None
        return Call(method="POST", path=path, kind=kind, body=given, idempotency_key=key)

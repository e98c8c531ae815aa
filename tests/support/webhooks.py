"""Webhooks without a network: a transport that answers as it is told, and the vendor's side of the interface."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from random import Random
from typing import Any

from flask.testing import FlaskClient
from standardwebhooks import Webhook

from api.domain.env import EnvMode
from api.net.addresses import Reach
from api.net.client import HttpReply
from api.services.resources import Resources
from api.services.webhooks.dispatcher import Dispatcher
from api.services.webhooks.outbox import NewEvent, publish
from api.storage.tables import WebhookDelivery, WebhookSubscription

SUBSCRIPTIONS = "/api/v1/webhook_subscription"
HOOK = "https://shop.example/hook"


@dataclass(frozen=True, kw_only=True)
class Sent:
    """One request, as the receiver sees it."""

    url: str
    body: bytes
    headers: Mapping[str, str]
    reach: Reach
    at: datetime

    @property
    def event_id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> dict[str, Any]:
        return json.loads(self.body)["event"]


@dataclass
class FakeTransport:
    """Keeps what is sent, and gives what `answer` says: 200 unless the test sets another."""

    now: Callable[[], datetime]
    answer: Callable[[Sent], HttpReply] = lambda _: HttpReply(status=200)
    sent: list[Sent] = field(default_factory=list)

    def post(self, url: str, body: bytes, headers: Mapping[str, str], reach: Reach) -> HttpReply:
        sent = Sent(url=url, body=body, headers=dict(headers), reach=reach, at=self.now())
        self.sent.append(sent)
        return self.answer(sent)

    def always(self, **reply: Any) -> None:
        self.answer = lambda _: HttpReply(**reply)


@dataclass
class Desk:
    """A vendor's application and the worker, side by side."""

    resources: Resources
    client: FlaskClient
    transport: FakeTransport
    dispatcher: Dispatcher

    @classmethod
    def of(cls, resources: Resources, client: FlaskClient) -> Desk:
        transport = FakeTransport(resources.clock.now)
        return cls(resources, client, transport, Dispatcher(transport, rng=Random(7)))

    def subscribe(self, merchant: Any, env_mode: str = "test", url: str = HOOK) -> dict[str, Any]:
        body = {"webhook_url": url, "env_mode": env_mode}
        response = self.client.post(SUBSCRIPTIONS, json=body, headers=merchant.headers(env_mode))
        assert response.status_code == 200, response.get_json()
        return response.get_json()["data"]

    def publish(self, merchant: Any, env_mode: str = "test", order_id: str | None = None, **data: Any) -> str:
        event = NewEvent(
            vendor_id=merchant.id,
            env_mode=EnvMode(env_mode),
            order_id=order_id,
            type="payment_success",
            created_at=self.resources.clock.now(),
            data={"payment_order_id": order_id, **data},
        )
        with self.resources.database.write() as session:
            return publish(session, event)

    def work(self) -> list[Sent]:
        """Let the worker send what is due; return that."""
        before = len(self.transport.sent)
        self.dispatcher.run(self.resources)
        self.dispatcher.wait_idle()
        return self.transport.sent[before:]

    def delivery(self, event_id: str) -> WebhookDelivery:
        with self.resources.database.read() as session:
            return session.query(WebhookDelivery).filter_by(event_id=event_id).one()

    def subscription(self, webhook_id: str) -> WebhookSubscription:
        with self.resources.database.read() as session:
            return session.get_one(WebhookSubscription, webhook_id)

    def log(self, merchant: Any, webhook_id: str, env_mode: str = "test") -> list[dict[str, Any]]:
        path = f"{SUBSCRIPTIONS}/{webhook_id}/deliveries"
        return self.client.get(path, headers=merchant.headers(env_mode)).get_json()["data"]


def verify(secret: str, sent: Sent) -> Any:
    """Check a signature with the library that receivers use; return the body."""
    return Webhook(secret).verify(sent.body, dict(sent.headers))

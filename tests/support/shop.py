"""A merchant's application, as the tests of orders see it: it asks over HTTP, and time passes when it says so."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from api.context import attach_resources
from api.domain.env import EnvMode
from api.services.ledger.chain_ledger import connect_ledger
from api.services.orders.expiry import expire_orders
from api.services.resources import Resources
from api.services.settlement.watching.watcher import watch
from api.services.vendors.vendors import Account, set_account
from api.storage.tables import Payment, SimulatedTransfer, WebhookEvent
from routing_engine.reference import token_registry
from tests.support.clock import SettableClock

if TYPE_CHECKING:
    from tests.api.conftest import Merchant

MOST_LOOKS = 3
"""Of the worker in one wait."""
LINK: dict[str, Any] = {
    "line_items": [{"title": "Tea", "quantity": 1}],
    "order_price": {"currency": "USDC", "amount": 10**18, "decimals": 18},
    "env_mode": "test",
    "success_callback_url": "http://localhost:3000?success=true",
    "cancel_callback_url": "http://localhost:3000?cancel=true",
    "failure_callback_url": "http://localhost:3000?failure=true",
    "metadata": {"cart": "7"},
}


def connected(resources: Resources, env_mode: EnvMode = EnvMode.LIVE, *chain_ids: int) -> Resources:
    """Return resources with real chains, Base unless told otherwise, behind an endpoint that is down."""
    urls = dict.fromkeys(chain_ids or (8453,), ("http://127.0.0.1:9/",))
    return replace(resources, ledgers={**resources.ledgers, env_mode: connect_ledger(urls, env_mode, resources.clock)})


@dataclass(frozen=True)
class Shop:
    """One merchant, the service, and its worker."""

    client: FlaskClient
    resources: Resources
    clock: SettableClock
    merchant: Merchant

    def post(self, path: str, body: object = None, *, env_mode: str = "test", **headers: str) -> TestResponse:
        """Send a request with the merchant's key."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.post(path, json=body, headers=self.merchant.headers(env_mode) | given)

    def get(self, path: str, *, env_mode: str = "test") -> TestResponse:
        """Read with the merchant's key."""
        return self.client.get(path, headers=self.merchant.headers(env_mode))

    def create(self, *, env_mode: str = "test", **changes: object) -> str:
        """Create a payment link and return its order's id."""
        response = self.post("/api/v1/payment_link", {**LINK, "env_mode": env_mode, **changes}, env_mode=env_mode)
        assert response.status_code == 200, response.get_json()
        return str(response.get_json()["payment_order_id"])

    def create_live(self, *, headers: Mapping[str, str] | None = None, **changes: object) -> str:
        """Create a live link while its chain is connected; it is not any more when this returns."""
        token = token_registry.token("USDC", 8453)
        address = "0x" + hashlib.sha256(self.merchant.id.encode()).hexdigest()[:40]
        account = Account(
            currency="USDC", chain_id=8453, token_address=token.address, token_decimals=6, address=address
        )
        with self.resources.database.write() as session:
            set_account(session, self.merchant.id, EnvMode.LIVE, account, self.clock.now())
        attach_resources(self.client.application, connected(self.resources))
        try:
            urls = {name: "https://shop.example/back" for name in LINK if name.endswith("_callback_url")}
            body = {**LINK, **urls, **changes, "env_mode": "live"}
            answer = self.post("/api/v1/payment_link", body, env_mode="live", **(headers or {}))
            assert answer.status_code == 200, answer.get_json()
            return str(answer.get_json()["payment_order_id"])
        finally:
            attach_resources(self.client.application, self.resources)

    def order(self, order_id: str, *, env_mode: str = "test") -> dict[str, Any]:
        """Read an order back."""
        response = self.get(f"/api/v1/payment/{order_id}", env_mode=env_mode)
        assert response.status_code == 200, response.get_json()
        body: dict[str, Any] = response.get_json()
        return body

    def act(self, order_id: str, action: str, **body: object) -> TestResponse:
        """Ask for a simulation."""
        return self.post(f"/api/v1/payment/{order_id}/simulate", {"action": action, **body})

    def simulate(self, order_id: str, action: str, **body: object) -> dict[str, Any]:
        """Ask for a simulation that is allowed."""
        response = self.act(order_id, action, **body)
        assert response.status_code == 200, response.get_json()
        answer: dict[str, Any] = response.get_json()
        return answer

    def wait(self, seconds: int = 1) -> None:
        """Let the worker run once a second, or a few times if it is to be long: what it sees is the same."""
        looks = min(seconds, MOST_LOOKS)
        for number in range(looks):
            self.clock.advance(seconds=(number + 1) * seconds // looks - number * seconds // looks)
            watch(self.resources)
            expire_orders(self.resources)

    def history(self, order_id: str) -> list[str]:
        """Return the timeline as short words."""
        return [f"{row['status']}/{row['status_reason']}" for row in self.order(order_id)["timeline"]]

    def events(self, order_id: str) -> list[dict[str, Any]]:
        """Return the events of an order, oldest first."""
        with self.resources.database.read() as session:
            query = select(WebhookEvent.payload).where(WebhookEvent.order_id == order_id).order_by(WebhookEvent.seq)
            return [self.client.application.json.loads(text)["event"] for text in session.scalars(query)]

    def payments(self) -> list[Payment]:
        """Return all payments that the watcher wrote down."""
        with self.resources.database.read() as session:
            return list(session.scalars(select(Payment).order_by(Payment.id)))

    def transfers(self) -> list[SimulatedTransfer]:
        """Return what moved on the simulated chains, and still does so."""
        query = select(SimulatedTransfer).where(SimulatedTransfer.is_canonical)
        with self.resources.database.read() as session:
            return list(session.scalars(query.order_by(SimulatedTransfer.block_number)))

"""A merchant in the middle of its business: an order that is paid, a delivery that failed, a transfer that strayed."""

from __future__ import annotations

from dataclasses import dataclass

from api.net.client import HttpReply
from tests.support.shop import Shop
from tests.support.simulated_payments import send
from tests.support.webhooks import SUBSCRIPTIONS, Desk


@dataclass(frozen=True)
class Scene:
    """What requests can be about."""

    shop: Shop
    desk: Desk
    webhook_id: str

    def make_paid_order(self) -> str:
        """Return an order whose payment can be sent back."""
        order_id = self.shop.create()
        self.shop.simulate(order_id, "pay")
        self.shop.wait(60)
        assert self.shop.order(order_id)["transfers"][0]["status"] == "final"
        return order_id

    def make_failed_delivery(self) -> str:
        """Return a delivery that was given up."""
        self.desk.transport.always(status=410)
        self.desk.publish(self.shop.merchant)
        self.desk.work()
        self.shop.post(f"{SUBSCRIPTIONS}/{self.webhook_id}/enable")
        self.desk.transport.answer = lambda _: HttpReply(status=200)
        return str(self.desk.log(self.shop.merchant, self.webhook_id)[0]["delivery_id"])

    def send_stray(self) -> str:
        """Return a transfer that counts for no order."""
        send(self.shop, self.shop.create(), 10**6, reference=None)
        self.shop.wait(5)
        return next(row.public_id for row in self.shop.payments() if row.order_id is None)

    def make_lapsed_webhook(self) -> str:
        """Return a webhook that is active again and has missed an event."""
        self.make_failed_delivery()
        self.desk.transport.always(status=410)
        self.shop.create()
        self.desk.work()
        self.shop.create()
        self.desk.transport.answer = lambda _: HttpReply(status=200)
        self.shop.post(f"{SUBSCRIPTIONS}/{self.webhook_id}/enable")
        return self.webhook_id

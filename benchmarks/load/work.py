"""What `benchmarks.load.costs` measures, done in this process; a receiver of webhooks is another."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from flask.testing import FlaskClient
from sqlalchemy import func, select

from api.app import build_app
from api.domain.env import EnvMode
from api.services.resources import Resources
from api.services.settlement.watching.progress import Progress
from api.services.settlement.watching.watcher import look
from api.services.vendors.vendors import create_vendor
from api.services.webhooks.dispatcher import Dispatcher
from api.services.webhooks.outbox import NewEvent, publish
from api.storage.tables import PaymentOrder, WebhookDelivery
from benchmarks.load.__main__ import LINK, QUOTE

CHAIN = 8453
MOST_LOOKS = 20
RECEIVER = """
import asyncio
async def take(reader, writer):
    head = await reader.readuntil(b"\\r\\n\\r\\n")
    named = dict(line.lower().split(b": ", 1) for line in head.split(b"\\r\\n")[1:] if line)
    length = int(named[b"content-length"])
    await reader.readexactly(length)
    writer.write(b"HTTP/1.1 204 Taken\\r\\nConnection: close\\r\\n\\r\\n")
    await writer.drain()
    writer.close()
async def main():
    server = await asyncio.start_server(take, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
"""


class Work:
    """What is measured."""

    def __init__(self, resources: Resources, hook: str) -> None:
        self._resources = resources
        self._client: FlaskClient = build_app(resources).test_client()
        with resources.database.write() as session:
            self._vendor = create_vendor(session, "Tea & Co", datetime.now(UTC))
            self._other = create_vendor(session, "Cake & Co", datetime.now(UTC))
        self._progress = Progress()
        self._dispatcher = Dispatcher()
        self._number = 0
        body = {"webhook_url": hook, "env_mode": "test"}
        self._ask("POST", "/api/v1/webhook_subscription", body, self._other.keys[EnvMode.TEST])
        self.order_id = self.create()

    def create(self) -> str:
        """Make an order under a key, as a shop does."""
        self._number += 1
        answer = self._ask("POST", "/api/v1/payment_link", LINK, key=f"cart-{self._number}")
        return str(answer["payment_order_id"])

    def read(self) -> None:
        """Read an order."""
        self._ask("GET", f"/api/v1/payment/{self.order_id}")

    def show(self) -> None:
        """Show its page."""
        if self._client.get(f"/payment/{self.order_id}").status_code != 200:
            raise RuntimeError("the page was refused")

    def quote(self) -> None:
        """Ask for a quote."""
        self._ask("GET", QUOTE)

    def pay(self) -> None:
        """Make an order, pay it, and look until that counts."""
        order_id = self.create()
        self._ask("POST", f"/api/v1/payment/{order_id}/simulate", {"action": "pay"})
        for _ in range(MOST_LOOKS):
            with self._resources.database.read() as session:
                order = session.get_one(PaymentOrder, order_id)
            if order.status == "success":
                return
            look(self._resources, EnvMode.TEST, self._ledger, order.settlement_chain_id or CHAIN, Progress())
            time.sleep(0.3)
        raise RuntimeError(f"{order_id} was not paid")

    def look(self) -> None:
        """Look at a chain on which nothing happens."""
        look(self._resources, EnvMode.TEST, self._ledger, CHAIN, self._progress)

    def tell(self, count: int) -> None:
        """Publish events and deliver them."""
        now = self._resources.clock.now()
        with self._resources.database.write() as session:
            for number in range(count):
                new = NewEvent(
                    vendor_id=self._other.vendor_id,
                    env_mode=EnvMode.TEST,
                    order_id=None,
                    type="payment_success",
                    created_at=now,
                    data={"number": number, **LINK},
                )
                publish(session, new)
        pending = select(func.count()).where(WebhookDelivery.status != "delivered")
        while True:
            self._dispatcher.run(self._resources)
            self._dispatcher.wait_idle()
            with self._resources.database.read() as session:
                if not session.scalar(pending):
                    return

    def end(self) -> None:
        """Deliver no more."""
        self._dispatcher.end()

    @property
    def _ledger(self) -> Any:
        return self._resources.ledgers[EnvMode.TEST]

    def _ask(self, method: str, path: str, body: object = None, own: str = "", key: str = "") -> Any:
        headers = {"X-Api-Key": own or self._vendor.keys[EnvMode.TEST]} | ({"Idempotency-Key": key} if key else {})
        answer = self._client.open(path, method=method, json=body, headers=headers)
        if answer.status_code != 200:
            raise RuntimeError(f"{path} was answered {answer.status_code}: {answer.text}")
        return answer.get_json()


@contextmanager
def run_receiver() -> Iterator[str]:
    """Run a receiver that takes everything; give its address."""
    process = subprocess.Popen([sys.executable, "-c", RECEIVER], stdout=subprocess.PIPE, text=True)
    try:
        if process.stdout is None:
            raise TypeError("the receiver has no output")
        yield f"http://127.0.0.1:{int(process.stdout.readline())}/hook"
    finally:
        process.kill()
        process.communicate()

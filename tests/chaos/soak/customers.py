"""Customers and their shops: an open loop, in which nobody waits for those before him.

Each order is asked for at the moment that the plan says, again with the same key until it is acknowledged or the shop
gives up; its latency counts from the planned moment.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from tests.chaos.soak.http import FAILURES, Answer, Server
from tests.chaos.soak.plan import Plan
from tests.support.shop import LINK

PATIENCE_S = 20.0
"""Within which an order has to be acknowledged, or it counts as lost business."""
PAY_PATIENCE_S = 60.0
ATTEMPT_S = 5.0
WATCH_S = 25.0


@dataclass(frozen=True, slots=True)
class Shop:
    """A vendor; `receiver` is the number of its receiver of webhooks, None without one."""

    key: str
    receiver: int | None = None


@dataclass
class Order:
    """One order; moments are seconds since the run began."""

    cart: str
    shop: Shop
    planned_s: float
    acknowledged_s: float | None = None
    attempts: int = 0
    order_id: str = ""
    body_hash: str = ""
    is_paid: bool = False


@dataclass
class Results:
    """What came of a run."""

    orders: list[Order] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    streams: Counter[str] = field(default_factory=Counter)
    late_s: float = 0.0
    """By how much the loop itself was late at most."""


class Customers:
    """Everybody who asks."""

    def __init__(self, plan: Plan, shops: Sequence[Shop], apis: Sequence[Server], stream: Server) -> None:
        self._plan, self._apis, self._stream = plan, apis, stream
        self._quiet = [shop for shop in shops if shop.receiver is None]
        self._told = [shop for shop in shops if shop.receiver is not None]
        self.results = Results()

    async def run(self) -> None:
        """Let everybody come at his time; return when the last is done."""
        self._loop = asyncio.get_running_loop()
        self.began = self._loop.time()
        async with asyncio.TaskGroup() as everybody:
            for number, at_s in enumerate(self._plan.arrivals):
                await asyncio.sleep(max(0.0, self.began + at_s - self._loop.time()))
                self.results.late_s = max(self.results.late_s, self._now() - at_s)
                everybody.create_task(self._buy(number, at_s))
        for server in (*self._apis, self._stream):
            server.close()

    async def _buy(self, number: int, at_s: float) -> None:
        dice = Random(f"{self._plan.seed} {number}")
        is_told = dice.random() < self._plan.told_share
        order = Order(f"cart-{number}", dice.choice(self._told if is_told else self._quiet), at_s)
        self.results.orders.append(order)
        body = json.dumps({**LINK, "metadata": {"cart": order.cart}}).encode()
        answer = await self._insist(number, "/api/v1/payment_link", order, body, PATIENCE_S)
        if answer is None:
            return
        order.acknowledged_s = self._now()
        order.order_id = json.loads(answer.body)["payment_order_id"]
        order.body_hash = hashlib.sha256(answer.body).hexdigest()
        if is_told and dice.random() < self._plan.paid_share:
            is_watched = dice.random() < self._plan.watched_share
            watching = asyncio.create_task(self._watch(order)) if is_watched else None
            path = f"/api/v1/payment/{order.order_id}/simulate"
            paid = await self._insist(number, path, order, b'{"action": "pay"}', PAY_PATIENCE_S, is_payment=True)
            order.is_paid = paid is not None
            if watching is not None:
                await watching

    async def _insist(
        self, number: int, path: str, order: Order, body: bytes, patience_s: float, *, is_payment: bool = False
    ) -> Answer | None:
        """Post until it is answered, when `Retry-After` says, each time to another process as a load balancer would."""
        key = f"pay-{order.cart}" if is_payment else order.cart
        headers = {"X-Api-Key": order.shop.key, "Idempotency-Key": key, "Content-Type": "application/json"}
        end, tried = self._now() + patience_s, 0
        while self._now() < end:
            api = self._apis[(number + tried) % len(self._apis)]
            answer = None
            with suppress(*FAILURES):
                answer = await api.ask("POST", path, headers, body, ATTEMPT_S)
            tried += 1
            order.attempts += not is_payment
            self._note(path, answer)
            if answer is not None and answer.status == 200:
                return answer
            asked = b"0" if answer is None else answer.headers.get(b"retry-after", b"0")
            await asyncio.sleep(max(float(asked), min(0.1 * 2 ** min(tried, 5), 2.0)))
        return None

    def _note(self, path: str, answer: Answer | None) -> None:
        status = "no answer" if answer is None else str(answer.status)
        self.results.statuses[status] += 1
        if answer is not None and answer.status != 200:
            is_expected = answer.status in (409, 503) and b"retry-after" in answer.headers
            if not is_expected:
                self.results.wrong.append(f"{path} was answered {answer.status}: {answer.body[:200].decode()}")

    async def _watch(self, order: Order) -> None:
        """Keep the stream of an order open, as its page does, until it tells something new or the customer goes."""
        counts, known = self.results.streams, b""
        counts["watched"] += 1
        end = self._now() + WATCH_S
        while (left := end - self._now()) > 0:
            try:
                counts["opened"] += 1
                async with asyncio.timeout(left):
                    async for line in self._stream.follow(f"/payment/{order.order_id}/events", known.decode()):
                        if line.startswith(b"id: ") and known not in (b"", line[4:].strip()):
                            counts["told"] += 1
                            return
                        known = line[4:].strip() if line.startswith(b"id: ") else known
            except FAILURES:
                counts["broken"] += self._now() < end
            await asyncio.sleep(0.2)

    def _now(self) -> float:
        return self._loop.time() - self.began

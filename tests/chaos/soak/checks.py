"""What has to hold after a run: nothing is lost, nothing is there twice, and what was promised came in time."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import select

from api.domain.env import EnvMode
from api.domain.orders import OrderStatus
from api.secrets.box import SecretBox
from api.secrets.keys import FixedKeys, parse_keys
from api.services.idempotency import answer_purpose
from api.storage.db import Database
from api.storage.tables import IdempotencyKey, PaymentOrder, WebhookDelivery, WebhookEvent
from tests.chaos.soak.customers import Results
from tests.chaos.soak.receivers import HEALTHY
from tests.support.books import Books, read_books_when_calm

CALM_S = 120.0
LATE_S = 5.0
ACKNOWLEDGED_SHARE = 0.9
GROWTH = 0.1
"""Of its memory that a process may gain in the last two thirds of the time that it lives ..."""
GROWTH_MB = 20.0
"""... or so many MB."""


@dataclass
class Verdict:
    """Figures, what is wrong, and what was too late or too much: that depends on the machine."""

    figures: dict[str, Any] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)

    def require(self, holds: bool, otherwise: str) -> None:
        """Note what does not hold."""
        if not holds:
            self.wrong.append(otherwise)

    def expect(self, holds: bool, otherwise: str) -> None:
        """Note what a machine with nothing else to do would keep."""
        if not holds:
            self.late.append(otherwise)


def judge_orders(verdict: Verdict, database: Database, results: Results, secret_key: str) -> None:
    """Every acknowledged order is there once, with the answer that was given; each that was paid is settled once."""
    acknowledged = [order for order in results.orders if order.acknowledged_s is not None]
    paid = [each for each in acknowledged if each.is_paid]

    def list_unsettled(books: Books) -> list[str]:
        payments = Counter(row.order_id for row in books.payments)
        status = {row.id: row.status for row in books.orders}
        return [
            each.order_id
            for each in paid
            if payments[each.order_id] != 1 or status.get(each.order_id) != OrderStatus.SUCCESS
        ]

    def await_settlement(books: Books) -> None:
        """A payment that was acknowledged just before the end may still wait for blocks, or for a stopped watcher."""
        if unsettled := list_unsettled(books):
            books.wrong.append(f"paid and not settled once: {unsettled[:5]}")

    books = read_books_when_calm(database, CALM_S, await_settlement)
    verdict.wrong += books.wrong[:20]
    by_cart: defaultdict[str, list[PaymentOrder]] = defaultdict(list)
    for row in books.orders:
        by_cart[row.merchant_metadata["cart"]].append(row)
    twice = sorted(cart for cart, rows in by_cart.items() if len(rows) > 1)
    lost = [each.cart for each in acknowledged if each.order_id not in {row.id for row in by_cart[each.cart]}]
    kept = dict(_read_answers(database, secret_key))
    changed = [each.cart for each in acknowledged if kept.get(each.cart) != each.body_hash]
    share = len(acknowledged) / max(1, len(results.orders))
    verdict.figures |= {
        "orders": len(results.orders),
        "acknowledged": len(acknowledged),
        "acknowledged_share": share,
        "orders_lost": len(lost),
        "orders_twice": len(twice),
        "answers_changed": len(changed),
        "payments": len(paid),
        "payments_not_settled_once": len(list_unsettled(books)),
    }
    verdict.require(not lost, f"lost: {lost[:5]}")
    verdict.require(not twice, f"there twice: {twice[:5]}")
    verdict.require(not changed, f"another answer is kept than was given: {changed[:5]}")
    verdict.expect(share >= ACKNOWLEDGED_SHARE, f"only {share:.1%} were acknowledged")
    verdict.wrong += results.wrong[:20]


def _read_answers(database: Database, secret_key: str) -> Iterator[tuple[str, str]]:
    """Give what a repetition of each request would be answered: the cart that is its key, and the answer's hash."""
    box = SecretBox(FixedKeys(parse_keys([secret_key], "SECRET_KEYS")))
    with database.read() as session:
        for row in session.scalars(select(IdempotencyKey).where(IdempotencyKey.key.startswith("cart-"))):
            purpose = answer_purpose(row.vendor_id, EnvMode(row.env_mode), row.key)
            _, body = json.loads(box.open(row.response_body, purpose))
            yield row.key, hashlib.sha256(body.encode()).hexdigest()


@dataclass(frozen=True)
class Arrivals:
    """What the receivers wrote down, by event."""

    first_at: Mapping[str, float]
    taken: frozenset[str]
    bodies: Mapping[str, frozenset[str]]
    counts: Counter[str]
    refused: int
    tarpit: int
    unsigned: int


def read_arrivals(path: Path) -> Arrivals:
    """Read the receivers' file."""
    first_at: dict[str, float] = {}
    bodies: defaultdict[str, set[str]] = defaultdict(set)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    healthy = [line for line in lines if line["receiver"] != HEALTHY]
    for line in healthy:
        first_at.setdefault(line["id"], line["at"])
        bodies[line["id"]].add(line["body"])
    return Arrivals(
        first_at=first_at,
        taken=frozenset(line["id"] for line in healthy if line["status"] == 200),
        bodies={name: frozenset(found) for name, found in bodies.items()},
        counts=Counter(line["id"] for line in healthy if line["status"] == 200),
        refused=sum(line["status"] == 503 for line in healthy),
        tarpit=len(lines) - len(healthy),
        unsigned=sum(not line["is_signed"] for line in lines),
    )


def judge_webhooks(verdict: Verdict, database: Database, arrivals: Arrivals, healthy: Sequence[str]) -> None:
    """Each event of a healthy receiver arrived, soon, and again only as itself."""
    query = (
        select(WebhookEvent.id, WebhookEvent.created_at)
        .join(WebhookDelivery, WebhookDelivery.event_id == WebhookEvent.id)
        .where(WebhookDelivery.subscription_id.in_(healthy))
    )
    with database.read() as session:
        events = session.execute(query).all()
    missing = [row.id for row in events if row.id not in arrivals.taken]
    late = sorted(
        arrivals.first_at[row.id] - row.created_at.timestamp() for row in events if row.id in arrivals.first_at
    )
    p95 = late[int(0.95 * (len(late) - 1))] if late else 0.0
    verdict.figures |= {
        "events": len(events),
        "events_missing": len(missing),
        "events_refused_at_first": arrivals.refused,
        "arrived_again": arrivals.counts.total() - len(arrivals.counts),
        "p50_s": late[len(late) // 2] if late else 0.0,
        "p95_s": p95,
        "longest_s": late[-1] if late else 0.0,
        "tried_at_the_tarpit": arrivals.tarpit,
    }
    verdict.require(not missing, f"never arrived: {missing[:5]}")
    verdict.require(all(len(found) == 1 for found in arrivals.bodies.values()), "one id came with two bodies")
    verdict.require(not arrivals.unsigned, f"{arrivals.unsigned} deliveries were not signed")
    verdict.expect(p95 <= LATE_S, f"healthy receivers heard after {p95:.1f} s at the 95th percentile")


def count_waiting(database: Database, healthy: Sequence[str]) -> int:
    """Count deliveries to healthy receivers that are still under way."""
    query = select(WebhookDelivery.id).where(
        WebhookDelivery.status == "pending", WebhookDelivery.subscription_id.in_(healthy)
    )
    with database.read() as session:
        return len(session.scalars(query).all())

"""One run: everything is thrown, and what was seen is judged and told."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from hypothesis import given, seed
from sqlalchemy import select

from api.domain.ids import RANDOM_CHARS, TIME_CHARS
from api.storage.db import Database
from api.storage.tables import OwnedAddress, Payment, PaymentOrder, WebhookDelivery, WebhookEvent, WebhookSubscription
from tests.fuzz.arena import VENDORS, Arena
from tests.fuzz.drawn import DICE, Drawer, choose_settings
from tests.fuzz.judge import Judge
from tests.fuzz.known import Sense
from tests.fuzz.pool import Caller, Owner
from tests.fuzz.strange import ODD, PAGE_BODY, PAGES, SPOILERS, Base, Odd, list_bases, make_request
from tests.fuzz.wire import Answer, NoAnswer, Request, Wire
from tests.support.contract import Contract

SHARES = {"positive": 0.35, "negative": 0.2, "links": 0.2}
"""Of all cases, how many each part throws; the rest is strange."""
PROGRESS = 2_500
"""Cases between two lines that say how far it is."""
MOST_AGAIN = 4
"""How often more is thrown where an operation never did what it was asked: what can be done hangs on the worker."""
ASKED_AGAIN = 2
"""How often what took too long is sent again."""
MAIN = 0.88
"""How often a vendor asks with a key of all scopes in test mode."""
A_PAGE = 0.15
"""How often a strange request goes to a page, of which the document says nothing."""


@dataclass
class Run:
    """A run against one service."""

    arena: Arena
    judge: Judge
    wire: Wire
    number: int
    limit_s: float
    spared: frozenset[str]
    late: int = 0
    took: Counter[str] = field(default_factory=Counter)

    def throw_all(self, cases: int) -> None:
        """Throw about so many requests."""
        drawer = self._make_drawer(self.number)
        parts: dict[str, Callable[[int], None]] = {
            "positive": lambda share: drawer.draw_each("positive", share),
            "links": drawer.draw_sequences,
            "negative": lambda share: drawer.draw_each("negative", share),
        }
        for part, begin in parts.items():
            self._time(part, begin, int(cases * SHARES[part]))
        self._time("strange", self.throw_strange, cases - self.judge.cases)

    def throw_more(self, cases: int, is_wanting: Callable[[], bool]) -> None:
        """Throw valid requests with other dice, a few times at most, as long as something is wanting."""
        for again in range(1, 1 + MOST_AGAIN):
            if is_wanting():
                self._make_drawer(self.number + again).draw_each("positive", cases)

    def _make_drawer(self, number: int) -> Drawer:
        return Drawer(
            document=self.judge.contract.document,
            address=self.arena.service.url,
            make_sense=self.make_sense,
            throw=self.throw,
            number=number,
        )

    def _time(self, part: str, begin: Callable[[int], None], cases: int) -> None:
        began = time.monotonic()
        begin(cases)
        self.took[part] = round(time.monotonic() - began)

    def throw_strange(self, cases: int) -> None:
        """Throw what no schema describes."""
        bases = list_bases(self.judge.contract.document)
        pages = [Base(method, path, PAGE_BODY if method == "POST" else None) for method, path in PAGES]

        @seed(self.number)
        @choose_settings(cases)
        @given(odd=ODD, number=DICE)
        def throw(odd: Odd, number: int) -> None:
            dice = Random(number)
            sense, is_page = self.make_sense(dice), dice.random() < A_PAGE
            base = dice.choice(pages if is_page else bases)
            request = make_request(base, sense, "" if is_page else None)
            if not is_page or dice.random() < 0.6:
                request = dice.choice(SPOILERS)(request, base, odd, dice)
            self.throw("strange", sense.caller, request)

        throw()

    def throw(self, part: str, caller: Caller, request: Request) -> Answer | None:
        """Send a request and have its answer looked at."""
        if request.method == "DELETE":
            request = self._spare(request)
        try:
            answer = self.wire.send(request)
        except NoAnswer as nothing:
            self.judge.parts[part] += 1
            self.judge.note(f"{request.template or request.method}: no answer, {nothing}", request)
            return None
        self.judge.check(part, caller, answer)
        if self.judge.cases % PROGRESS == 0:
            print(f"{self.judge.cases:,} cases, {len(self.judge.findings)} findings", flush=True)
        if answer.seconds > self.limit_s:
            self._ask_again(request, answer)
        return answer

    def _spare(self, request: Request) -> Request:
        """Delete none of the webhooks that were there before: the deliveries of these are what others are about."""
        target = request.target
        for known in self.spared:
            target = target.replace(known, f"ep_{'0' * (TIME_CHARS + RANDOM_CHARS)}")
        return replace(request, target=target)

    def _ask_again(self, request: Request, answer: Answer) -> None:
        """Find out whether an answer is slow by itself: what waited for a processor of a busy machine is fast then."""
        self.late += 1
        times = [answer.seconds, *(self.wire.send(request).seconds for _ in range(ASKED_AGAIN))]
        if min(times) > self.limit_s:
            self.judge.note(f"{request.template or request.target}: {times} seconds", answer)

    def make_sense(self, dice: Random) -> Sense:
        """Choose who asks."""
        main = [each for each in self.arena.callers if each.name.startswith("vendor") and each.env_mode == "test"]
        caller = dice.choice(main if dice.random() < MAIN else self.arena.callers)
        return Sense(pool=self.arena.pool, receiver=self.arena.receiver, caller=caller, dice=dice)


@contextmanager
def begin_run(arena: Arena, number: int, limit_s: float) -> Iterator[Run]:
    """Connect to the service, and wait until its market is there: the first question after a start waits for it."""
    wire = Wire(arena.service.url)
    try:
        document: dict[str, Any] = wire.send(Request(method="GET", target="/openapi.json")).response.get_json()
        for _ in range(2):
            wire.send(Request(method="GET", target="/v1/tokens"))
        ids = {owner[0]: name for owner, name in zip(arena.pool.owners[::2], VENDORS, strict=True)}
        strangers = {
            owner: tuple(text for other, name in ids.items() if other != owner[0] for text in (other, name))
            for owner in arena.pool.owners
        }
        contract = Contract(deepcopy(document))
        yield Run(
            arena=arena,
            judge=Judge(contract, arena.pool, strangers),
            wire=wire,
            number=number,
            limit_s=limit_s,
            spared=arena.pool.list_webhooks(),
        )
    finally:
        wire.close()


def read_owners(database: Database) -> dict[str, Owner]:
    """Return whose each id is."""
    owners: dict[str, Owner] = {}
    with database.read() as session:
        for table in (PaymentOrder, WebhookSubscription, WebhookEvent):
            for known, vendor_id, env_mode in session.execute(select(table.id, table.vendor_id, table.env_mode)):
                owners[known] = (vendor_id, env_mode)
        for known, webhook_id in session.execute(select(WebhookDelivery.id, WebhookDelivery.subscription_id)):
            owners[known] = owners[webhook_id]
        held = {row.address: row.vendor_id for row in session.scalars(select(OwnedAddress))}
        for payment in session.scalars(select(Payment)):
            if payment.recipient in held:
                owners[payment.public_id] = (held[payment.recipient], payment.env_mode)
    return owners

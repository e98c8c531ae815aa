"""What the guide says follows from the code: its tables, its picture, and the settings that it names."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from api.bodies.errors import STATUS
from api.domain.errors import Conflict
from api.domain.funds import Funds
from api.domain.orders import LATE_WINDOW, TRANSITIONS, OrderState, OrderStatus, StatusReason, advance, cancel
from tests.support.cli_reference import list_commands
from tests.support.guide.documents import write_guide
from tests.support.guide.picture import CENTRES, WAYS
from tests.support.guide.regions import GUIDE
from tests.support.guide.states import NEVER, STATES
from tests.support.guide.tables import REMEDIES

ROOT = Path(__file__).parents[2]
PRICE = 1_000
NOW = datetime(2026, 3, 1, tzinfo=UTC)
END = NOW + timedelta(hours=24)
MOMENTS = (NOW, END + timedelta(hours=2), END + LATE_WINDOW + timedelta(hours=2))
Pair = tuple[OrderStatus, StatusReason]


def test_what_is_written_from_the_code_is_fresh() -> None:
    stale = [path.name for path, text in write_guide().items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "run python -m tests.support.guide"


def list_funds() -> Iterator[Funds]:
    """Yield what may have come for an order and gone back, in every combination that matters to it."""
    amounts = ((0, 0), (500, 500), (PRICE, 0), (PRICE, PRICE), (1_100, 0), (1_100, 1_100))
    flags = [each for each in itertools.product((False, True), repeat=8) if each[6] or not each[7]]
    for (seen, final), first_at, each in itertools.product(amounts, (None, NOW, END + timedelta(hours=1)), flags):
        in_flight, returned, redirected, rejected, foreign, after_close, part, everything = each
        if first_at is None and (seen or in_flight or returned or rejected or foreign):
            continue
        yield Funds(
            received=seen, final=final, seen=seen, seen_final=final, first_at=first_at, in_flight=in_flight,
            returned=returned, redirected=redirected, rejected=rejected, foreign=foreign, after_close=after_close,
            part_sent_back=part, all_sent_back=everything,
        )  # fmt: skip


def find_next(pair: Pair, funds: Funds, now: datetime) -> Iterator[Pair]:
    """Yield the states that an order goes through from here."""
    order = OrderState(status=pair[0], reason=pair[1], amount=PRICE, expires_at=END)
    for step in advance(order, funds, now):
        yield step.status, step.reason
    try:
        step = cancel(order, funds)
    except Conflict:
        return
    yield step.status, step.reason


def test_the_table_has_every_state_that_an_order_can_have_and_no_other() -> None:
    every = list(itertools.product(list_funds(), MOMENTS))
    begin = (OrderStatus.CREATED, StatusReason.NONE)
    found, left = {begin}, [begin]
    while left:
        pair = left.pop()
        new = {after for funds, now in every for after in find_next(pair, funds, now)} - found
        found |= new
        left += new
    assert found == STATES.keys()
    assert {reason for _, reason in STATES} | NEVER == set(StatusReason)


def test_the_page_names_every_word() -> None:
    text = (GUIDE / "states.md").read_text(encoding="utf-8")
    assert [word for word in (*OrderStatus, *StatusReason) if word and f"`{word}`" not in text] == []


def test_the_picture_has_every_status_and_every_change_and_no_other() -> None:
    assert {(before, after) for before, afters in TRANSITIONS.items() for after in afters} == WAYS.keys()
    assert CENTRES.keys() == set(OrderStatus)


def test_the_errors_are_those_that_the_service_answers_with() -> None:
    refused = {str(int(status)) for status in STATUS.values()}
    assert refused <= REMEDIES.keys()
    assert REMEDIES.keys() - refused == {"405", "413", "429", "500"} - refused


def test_the_settings_and_files_that_it_names_are_there() -> None:
    config = (ROOT / "api" / "config.py").read_text(encoding="utf-8")
    config += (ROOT / "api" / "market_settings.py").read_text(encoding="utf-8")
    own = {"CHECKOUT_URL", "CHECKOUT_API_KEY", "WEBHOOK_SECRET", "SHOP_URL", "SHOP_PASSWORD", "FLASK_APP"}
    for path in sorted(GUIDE.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        named = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+|ADAPTERS|CONFIRMATIONS)`", text)) - own
        assert [each for each in sorted(named) if f'"{each}"' not in config] == [], path.name
        for file in re.findall(r"`(docs/[\w/.]+)`", text):
            assert (ROOT / file).exists(), file


def test_the_commands_that_it_names_in_passing_exist() -> None:
    commands = [words for words, _ in list_commands()]
    for path in sorted(GUIDE.glob("*.md")):
        for named in re.findall(r"`checkout ((?:[a-z]+ ?)+)", path.read_text(encoding="utf-8")):
            words = tuple(named.split())
            fits = (words[: len(each)] == each or each[: len(words)] == words for each in commands)
            assert any(fits), f"{path.name}: checkout {named}"

"""The check of addresses: payers whose money is not taken, merchants who are not paid."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from api.config import Config, ConfigError
from api.context import build_resources
from api.domain.errors import InvalidData
from api.services.chains.screening import KEPT, MOST_AT_ONCE, Screened, ScreenMemory
from api.services.resources import Resources
from api.services.settlement.watching.doubtful_blocks import count_doubts
from api.services.simulator.wallet import PAYER
from api.services.vendors.settlement_accounts import check_account
from tests.support.shop import Shop
from tests.support.simulated_payments import send

SOMEBODY = "0x" + "11" * 20
PRICE = 10**6
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def rejecting(*rejected: str):
    def screen(addresses: Collection[str]) -> Collection[str]:
        return set(addresses) & set(rejected)

    return screen


def screened(shop: Shop, *rejected: str) -> Shop:
    return replace(shop, resources=replace(shop.resources, screen=rejecting(*rejected)))


@pytest.mark.rule("states.25")
def test_money_of_a_rejected_payer_is_not_taken(shop: Shop) -> None:
    shop = screened(shop, PAYER)
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait(3)
    assert shop.history(order_id) == ["created/", "processing/screening_rejected"]
    shop.clock.advance(hours=24)
    shop.wait(1)
    assert shop.history(order_id)[-1] == "failed/screening_rejected"
    assert shop.order(order_id)["amount_received"] == "0"
    assert shop.events(order_id)[-1]["type"] == "payment_failed"


def test_other_payers_are_not_concerned(shop: Shop) -> None:
    shop = screened(shop, SOMEBODY)
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait(3)
    assert shop.history(order_id)[-1] == "success/"


def test_without_an_answer_payments_wait(shop: Shop) -> None:
    def broken(addresses: Collection[str]) -> Collection[str]:
        raise TimeoutError

    mute = replace(shop, resources=replace(shop.resources, screen=broken))
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    mute.wait(2)
    assert shop.history(order_id) == ["created/"]
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"


def test_a_crowd_of_strangers_is_asked_about_in_parts(shop: Shop) -> None:
    """Found: all whom a look had seen were asked about at once, so who sent specks stopped the reading of a chain."""

    def bounded(addresses: Collection[str]) -> Collection[str]:
        if len(addresses) > MOST_AT_ONCE:
            raise ValueError("too many addresses in one request")
        return ()

    shop = replace(shop, resources=replace(shop.resources, screen=bounded))
    order_id, other = shop.create(), shop.create()
    for number in range(MOST_AT_ONCE + 1):
        send(shop, other, 1, sender=f"0x{number:040x}")
    shop.simulate(order_id, "pay")
    shop.wait(3)
    assert shop.history(order_id)[-1] == "success/"
    assert shop.order(other)["amount_received"] == str(MOST_AT_ONCE + 1)


def test_who_can_not_be_asked_about_keeps_nobody_else_waiting(shop: Shop) -> None:
    """Found: one address at which the check fails held up all payments of its chain."""
    fails = {SOMEBODY}

    def broken(addresses: Collection[str]) -> Collection[str]:
        if not fails.isdisjoint(addresses):
            raise KeyError(SOMEBODY)
        return ()

    shop = replace(shop, resources=replace(shop.resources, screen=broken))
    order_id, other = shop.create(), shop.create()
    send(shop, other, PRICE, sender=SOMEBODY)
    shop.simulate(order_id, "pay")
    shop.wait(3)
    shop.wait(3)
    assert shop.history(order_id)[-1] == "success/"
    assert shop.history(other) == ["created/"]
    fails.clear()
    shop.wait(30)
    shop.wait(3)
    assert shop.history(other)[-1] == "success/"


def test_at_whom_it_fails_for_a_day_from_him_nothing_is_taken(shop: Shop) -> None:
    """Otherwise his block would be in doubt for ever, and all that waits for blocks that are not."""

    def broken(addresses: Collection[str]) -> Collection[str]:
        if SOMEBODY in addresses:
            raise KeyError
        return ()

    shop = replace(shop, resources=replace(shop.resources, screen=broken))
    order_id, other = shop.create(), shop.create()
    send(shop, order_id, PRICE, sender=SOMEBODY)
    shop.simulate(other, "pay")
    shop.wait(3)
    assert (shop.history(order_id), shop.history(other)[-1]) == (["created/"], "success/")
    for hours in 23, 2:
        shop.clock.advance(hours=hours)
        shop.wait(3)
        with shop.resources.database.read() as session:
            assert bool(count_doubts(session)) == (hours == 23)
    assert shop.history(order_id)[-1] == "failed/screening_rejected"
    assert [each["from"] for each in shop.order(order_id)["transfers"]] == [SOMEBODY]


def test_what_a_screen_has_said_holds_for_a_while_and_is_asked_about_again() -> None:
    asked: list[int] = []

    def screen(addresses: Collection[str]) -> Collection[str]:
        asked.append(len(addresses))
        return [SOMEBODY]

    memory, people = ScreenMemory(), [SOMEBODY, *(f"0x{number:040x}" for number in range(MOST_AT_ONCE))]
    for moment, questions in (NOW, [MOST_AT_ONCE, 1]), (NOW + KEPT / 2, []), (NOW + KEPT, [MOST_AT_ONCE, 1]):
        asked.clear()
        assert memory.ask(screen, people, moment) == Screened(rejected=frozenset({SOMEBODY}))
        assert asked == questions
    assert memory.ask(lambda addresses: (), people, NOW) == Screened()  # another one has said nothing yet


def test_a_screen_that_is_away_is_told_from_one_that_fails_at_somebody() -> None:
    """While it is away all are asked about again in the next look; at whom it fails, ever more seldom."""
    fails, is_away = {PAYER}, [False]

    def screen(addresses: Collection[str]) -> Collection[str]:
        if is_away[0] or not fails.isdisjoint(addresses):
            raise TimeoutError
        return ()

    memory = ScreenMemory()
    assert memory.ask(screen, [PAYER], NOW) == Screened(unasked=frozenset({PAYER}))  # nobody knows better yet
    assert memory.ask(screen, [PAYER, SOMEBODY], NOW) == Screened(in_vain=frozenset({PAYER}))
    assert memory.ask(screen, [PAYER], NOW) == Screened(in_vain=frozenset({PAYER}))
    is_away[0] = True
    assert memory.ask(screen, [PAYER], NOW) == Screened(unasked=frozenset({PAYER}))


def test_a_rejected_address_gets_no_settlement_account() -> None:
    words = {"currency": "USDC", "chain_id": 8453, "token": "USDC", "decimals": None, "address": SOMEBODY}
    assert check_account(**words).address == SOMEBODY
    with pytest.raises(InvalidData) as refused:
        check_account(**words, screen=rejecting(SOMEBODY))
    assert [problem.path for problem in refused.value.problems] == ["address"]


def test_a_check_that_is_not_installed_is_named(config: Config) -> None:
    with pytest.raises(ConfigError, match="SCREENING is 'chainwise', but no such check is installed: there is none"):
        build_resources(replace(config, screening="chainwise"))


def test_without_a_check_nobody_is_rejected(resources: Resources) -> None:
    assert not resources.screen([PAYER])

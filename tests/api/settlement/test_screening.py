"""The check of addresses: payers whose money is not taken, merchants who are not paid."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest

from api.config import Config, ConfigError
from api.context import build_resources
from api.domain.errors import InvalidData
from api.services.resources import Resources
from api.services.simulator.wallet import PAYER
from api.services.vendors.settlement_accounts import check_account
from tests.support.shop import Shop

SOMEBODY = "0x" + "11" * 20


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

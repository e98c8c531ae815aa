"""A vendor is told of each part of the price that comes, also where it changes neither status nor reason."""

from __future__ import annotations

import pytest

from tests.support.shop import Shop
from tests.support.simulated_payments import send

PRICE = 10**6


def pay(shop: Shop, order_id: str, amount: int) -> None:
    send(shop, order_id, amount)
    shop.wait(3)


def test_each_part_is_an_entry_and_an_event(shop: Shop) -> None:
    order_id = shop.create()
    pay(shop, order_id, PRICE // 2)
    before = shop.order(order_id)
    pay(shop, order_id, PRICE // 4)
    after = shop.order(order_id)
    assert [*before["timeline"], after["timeline"][-1]] == after["timeline"]
    assert shop.history(order_id)[-2:] == ["processing/underpaid"] * 2
    assert (before["amount_due"], after["amount_due"]) == ("500000", "250000")
    assert after["updated_at"] > before["updated_at"]
    told = [(each["type"], len(each["data"]["transactions"])) for each in shop.events(order_id)]
    assert told == [("payment_processing", 0), ("payment_processing", 1), ("payment_processing", 2)]
    pay(shop, order_id, PRICE // 4)
    assert shop.history(order_id)[-1] == "success/"


def test_what_comes_besides_while_the_price_is_not_final(shop: Shop) -> None:
    order_id = shop.create(order_price={"currency": "USDC", "amount": 5000, "decimals": 0})
    for _ in range(2):
        send(shop, order_id, 3 * 10**9)
        shop.wait(1)
    assert shop.history(order_id)[-1] == "processing/overpaid"
    send(shop, order_id, 10**9)
    shop.wait(1)
    assert shop.history(order_id)[-2:] == ["processing/overpaid"] * 2
    assert shop.order(order_id)["amount_received"] == str(7 * 10**9)


@pytest.mark.parametrize(("amount", "is_told"), [(PRICE // 100 - 1, False), (PRICE // 100, True)])
def test_dust_is_no_news(shop: Shop, amount: int, is_told: bool) -> None:
    order_id = shop.create()
    pay(shop, order_id, PRICE // 2)
    before = len(shop.events(order_id))
    pay(shop, order_id, amount)
    assert shop.order(order_id)["amount_received"] == str(PRICE // 2 + amount)
    assert len(shop.events(order_id)) - before == is_told
    assert len(shop.order(order_id)["timeline"]) == len(shop.events(order_id))

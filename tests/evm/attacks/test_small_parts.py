"""A price that is paid in parts of less than its hundredth, so that each alone would change nothing."""

from __future__ import annotations

from tests.support.attacks import BASE
from tests.support.settlement import PRICE, ChainShop

TOTAL = 50_000 * PRICE
PARTS = 100


def test_parts_wait_as_long_as_their_price_in_one(shop: ChainShop) -> None:
    """They were taken after one block; a reorganisation then took them from the merchant who had delivered."""
    order_id, reference = shop.order(order_price={"currency": "USDC", "amount": TOTAL, "decimals": 6})
    customer = shop.customer(BASE, USDC=2 * TOTAL)
    part = TOTAL // 100 - 1
    for amount in [part] * PARTS + [TOTAL - PARTS * part]:
        customer.pay(shop.token(BASE), shop.address, amount, reference, mine=False)
    shop.nets[BASE].chain.mine()
    shop.look(4)
    assert shop.outcome(order_id) == "processing/"
    assert "payment_success" not in {event["type"] for event in shop.shop.events(order_id)}
    shop.finalise()
    assert shop.outcome(order_id) == "success/"


def test_an_order_of_small_parts_is_not_refunded_by_its_large_one(shop: ChainShop) -> None:
    """More than half of the price stayed with the merchant of an order that was called refunded."""
    order_id, reference = shop.order()
    customer = shop.customer(BASE)
    part, parts = PRICE // 100 - 100, 60
    for _ in range(parts):
        customer.pay(shop.token(BASE), shop.address, part, reference, mine=False)
    shop.nets[BASE].chain.mine()
    customer.pay(shop.token(BASE), shop.address, PRICE - parts * part, reference)
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "success/"
    url = f"/api/v1/payment/{order_id}/refund"
    answer = shop.shop.client.post(url, json={}, headers=shop.shop.merchant.headers())
    made = answer.get_json()["refunds"][0]["transaction"]
    shop.wallet(BASE).send(made["to"], bytes.fromhex(made["data"][2:]))
    shop.look()
    shop.finalise()
    assert shop.balance(BASE) == parts * part
    assert shop.outcome(order_id) == "success/partially_refunded"

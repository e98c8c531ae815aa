"""A refund that is sent to where a vendor is paid: he would have the money, and hear of nothing."""

from __future__ import annotations

import pytest

from tests.support.attacks import BASE
from tests.support.settlement import PRICE, ChainShop, Wallet, open_another


@pytest.mark.parametrize("is_own", [False, True])
def test_no_refund_goes_where_a_vendor_is_paid(shop: ChainShop, is_own: bool) -> None:
    other = open_another(shop, f"other of {shop.address}")
    order_id, reference = shop.order()
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    shop.finalise()
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"to": shop.address if is_own else other.address})
    assert (answer.status_code, answer.get_json()["error"][0]["path"]) == (400, "to")
    assert shop.shop.order(order_id)["refunds"] == []


def test_a_vendor_who_has_bought_something_gets_his_money_back(shop: ChainShop) -> None:
    other = open_another(shop, f"other of {shop.address}")
    buyer = Wallet(shop.nets[BASE].chain, other.address)
    for symbol, amount in {"ETH": 10**20, "USDC": PRICE}.items():
        shop.nets[BASE].fund(other.address, symbol, amount)
    order_id, reference = shop.order()
    buyer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    shop.finalise()
    for body in ({}, {"to": other.address}):
        answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund", body)
        assert [each["to"].lower() for each in answer.get_json()["refunds"]] == [other.address]

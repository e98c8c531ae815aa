"""Tokens of an operator's choice that do something else than move what they are told to."""

from __future__ import annotations

import pytest

from api.domain.env import EnvMode
from api.services.vendors.vendors import Account, set_account
from tests.support.attacks import BASE
from tests.support.settlement import PRICE, ChainShop
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns


def test_what_a_token_takes_from_who_got_it_was_not_paid(shop: ChainShop) -> None:
    """Found: the order succeeded with a hundredth less than its price."""
    customer, chain = shop.customer(BASE), shop.nets[BASE].chain
    token = chain.deploy(compiled("taking_token"), customer.address, 10 * PRICE).address
    account = Account(
        currency="USDC", chain_id=BASE, token_address=token.lower(), token_decimals=6, address=shop.address
    )
    with shop.shop.resources.database.write() as session:
        set_account(session, shop.shop.merchant.id, EnvMode.TEST, account, shop.clock.now())
    order_id, reference = shop.order(order_price={"currency": "USDC", "amount": 1, "decimals": 2})
    customer.pay(token, shop.address, 10_000, reference)
    shop.look()
    shop.finalise()
    order = shop.shop.order(order_id)
    assert (shop.outcome(order_id), order["transfers"][0]["amount"]) == ("processing/underpaid", "9900")
    customer.pay(token, shop.address, 102, reference)
    shop.look()
    shop.finalise()
    assert (shop.outcome(order_id), shop.shop.order(order_id)["amount_received"]) == ("success/overpaid", "10001")

"""Orders paid from another chain over Across: deposit, fill, and a fill that never comes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from eth_utils.address import to_checksum_address

from tests.support.across import LIFE_S, PAID, Crossing, give_back
from tests.support.settlement import PRICE, ChainShop

BASE, ETHEREUM = 8453, 1


@pytest.mark.rule("evidence.6", "events.17")
def test_a_deposit_and_its_fill_pay_the_order(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    assert shop.outcome(order_id) == "processing/"
    fill = crossing.fill()
    shop.look()
    order = shop.shop.order(order_id)
    assert shop.outcome(order_id) == "success/"
    assert shop.balance(BASE) == PRICE
    assert order["transaction_hash"] == crossing.tx_hash
    assert [(row["chain_id"], row["hash"]) for row in order["transactions"]] == [
        (ETHEREUM, crossing.tx_hash),
        (BASE, fill),
    ]
    assert shop.shop.events(order_id)[-1]["data"]["transactions"] == order["transactions"]


def test_a_fill_that_is_seen_before_its_deposit_is_attributed_later(shop: ChainShop) -> None:
    """Base is read before Ethereum, and both transactions are there at the first look."""
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    crossing.fill()
    shop.look(3)
    assert shop.outcome(order_id) == "success/"
    assert shop.unmatched() == []
    assert shop.shop.order(order_id)["transaction_hash"] == crossing.tx_hash


def test_a_fill_in_coin_leaves_no_transfer_and_counts_all_the_same(shop: ChainShop) -> None:
    order_id, reference = shop.order(order_price={"currency": "ETH", "amount": 1, "decimals": 3})
    Crossing(shop, reference, coin=True).fill()
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "success/"
    assert shop.balance(BASE, "ETH") == 10**15


@pytest.mark.rule("states.23")
def test_a_fill_that_never_comes_fails_the_order_and_says_where_the_money_is(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    shop.pass_time(LIFE_S + timedelta(minutes=31).total_seconds(), 70)
    shop.look()
    assert shop.outcome(order_id) == "failed/route_failed"
    stranded = shop.shop.order(order_id)["stranded"]
    assert stranded == [
        {
            "chain_id": ETHEREUM,
            "token_address": to_checksum_address(shop.token(ETHEREUM)),
            "amount": str(PAID),
            "bridge": "across",
            "deposit_hash": crossing.tx_hash,
            "owner": to_checksum_address(crossing.customer.address),
            "refund_hash": "",
            "next_step": stranded[0]["next_step"],
        }
    ]
    assert "by itself" in stranded[0]["next_step"]


def test_what_the_bridge_gives_back_is_found(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    shop.pass_time(LIFE_S + timedelta(minutes=31).total_seconds(), 70)
    shop.look()
    refund = give_back(shop, crossing)
    shop.look()
    stranded = shop.shop.order(order_id)["stranded"]
    assert stranded[0]["refund_hash"] == refund
    assert shop.nets[ETHEREUM].balance(crossing.customer.address, "USDC") >= PAID
    assert shop.outcome(order_id) == "failed/route_failed"

"""Orders paid from another chain over Across: deposit, fill, and a fill that never comes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from eth_utils.address import to_checksum_address
from werkzeug.test import TestResponse

from adapters.base import Declined, FirmQuote
from adapters.transactions.payment_builders import PaymentBuilders
from adapters.transactions.simulation import PaymentChain
from api.context import attach_resources
from api.domain.env import EnvMode
from api.services.chains.chain_access import ChainAccess
from routing_engine.model import Hop
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
    assert stranded[0]["owner"] in stranded[0]["next_step"]


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


class NoBridge:
    """Confirms nothing: nobody pays here."""

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        raise Declined("nobody pays here", status=200)


CODE, OTHER_CODE = bytes.fromhex("5f5ff3"), bytes.fromhex("5f5ffd")
DELEGATED = bytes.fromhex("ef0100") + bytes(range(20))


def ask_refund(shop: ChainShop, order_id: str, **body: str) -> TestResponse:
    """Ask for a refund where the chains say who is at an address."""
    chains = {chain_id: PaymentChain(net.rpc()) for chain_id, net in shop.nets.items()}
    access = ChainAccess(chains=chains, builders=PaymentBuilders.load(), firm=NoBridge())
    shared = replace(shop.shop.resources, chain_access={EnvMode.TEST: access})
    attach_resources(shop.shop.client.application, shared)
    return shop.shop.post(f"/api/v1/payment/{order_id}/refund", body)


@pytest.mark.rule("refunds.8")
def test_a_payer_who_is_gone_is_not_paid_back_by_himself(shop: ChainShop) -> None:
    """Found: a contract that had destroyed itself was taken for a key, and paid back at its address elsewhere.

    A chain keeps nothing of it, no code and no number of transactions.
    """
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    crossing.fill()
    shop.look(3)
    shop.finalise()
    payer = crossing.customer.address
    shop.nets[ETHEREUM].chain.rpc("anvil_setNonce", payer, "0x0")
    answer = ask_refund(shop, order_id)
    assert (answer.status_code, answer.get_json()["error"][0]["path"]) == (400, "to")
    assert ask_refund(shop, order_id, to=payer).status_code == 200


@pytest.mark.rule("refunds.6", "refunds.8")
@pytest.mark.parametrize(
    ("there", "here", "owner", "is_reachable"),
    [
        *((b"", b"", 1, True), (CODE, b"", 1, False), (CODE, OTHER_CODE, 1, False), (CODE, CODE, 1, True)),
        *((CODE, CODE, 2, False), (DELEGATED, b"", 2, True)),
    ],
    ids=["a wallet", "a contract", "another contract", "the same contract", "another owner's", "a delegated wallet"],
)
def test_a_refund_goes_to_a_contract_only_where_it_is_the_same(
    shop: ChainShop, there: bytes, here: bytes, owner: int, is_reachable: bool
) -> None:
    """Found: whoever makes a wallet of the same code at the payer's address on the other chain got his refunds."""
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    crossing.fill()
    shop.look(3)
    assert shop.outcome(order_id) == "success/"
    shop.finalise()
    payer = crossing.customer.address
    for chain_id, code, owned_by in ((ETHEREUM, there, 1), (BASE, here, owner)):
        shop.nets[chain_id].chain.set_code(payer, code)
        shop.nets[chain_id].chain.rpc("anvil_setStorageAt", payer, hex(0), f"0x{owned_by:064x}")
    answer = ask_refund(shop, order_id)
    if is_reachable:
        (asked,) = answer.get_json()["refunds"]
        assert (asked["chain_id"], asked["to"]) == (BASE, to_checksum_address(payer))
    else:
        assert (answer.status_code, answer.get_json()["error"][0]["path"]) == (400, "to")
        assert shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"to": payer}).status_code == 200

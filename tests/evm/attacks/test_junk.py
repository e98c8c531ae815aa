"""What strangers send to end an order, to park it or to stop the reading of its chain, on real contracts.

Each of these got through once, or could have; docs/threat-model.md lists what they threaten.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from eth_abi import encode
from sqlalchemy.orm import Session

from api.services.checkout.quotes import require_due
from api.services.orders.views import load_public_order
from api.services.routing.token_serializers import checksum
from api.services.settlement.crediting import crediting
from api.services.settlement.crediting.matching import Match
from api.services.settlement.crediting.observation import ChainObservation
from api.services.settlement.watching.reported_payments import report_payment
from api.services.settlement.watching.watcher import watch
from tests.support.across import PAID, Crossing
from tests.support.attacks import BASE, ETHEREUM, run
from tests.support.evm import ACTOR, Contract
from tests.support.settlement import PRICE, ChainShop, Wallet

pytestmark = pytest.mark.in_turns

APPROVE, TRANSFER_FROM = bytes.fromhex("095ea7b3"), bytes.fromhex("23b872dd")

JUNK = {
    "a unit": ("USDC", BASE, 1),
    "less than a hundredth": ("USDC", BASE, PRICE // 100 - 1),
    "a listed wrong token worth nothing": ("DAI", BASE, 1),
    "a unit on another chain": ("USDC", ETHEREUM, 1),
}


@pytest.mark.parametrize("name", JUNK)
def test_whoever_has_the_link_ends_no_order_with_junk(shop: ChainShop, name: str) -> None:
    symbol, chain_id, amount = JUNK[name]
    order_id, reference = shop.order()
    stranger = shop.customer(chain_id, "stranger", **{symbol: amount})
    stranger.pay(shop.token(chain_id, symbol), shop.address, amount, reference)
    shop.look(3)
    assert shop.outcome(order_id) == "created/"
    assert [event["type"] for event in shop.shop.events(order_id)] == ["payment_processing"]
    due = int(shop.shop.order(order_id)["amount_due"])
    shop.customer(BASE).pay(shop.token(BASE), shop.address, due, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"


@pytest.mark.rule("states.20")
@pytest.mark.parametrize("amount", [10**15, 10**18])
def test_a_wrong_token_leaves_the_order_payable(shop: ChainShop, amount: int) -> None:
    order_id, reference = shop.order()
    shop.customer(BASE, "stranger", DAI=10**18).pay(shop.token(BASE, "DAI"), shop.address, amount, reference)
    shop.look(3)
    _, due = require_due(shop.shop.resources, load_public_order(shop.shop.resources, order_id))
    assert due == PRICE
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"


@pytest.mark.rule("states.22")
def test_a_deposit_that_nobody_built_is_not_on_its_way(shop: ChainShop) -> None:
    """It may never be filled, or ask for it: the order must not wait for it."""
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference, is_built=False)
    shop.look()
    assert shop.outcome(order_id) == "created/"
    crossing.fill()  # if it is delivered all the same, it is the payer's money
    shop.look()
    assert shop.outcome(order_id) == "success/"


@pytest.mark.rule("states.22")
def test_a_deposit_to_oneself_parks_no_order(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    Crossing(ChainShop(shop=shop.shop, nets=shop.nets, address="0x" + "66" * 20), reference)
    shop.look()
    assert (shop.outcome(order_id), shop.shop.payments()) == ("created/", [])


@pytest.mark.rule("states.14")
def test_a_deposit_on_its_way_blocks_neither_paying_nor_cancelling(shop: ChainShop) -> None:
    (paid, reference), (cancelled, other) = shop.order(), shop.order()
    Crossing(shop, reference)
    late = Crossing(shop, other)
    shop.look()
    assert require_due(shop.shop.resources, load_public_order(shop.shop.resources, paid))[1] == PRICE
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    assert shop.shop.post(f"/api/v1/payment/{cancelled}/cancel").status_code == 200
    late.fill()
    shop.look()
    shop.finalise()
    assert (shop.outcome(paid), shop.outcome(cancelled)) == ("success/", "cancelled/paid_after_close")


def test_what_is_deposited_and_paid_as_well_can_be_sent_back(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"
    fill = crossing.fill()
    shop.look()
    shop.finalise()
    order = shop.shop.order(order_id)
    assert (order["status_reason"], order["amount_received"]) == ("paid_after_close", str(2 * PRICE))
    transfer = next(row for row in order["transfers"] if row["hash"] == fill)
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"transfer": transfer["id"]})
    assert answer.get_json()["refunds"][0]["to"] == checksum(crossing.customer.address)
    assert PAID > PRICE


@pytest.mark.rule("states.13")
def test_nobody_with_the_link_cancels(shop: ChainShop) -> None:
    order_id, _ = shop.order()
    assert shop.shop.client.post(f"/payment/{order_id}/cancel", json={}).status_code == 404
    assert shop.outcome(order_id) == "created/"


def test_junk_reports_block_no_payment(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    for number in range(60):
        report_payment(shop.shop.resources, order_id, chain_id=BASE, tx_hash=f"0x{number:064x}")
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"


@pytest.mark.parametrize("chain_id", [2**255 + 5, 2**63, 0])
def test_no_single_transaction_stops_the_reading_of_a_chain(shop: ChainShop, chain_id: int) -> None:
    order_id, reference = shop.order()
    deposit(shop, reference, chain_id)
    fill_from_nowhere(shop)
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id).startswith("success/")


def test_what_no_table_takes_is_passed_over(shop: ChainShop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a column refuses, the payments beside it are written."""
    (first, one), (second, two) = shop.order(), shop.order()
    refused = shop.customer(BASE, "refused").pay(shop.token(BASE), shop.address, PRICE, one, mine=False)
    shop.customer(BASE, "taken").pay(shop.token(BASE), shop.address, PRICE, two)
    write = crediting.add_transfer

    def add(session: Session, observation: ChainObservation, match: Match, *more: Any) -> None:
        huge = match.transfer.tx_hash == refused
        bad = replace(match, transfer=replace(match.transfer, bridge_id="x" * 200, source_chain_id=2**200))
        write(session, observation, bad if huge else match, *more)

    monkeypatch.setattr(crediting, "add_transfer", add)
    shop.look()
    assert (shop.outcome(first), shop.outcome(second)) == ("created/", "success/")


@pytest.mark.rule("states.22")
def test_a_deposit_that_only_its_payer_may_fill_is_not_on_its_way(shop: ChainShop) -> None:
    """It has the numbers that were built, but nobody else can deliver it until it comes back."""
    order_id, reference = shop.order()
    Crossing(shop, reference, relayer=shop.customer(ETHEREUM).address)
    shop.look()
    assert shop.outcome(order_id) == "created/"


def test_dust_that_cannot_be_proven_keeps_no_other_payment_waiting(shop: ChainShop, runner: Contract) -> None:
    order_id, reference = shop.order()
    shop.nets[BASE].fund(runner.address.lower(), "ETH", 10**18)
    for _ in range(3):
        calls = [(shop.address, 1, reference)] * 8
        shop.customer(BASE, "thief").send(runner.address, run(runner, *calls))
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"


def test_a_payment_in_time_is_not_late_because_another_chain_was_read_first(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE // 2, reference)
    shop.look()
    shop.pass_time(24 * 3600 - 30)
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE // 2, reference)
    shop.clock.advance(seconds=40)
    watch(shop.shop.resources)
    assert shop.outcome(order_id) == "processing/"
    watch(shop.shop.resources)
    assert shop.outcome(order_id) == "success/"


def encode_word(address: str) -> bytes:
    return bytes(12) + bytes.fromhex(address[2:])


def deposit(shop: ChainShop, reference: bytes, chain_id: int) -> None:
    """Deposit a unit into Across for the merchant, on whichever chain: the contract takes any number for one."""
    thief, net = shop.customer(ETHEREUM, "thief"), shop.nets[ETHEREUM]
    token, now = shop.token(ETHEREUM), int(net.chain.now())
    thief.send(token, APPROVE + encode(["address", "uint256"], [net.spoke_pool.address, 1]))
    function = net.spoke_pool.functions["deposit"]
    order = (
        *(encode_word(thief.address), encode_word(shop.address), encode_word(token), encode_word(shop.token(BASE))),
        *(1, 1, chain_id, bytes(32), now, now + 3600, 0, b""),
    )
    thief.send(net.spoke_pool.address, function.selector + encode(function.inputs, order) + reference)


def fill_from_nowhere(shop: ChainShop) -> None:
    """Fill a relay that nobody deposited, from a chain with a number that no column holds."""
    net, token = shop.nets[BASE], shop.token(BASE)
    end = int(net.chain.now()) + 3600
    relay = (
        *(encode_word(ACTOR), encode_word(shop.address), bytes(32), encode_word(token), encode_word(token)),
        *(1, 1, 2**255 + 5, 7, end, 0, b""),
    )
    function = net.spoke_pool.functions["fillRelay"]
    data = function.selector + encode(function.inputs, (relay, 1, encode_word(ACTOR)))
    Wallet(net.chain, ACTOR).send(net.spoke_pool.address, data)

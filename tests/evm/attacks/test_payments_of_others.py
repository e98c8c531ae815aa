"""What strangers tried on other people's payments with a payment link and everything public, on real contracts.

Each of these got through once, or could have; docs/threat-model.md lists what they threaten.
"""

from __future__ import annotations

import pytest
from eth_abi import encode

from adapters.rpc.multicall import MULTICALL3
from api.domain.env import EnvMode
from api.domain.errors import InvalidData
from api.services.settlement.watching.reported_payments import report_payment
from api.services.vendors.vendors import Account, set_account
from tests.support.across import Crossing
from tests.support.attacks import BASE, run
from tests.support.evm import Contract
from tests.support.settlement import PRICE, ChainShop, Wallet, open_another, transfer_data
from tests.support.vyper_source import compiled

APPROVE, TRANSFER_FROM = bytes.fromhex("095ea7b3"), bytes.fromhex("23b872dd")


@pytest.mark.rule("evidence.9")
def test_a_report_takes_nobody_elses_payment(shop: ChainShop) -> None:
    """An unlabelled transfer, and an order that a stranger makes afterwards for just its amount."""
    victim, thief = shop.customer(BASE, "victim"), shop.customer(BASE, "thief")
    sent = victim.pay(shop.token(BASE), shop.address, PRICE)
    shop.look()
    order_id, _ = shop.order()
    for payer in (victim, thief):
        report_payment(shop.shop.resources, order_id, chain_id=BASE, tx_hash=sent)
        assert shop.shop.client.post(
            f"/payment/{order_id}/report", json={"chainId": BASE, "hash": sent, "payer": payer.address}
        ).status_code == 400  # fmt: skip
    shop.look(4)
    assert (shop.outcome(order_id), shop.unmatched()) == ("created/", [("no_order", "")])


@pytest.mark.rule("evidence.10")
def test_an_equal_amount_takes_nobody_elses_payment(shop: ChainShop) -> None:
    order_id, _ = shop.order()
    shop.customer(BASE, "victim").pay(shop.token(BASE), shop.address, PRICE)
    shop.look()
    assert (shop.outcome(order_id), shop.unmatched()) == ("created/", [("no_order", "")])


@pytest.mark.rule("evidence.6")
def test_a_fill_of_something_else_answers_no_deposit(shop: ChainShop) -> None:
    victims, reference = shop.order()
    crossing = Crossing(shop, reference)
    shop.look()
    real, crossing.amount_out = crossing.amount_out, 1
    crossing.fill()
    shop.look()
    assert shop.outcome(victims) == "processing/"
    crossing.amount_out = real
    delivery = crossing.fill()
    shop.look()
    assert shop.outcome(victims) == "success/"
    assert [row["hash"] for row in shop.shop.order(victims)["transfers"]] == [delivery]


@pytest.mark.rule("service.7")
@pytest.mark.parametrize("env_modes", [tuple(EnvMode)], ids=["both"])
def test_one_chain_in_both_environments_keeps_them_apart(shop: ChainShop) -> None:
    """Test and live on the same endpoints, each with addresses of its own; none can have the other's."""
    live = open_another(shop, f"live of {shop.address}", EnvMode.LIVE)
    order_id, reference = live.order()
    rehearsal, other = shop.order()
    customer = shop.customer(BASE)
    customer.pay(shop.token(BASE), live.address, PRICE, reference)
    customer.pay(shop.token(BASE), shop.address, PRICE, other)
    shop.look()
    assert live.shop.order(order_id, env_mode="live")["payment_order_status"] == "success"
    assert shop.outcome(rehearsal) == "success/"
    assert {(row.env_mode, row.recipient) for row in shop.shop.payments()} == {
        ("live", live.address),
        ("test", shop.address),
    }
    token = shop.token(BASE)
    account = Account(currency="USDC", chain_id=BASE, token_address=token, token_decimals=6, address=live.address)
    with pytest.raises(InvalidData, match="Invalid request data"), shop.shop.resources.database.write() as session:
        set_account(session, shop.shop.merchant.id, EnvMode.TEST, account, shop.clock.now())


@pytest.mark.rule("evidence.2")
def test_a_bundle_pays_for_each_account_only_what_is_its_own(shop: ChainShop, runner: Contract) -> None:
    """A bundler carries a victim's payment and puts his own reference behind the whole."""
    (victims, reference), (thiefs, stolen) = shop.order(), shop.order()
    net = shop.nets[BASE]
    account = net.chain.deploy(compiled("runner"))
    net.fund(account.address.lower(), "USDC", PRICE)
    token = shop.token(BASE)
    payment = run(account, (token, 0, transfer_data(shop.address, PRICE) + reference))
    shop.customer(BASE, "thief").send(runner.address, run(runner, (account.address, 0, payment)) + stolen)
    shop.look()
    assert (shop.outcome(victims), shop.outcome(thiefs)) == ("success/", "created/")
    assert shop.shop.payments()[0].sender == ""  # it may as well be a vault: nobody knows what called it


@pytest.mark.rule("evidence.2")
@pytest.mark.parametrize("where", ["around", "within"])
def test_a_victims_allowance_pays_no_strangers_order(shop: ChainShop, runner: Contract, where: str) -> None:
    order_id, reference = shop.order()
    victim, thief = shop.customer(BASE, "victim"), shop.customer(BASE, "thief")
    token = shop.token(BASE)
    victim.send(token, APPROVE + encode(["address", "uint256"], [runner.address, 30 * PRICE]))
    moved = TRANSFER_FROM + encode(["address", "address", "uint256"], [victim.address, shop.address, 30 * PRICE])
    inner = moved + (reference if where == "within" else b"")
    thief.send(runner.address, run(runner, (token, 0, inner)) + reference)
    shop.look()
    assert shop.outcome(order_id) == "created/"
    assert shop.unmatched() == [("other_payer", order_id)]
    assert shop.shop.order(order_id)["amount_received"] == "0"


def test_coin_from_a_smart_account_is_seen_and_pays(shop: ChainShop, runner: Contract) -> None:
    order_id, reference = shop.order(order_price={"currency": "ETH", "amount": 1, "decimals": 3})
    shop.nets[BASE].fund(runner.address.lower(), "ETH", 10**18)
    shop.customer(BASE).send(runner.address, run(runner, (shop.address, 10**15, reference)))
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "success/"
    assert shop.shop.payments()[0].sender == runner.address.lower()


@pytest.mark.rule("refunds.13")
def test_a_large_overpayment_is_sent_back_only_once_it_is_final(shop: ChainShop) -> None:
    """Five dollars are due, fifty thousand come, are sent back, and the chain loses them."""
    order_id, reference = shop.order(order_price={"currency": "USDC", "amount": 5, "decimals": 0})
    customer = shop.customer(BASE, "whale", USDC=50_005 * PRICE)
    customer.pay(shop.token(BASE), shop.address, 50_005 * PRICE, reference)
    shop.look(4)
    assert shop.outcome(order_id) == "processing/overpaid"  # the transfer's own value decides
    assert shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"amount": "1"}).status_code == 409
    shop.finalise()
    assert shop.outcome(order_id) == "success/overpaid"
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"amount": str(50_000 * PRICE)})
    assert answer.get_json()["refunds"][0]["amount"] == str(50_000 * PRICE)


@pytest.mark.rule("refunds.8")
def test_a_refund_is_not_made_to_a_contract_that_serves_everybody(shop: ChainShop) -> None:
    """Money of a multicall is anybody's: the merchant must say whom to pay."""
    order_id, reference = shop.order()
    shop.nets[BASE].fund(MULTICALL3, "USDC", PRICE)
    aggregate = bytes.fromhex("82ad56cb")
    calls = [(shop.token(BASE), False, transfer_data(shop.address, PRICE) + reference)]
    shop.customer(BASE).send(MULTICALL3, aggregate + encode(["(address,bool,bytes)[]"], [calls]))
    shop.look()
    shop.finalise()
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund")
    assert (answer.status_code, answer.get_json()["error"][0]["path"]) == (400, "to")


def test_a_refund_of_a_payment_takes_no_other_merchants_money(shop: ChainShop) -> None:
    """A stranger copies a refund's public reference into a transfer of his own: it settles nothing."""
    order_id, reference = shop.order()
    customer = shop.customer(BASE, "refunded")
    customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    shop.finalise()
    (asked,) = shop.shop.post(f"/api/v1/payment/{order_id}/refund").get_json()["refunds"]
    data = bytes.fromhex(asked["transaction"]["data"][2:])
    Wallet(shop.nets[BASE].chain, shop.customer(BASE, "stranger").address).send(asked["transaction"]["to"], data)
    shop.look()
    shop.finalise()
    (still,) = shop.shop.order(order_id)["refunds"]
    assert (still["status"], still["hash"]) == ("requested", "")
    assert shop.outcome(order_id) == "success/"


def test_two_transfers_of_one_transaction_are_two(shop: ChainShop, runner: Contract) -> None:
    (first, one), (second, two) = shop.order(), shop.order()
    shop.nets[BASE].fund(runner.address.lower(), "USDC", 2 * PRICE)
    token = shop.token(BASE)
    calls = [(token, 0, transfer_data(shop.address, PRICE) + each) for each in (one, two)]
    shop.customer(BASE).send(runner.address, run(runner, *calls))
    shop.look()
    assert (shop.outcome(first), shop.outcome(second)) == ("success/", "success/")
    assert [shop.shop.order(each)["amount_received"] for each in (first, second)] == [str(PRICE)] * 2

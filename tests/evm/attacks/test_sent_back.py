"""Refunds of which something else was sent than was asked for: what has really left the merchant is what counts."""

from __future__ import annotations

from typing import Any

import pytest
from eth_abi import encode

from api.domain.env import EnvMode
from api.services.vendors.vendors import Account, set_account
from tests.evm.attacks.test_told_vaults import connect
from tests.support.attacks import BASE
from tests.support.evidence import data_of
from tests.support.settlement import PRICE, ChainShop, Wallet, somebody, transfer_data
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns

COIN = 10**15
ASKED = {"requested": True, "sent": False, "final": False}
"""Whether there is something to sign, by status."""


def paid(shop: ChainShop) -> tuple[str, Wallet]:
    """Return an order whose payment is final, and who paid it."""
    order_id, reference = shop.order()
    customer = shop.customer(BASE)
    customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    shop.finalise()
    return order_id, customer


def ask(shop: ChainShop, order_id: str, **body: object) -> list[dict[str, Any]]:
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund", body)
    assert answer.status_code == 200, answer.get_json()
    refunds: list[dict[str, Any]] = answer.get_json()["refunds"]
    return refunds


def find_reference(refund: dict[str, Any]) -> bytes:
    return bytes.fromhex(refund["transaction"]["data"][2:])[-16:]


def sign(shop: ChainShop, refund: dict[str, Any]) -> str:
    """Sign what an order says is to be signed."""
    asked = refund["transaction"]
    return shop.wallet(BASE).send(asked["to"], bytes.fromhex(asked["data"][2:]), value=int(asked["value"], 16))


def send(shop: ChainShop, recipient: str, amount: int, reference: bytes) -> str:
    """Send something else than what is to be signed, under its reference."""
    return shop.wallet(BASE).send(shop.token(BASE), transfer_data(recipient, amount) + reference)


def read_refund(shop: ChainShop, order_id: str) -> tuple[str, int, int]:
    """Return where the only refund stands, what was sent of it, and what is to be signed still."""
    (refund,) = shop.shop.order(order_id)["refunds"]
    offered = refund["transaction"]
    assert ASKED[refund["status"]] == (offered is not None)
    left = 0 if offered is None else int.from_bytes(bytes.fromhex(offered["data"][2:])[36:68])
    return refund["status"], int(refund["amount_sent"]), left


def list_told(shop: ChainShop, order_id: str) -> list[tuple[str, str]]:
    """Return what was asked for and what was sent of each refund that the vendor was told of."""
    events = [event for event in shop.shop.events(order_id) if event["type"] == "payment_refunded"]
    return [(each["data"]["refund"]["amount"], each["data"]["refund"]["amount_sent"]) for each in events]


def test_a_refund_of_which_one_unit_was_sent_is_not_done(shop: ChainShop) -> None:
    order_id, customer = paid(shop)
    (asked,) = ask(shop, order_id)
    send(shop, customer.address, 1, find_reference(asked))
    shop.look()
    shop.finalise()
    assert read_refund(shop, order_id) == ("requested", 1, PRICE - 1)
    assert list_told(shop, order_id) == []
    assert shop.outcome(order_id) == "success/partially_refunded"
    (again,) = ask(shop, order_id)
    assert again["transaction"] is not None, "the same request is answered with what is left of it"
    sign(shop, again)
    shop.look()
    assert read_refund(shop, order_id) == ("sent", PRICE, 0)
    shop.finalise()
    assert read_refund(shop, order_id) == ("final", PRICE, 0)
    assert list_told(shop, order_id) == [(str(PRICE), str(PRICE))]
    assert shop.outcome(order_id) == "refunded/"
    assert shop.balance(BASE) == 0
    assert shop.shop.post(f"/api/v1/payment/{order_id}/refund").status_code == 409


def test_what_a_chain_has_lost_of_a_refund_is_to_be_sent_again(shop: ChainShop) -> None:
    order_id, customer = paid(shop)
    (asked,) = ask(shop, order_id)
    send(shop, customer.address, 400_000, find_reference(asked))
    shop.finalise()
    shop.pass_time(2, 6)
    shop.look(1)
    (left,) = shop.shop.order(order_id)["refunds"]
    sign(shop, left)
    shop.look()
    assert read_refund(shop, order_id) == ("sent", PRICE, 0)
    shop.nets[BASE].chain.rpc("anvil_reorg", 6, [])
    shop.look()
    assert read_refund(shop, order_id) == ("requested", 400_000, 600_000)
    (left,) = shop.shop.order(order_id)["refunds"]
    sign(shop, left)
    shop.look()
    shop.finalise()
    assert read_refund(shop, order_id) == ("final", PRICE, 0)
    assert shop.outcome(order_id) == "refunded/"
    assert list_told(shop, order_id) == [(str(PRICE), str(PRICE))]


def test_more_than_was_asked_for_is_told_and_leaves_less_to_ask_for(shop: ChainShop) -> None:
    """The wallet sends 700,000 where 400,000 were asked for: of the million 300,000 are left, and not 600,000."""
    order_id, customer = paid(shop)
    (asked,) = ask(shop, order_id, amount="400000")
    send(shop, customer.address, 700_000, find_reference(asked))
    shop.look()
    shop.finalise()
    assert read_refund(shop, order_id) == ("final", 700_000, 0)
    assert list_told(shop, order_id) == [("400000", "700000")]
    order = shop.shop.order(order_id)
    assert order["transfers"][0]["amount_left"] == "300000"
    refused = shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"amount": "600000"})
    assert refused.status_code == 400
    sign(shop, ask(shop, order_id)[-1])
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "refunded/"
    assert shop.balance(BASE) == 0


def test_what_one_refund_has_sent_too_much_of_is_not_offered_by_another(shop: ChainShop) -> None:
    order_id, customer = paid(shop)
    (first,) = ask(shop, order_id, amount="400000")
    second = ask(shop, order_id)[-1]
    assert second["amount"] == "600000"
    shop.nets[BASE].fund(shop.address, "USDC", PRICE)  # of other customers
    send(shop, customer.address, PRICE, find_reference(first))
    shop.look()
    shop.finalise()
    offered = [row["transaction"] for row in shop.shop.order(order_id)["refunds"]]
    assert offered == [None, None], "all of it is back already"
    assert shop.shop.post(f"/api/v1/payment/{order_id}/refund").status_code == 409
    assert shop.outcome(order_id) == "refunded/"


def test_a_token_that_keeps_a_fee_is_refunded_by_what_left_the_merchant_for_the_customer(shop: ChainShop) -> None:
    """Its event says what that was; what the fee took is offered again, until the sum is what was asked for."""
    customer, chain = shop.customer(BASE), shop.nets[BASE].chain
    token = chain.deploy(compiled("fee_token"), customer.address, 10 * PRICE)
    account = Account(
        currency="USDC",
        chain_id=BASE,
        token_address=token.address.lower(),
        token_decimals=6,
        address=shop.address,
    )
    with shop.shop.resources.database.write() as session:
        set_account(session, shop.shop.merchant.id, EnvMode.TEST, account, shop.clock.now())
    order_id, reference = shop.order(order_price={"currency": "USDC", "amount": 1, "decimals": 2})
    customer.pay(token.address, shop.address, 15_000, reference)
    shop.look()
    shop.finalise()
    (came,) = shop.shop.order(order_id)["transfers"]
    assert came["amount"] == "14850"
    (refund,) = ask(shop, order_id, amount="10000")
    rounds = []
    while refund["transaction"] is not None and len(rounds) < 5:
        sign(shop, refund)
        shop.look()
        rounds.append(read_refund(shop, order_id)[1:])
        (refund,) = shop.shop.order(order_id)["refunds"]
    shop.finalise()
    assert rounds == [(9_900, 100), (9_999, 1), (10_000, 0)]
    assert read_refund(shop, order_id) == ("final", 10_000, 0)
    assert list_told(shop, order_id) == [("10000", "10000")]
    assert shop.shop.order(order_id)["transfers"][0]["amount_left"] == "4850"


@pytest.mark.rule("refunds.11")
@pytest.mark.parametrize("what", ["sends it back", "draws a unit", "names somebody"])
def test_whatever_its_recipient_does_a_refund_that_was_sent_is_sent(shop: ChainShop, what: str) -> None:
    """Found: it seemed to be nobody's, or not the merchant's alone, and the merchant was to send it once more."""
    price = {"currency": "ETH", "amount": 1, "decimals": 3}
    (paid, reference), (other, second) = shop.order(order_price=price), shop.order(order_price=price)
    net, usdc = shop.nets[BASE], shop.token(BASE)
    account, thief = net.chain.deploy(compiled("bouncer")), shop.customer(BASE, "thief")
    net.fund(account.address, "ETH", 10**15)
    thief.send(account.address, data_of(account, "call", shop.address, 10**15, reference))
    shop.look()
    shop.finalise()
    (asked,) = shop.shop.post(f"/api/v1/payment/{paid}/refund").get_json()["refunds"]
    accomplice = shop.customer(BASE, "accomplice")
    accomplice.send(usdc, bytes.fromhex("095ea7b3") + encode(["address", "uint256"], [account.address, 1]))
    drawn = bytes.fromhex("23b872dd") + encode(
        ["address", "address", "uint256"], [accomplice.address, somebody("x"), 1]
    )
    plan: tuple[object, ...] = {
        "sends it back": (shop.address, second, True, account.address),
        "draws a unit": (usdc, drawn, False, account.address),
        "names somebody": (somebody("x"), b"", False, somebody("y")),
    }[what]
    thief.send(account.address, data_of(account, "plan", *plan))
    sign(shop, asked)
    shop.look()
    shop.finalise()
    (sent,) = shop.shop.order(paid)["refunds"]
    assert (sent["status"], sent["amount_sent"], sent["transaction"]) == ("final", asked["amount"], None)
    assert shop.outcome(other) == ("success/" if what == "sends it back" else "created/")


def test_no_coin_goes_back_to_a_contract_that_refuses_it_with_a_reference(shop: ChainShop) -> None:
    """Found: what was offered failed, what was sent without a reference was not found, and it was offered again."""
    chain = shop.nets[BASE].chain
    wallet = chain.deploy(compiled("receive_only")).address
    order_id, reference = shop.order(order_price={"amount": COIN, "decimals": 18, "currency": "ETH"})
    customer = shop.customer(BASE)
    customer.send(shop.address, reference, value=COIN)
    shop.look()
    shop.finalise()
    connect(shop)
    chain.rpc("anvil_setBalance", shop.address, "0x0")  # whether the merchant has it just now says nothing
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"to": wallet})
    assert (answer.status_code, answer.get_json()["error"][0]["path"]) == (400, "to")
    assert shop.shop.order(order_id)["refunds"] == []
    (asked,) = ask(shop, order_id, to=chain.deploy(compiled("smart_account")).address, amount=1)
    assert asked["status"] == "requested"
    assert [each["to"].lower() for each in ask(shop, order_id, amount=2)][1:] == [customer.address]

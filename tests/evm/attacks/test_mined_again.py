"""A chain takes a payment back, and mines it again in another block, at another place of it, or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from eth_abi import encode
from eth_account import Account
from eth_account.messages import encode_typed_data

from api.services.settlement.claims.signed_claims import prepare_claims, submit_claim
from api.services.settlement.watching.watcher import BEHIND_FOR
from tests.support.attacks import BASE, run
from tests.support.databases import DIALECTS, Databases
from tests.support.evidence import data_of
from tests.support.evm import FOREVER, Contract
from tests.support.first_looks import look_first
from tests.support.main_net import MainNet
from tests.support.settlement import PRICE, ChainShop, Wallet, chain_shop, somebody, transfer_data
from tests.support.vyper_source import compile_source

pytestmark = pytest.mark.in_turns

PAYER = Account.from_key(b"p" * 32)
TWO = {"order_price": {"currency": "USDC", "amount": 2, "decimals": 0}}
WRITES_AN_EVENT = "0x60006000a000"
"""Code: an event of no data and no topics, and the end."""
APPROVE = bytes.fromhex("095ea7b3")
PURSE = """
# pragma version ~=0.4.0
interface Token:
    def balanceOf(holder: address) -> uint256: view
    def transfer(recipient: address, amount: uint256) -> bool: nonpayable

@external
def empty(token: address, recipient: address):
    extcall Token(token).transfer(recipient, staticcall Token(token).balanceOf(self))
"""
FEES = ("gasPrice", "maxFeePerGas", "maxPriorityFeePerGas")


@pytest.fixture(params=DIALECTS)
def shop(
    nets: Mapping[int, MainNet], tmp_path: Path, request: pytest.FixtureRequest, databases: Databases
) -> Iterator[ChainShop]:
    """A shop that has read what there is."""
    lent = databases.lend(request.param)
    with chain_shop(nets, tmp_path, request.node.name, lent) as opened:
        look_first(opened)
        opened.pass_time(2, 6)
        yield opened


def send_again(shop: ChainShop, taken_back: Mapping[str, str], *, is_first: bool) -> None:
    """Mine a transaction that the chain has taken back once more: first in its block, or behind a stranger's."""
    chain = shop.nets[BASE].chain
    if not is_first:
        stranger = shop.customer(BASE, "stranger")
        stranger.pay(shop.token(BASE), somebody("another"), 5, mine=False, gasPrice=hex(10**11))
    fees = {name: taken_back[name] for name in FEES if taken_back.get(name) and not _is_repeated(name, taken_back)}
    fields = {"from": taken_back["from"], "to": taken_back["to"], "data": taken_back["input"]}
    chain.rpc("anvil_impersonateAccount", taken_back["from"])
    sent = chain.rpc("eth_sendTransaction", fields | fees | {name: taken_back[name] for name in ("gas", "nonce")})
    assert sent == taken_back["hash"]
    chain.mine()


def _is_repeated(name: str, transaction: Mapping[str, str]) -> bool:
    return name == "gasPrice" and transaction.get("type") == "0x2"


def let_chain_be_shorter(shop: ChainShop) -> None:
    """Look until the chain is taken at its word that it is shorter than what was read of it."""
    for _ in range(3):
        shop.look(1)
        shop.clock.set(shop.clock.now() + BEHIND_FOR / 2 + timedelta(seconds=1))
    shop.look(3)


def claim(shop: ChainShop, order_id: str, tx_hash: str) -> None:
    """Sign for a transfer of `PAYER`'s."""
    where = {"chain_id": BASE, "tx_hash": tx_hash, "account": PAYER.address.lower()}
    (offer,) = prepare_claims(shop.shop.resources, order_id, **where)
    signed = PAYER.sign_message(encode_typed_data(full_message=dict(offer.typed_data)))
    submit_claim(shop.shop.resources, order_id, log_index=offer.log_index, signature=bytes(signed.signature), **where)


@pytest.mark.parametrize("is_first", [True, False])
def test_it_counts_once_on_a_chain_that_became_shorter(shop: ChainShop, is_first: bool) -> None:
    """Behind a stranger's transfer its event has another number in the block: half the price counted twice."""
    order_id, reference = shop.order(**TWO)
    customer, chain = shop.customer(BASE), shop.nets[BASE].chain
    before = chain.rpc("evm_snapshot")
    shop.pass_time(2, 12)
    tx_hash = customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look(2)
    taken_back = chain.rpc("eth_getTransactionByHash", tx_hash)
    assert chain.rpc("evm_revert", before)
    send_again(shop, taken_back, is_first=is_first)
    let_chain_be_shorter(shop)
    assert shop.outcome(order_id) == "processing/underpaid"
    assert shop.shop.order(order_id)["amount_received"] == str(PRICE)
    assert len(shop.shop.payments()) == 1


def test_it_counts_once_where_its_transaction_does_something_else(shop: ChainShop, runner: Contract) -> None:
    """Run again, it calls something that is there now and writes an event: the payment's has another place after it."""
    order_id, reference = shop.order(**TWO)
    chain, token, wallet, vault = shop.nets[BASE].chain, shop.token(BASE), shop.customer(BASE), runner.address.lower()
    shop.nets[BASE].fund(vault, "USDC", PRICE)
    before = chain.rpc("evm_snapshot")
    shop.pass_time(2, 12)
    pay = (token, 0, transfer_data(shop.address, PRICE) + reference)
    tx_hash = wallet.send(vault, run(runner, (somebody("talker"), 0, b""), pay), gas=hex(10**6))
    shop.look(2)
    taken_back = chain.rpc("eth_getTransactionByHash", tx_hash)
    assert chain.rpc("evm_revert", before)
    chain.rpc("anvil_setCode", somebody("talker"), WRITES_AN_EVENT)
    send_again(shop, taken_back, is_first=True)
    let_chain_be_shorter(shop)
    assert [(each.log_index, each.state) for each in shop.shop.payments()] == [(0, "lost"), (1, "confirmed")]
    assert shop.outcome(order_id) == "processing/underpaid"
    assert shop.shop.order(order_id)["amount_received"] == str(PRICE)


def test_it_pays_no_second_order(shop: ChainShop) -> None:
    """Its payer signed for it once more, under its new number."""
    (first, _), (second, _) = shop.order(**TWO), shop.order(**TWO)
    chain, net = shop.nets[BASE].chain, shop.nets[BASE]
    net.fund(PAYER.address.lower(), "ETH", 10**20)
    net.fund(PAYER.address.lower(), "USDC", 2 * PRICE)
    before = chain.rpc("evm_snapshot")
    shop.pass_time(2, 40)
    tx_hash = Wallet(chain, PAYER.address.lower()).pay(shop.token(BASE), shop.address, 2 * PRICE)
    shop.look()
    claim(shop, first, tx_hash)
    shop.pass_time(10)
    shop.look()
    assert shop.outcome(first) == "success/"
    taken_back = chain.rpc("eth_getTransactionByHash", tx_hash)
    assert chain.rpc("evm_revert", before)
    send_again(shop, taken_back, is_first=False)
    let_chain_be_shorter(shop)
    assert (
        prepare_claims(shop.shop.resources, second, chain_id=BASE, tx_hash=tx_hash, account=PAYER.address.lower()) == ()
    )
    assert (shop.outcome(first), shop.outcome(second)) == ("success/", "created/")
    assert len(shop.shop.payments()) == 1


def test_what_was_assigned_is_that_orders_again(shop: ChainShop) -> None:
    order_id, _ = shop.order()
    customer = shop.customer(BASE)
    shop.pass_time(2, 6)  # the block in which there is money for it stays
    tx_hash = customer.pay(shop.token(BASE), shop.address, PRICE)
    shop.look(1)
    (row,) = shop.shop.payments()
    path = f"/api/v1/unmatched_transfer/{row.public_id}/assign"
    assert shop.shop.post(path, {"payment_order_id": order_id}).status_code == 200
    shop.look()
    assert shop.outcome(order_id) == "success/"
    chain = shop.nets[BASE].chain
    taken_back = chain.rpc("eth_getTransactionByHash", tx_hash)
    chain.rpc("anvil_reorg", 5, [])
    send_again(shop, taken_back, is_first=False)
    shop.look(4)
    assert shop.outcome(order_id) == "success/"
    assert shop.unmatched() == []


def test_what_a_shorter_chain_has_no_more_counts_no_more(shop: ChainShop) -> None:
    """It was paid in a block that the chain has not: the order was paid until the chain had as many blocks again."""
    order_id, reference = shop.order()
    chain = shop.nets[BASE].chain
    before = chain.rpc("evm_snapshot")
    shop.pass_time(2, 12)
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"
    assert chain.rpc("evm_revert", before)
    shop.look()
    assert shop.outcome(order_id) == "success/"  # so far it may be a node that is behind
    let_chain_be_shorter(shop)
    assert shop.outcome(order_id) == "success/reorged"
    assert [each["type"] for each in shop.shop.events(order_id)][-1] == "payment_failed"


def test_a_swap_that_brings_less_the_second_time_is_another_transfer_and_may_be_the_first_again(
    shop: ChainShop,
) -> None:
    """The customer was asked to pay again: what was there instead of his payment was no transfer at all."""
    net, chain = shop.nets[BASE], shop.nets[BASE].chain
    net.pair("WETH", 10**21, "USDC", 4 * 10**12)
    order_id, reference = shop.order()
    customer, other = shop.customer(BASE, WETH=10**18), shop.customer(BASE, "other", WETH=10**20)
    for each in (customer, other):
        each.send(shop.token(BASE, "WETH"), APPROVE + encode(["address", "uint256"], [net.v2_router.address, 2**255]))
    shop.pass_time(2, 6)
    path = [shop.token(BASE, "WETH"), shop.token(BASE)]

    def swap(amount: int, least: int, recipient: str) -> bytes:
        return data_of(net.v2_router, "swapExactTokensForTokens", amount, least, path, recipient, FOREVER)

    tx_hash = customer.send(net.v2_router.address, swap(3 * 10**14, PRICE, shop.address) + reference, gas=hex(10**6))
    shop.look()
    assert shop.outcome(order_id) == "success/overpaid"
    (first,) = shop.shop.payments()
    taken_back = chain.rpc("eth_getTransactionByHash", tx_hash)
    chain.rpc("anvil_reorg", 5, [])
    other.send(net.v2_router.address, swap(10**19, 1, other.address))
    send_again(shop, taken_back, is_first=True)
    shop.look(4)
    (second,) = shop.shop.payments()
    assert PRICE < second.amount == shop.balance(BASE) < first.amount
    assert second.public_id != first.public_id
    assert (shop.outcome(order_id), shop.unmatched()) == ("success/overpaid", [("replaced", order_id)])
    assert [each["type"] for each in shop.shop.events(order_id)][-2:] == ["payment_failed", "payment_success"]
    chain.rpc("anvil_reorg", 6, [])
    send_again(shop, taken_back, is_first=True)
    shop.look(4)
    (third,) = shop.shop.payments()
    assert third.amount == shop.balance(BASE) == first.amount
    assert (shop.outcome(order_id), shop.unmatched()) == ("success/overpaid", [("replaced", order_id)])
    shop.finalise()
    assert ([row.state for row in shop.shop.payments()], shop.unmatched()) == (["final"], [])


def test_what_was_nobodys_and_is_more_the_second_time_is_told_under_a_name_of_its_own(shop: ChainShop) -> None:
    net, chain = shop.nets[BASE], shop.nets[BASE].chain
    purse = chain.deploy(compile_source(PURSE))
    net.fund(purse.address, "USDC", 5 * PRICE)
    stranger = shop.customer(BASE, "stranger")
    shop.pass_time(2, 6)
    empty = data_of(purse, "empty", shop.token(BASE), shop.address)
    tx_hash = stranger.send(purse.address, empty)
    shop.look()
    (first,) = shop.shop.get("/api/v1/unmatched_transfer").get_json()["data"]
    taken_back = chain.rpc("eth_getTransactionByHash", tx_hash)
    chain.rpc("anvil_reorg", 3, [])
    net.fund(purse.address, "USDC", 2 * PRICE)
    send_again(shop, taken_back, is_first=True)
    shop.look(4)
    (second,) = shop.shop.get("/api/v1/unmatched_transfer").get_json()["data"]
    assert [each["amount"] for each in (first, second)] == [str(5 * PRICE), str(7 * PRICE)]
    assert second["id"] != first["id"]
    path = f"/api/v1/unmatched_transfer/{first['id']}/assign"
    order_id, _ = shop.order()
    assert shop.shop.post(path, {"payment_order_id": order_id}).status_code == 404

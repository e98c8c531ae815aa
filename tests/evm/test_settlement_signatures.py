"""Payments without a reference: only the signature of the address whose money left makes them an order's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from eth_abi import encode
from eth_account import Account
from eth_account.messages import _hash_eip191_message, encode_typed_data
from eth_account.signers.local import LocalAccount

from api.domain.errors import NotFound
from api.services.settlement.claims.claim_digest import compute_digest
from api.services.settlement.claims.signed_claims import ClaimRefused, prepare_claims, submit_claim
from tests.support.databases import Databases
from tests.support.evm import Contract
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import PRICE, ChainShop, Wallet, chain_shop, transfer_data
from tests.support.vyper_source import compiled

BASE = 8453
CUSTOMER: LocalAccount = Account.from_key(b"c" * 32)
THIEF: LocalAccount = Account.from_key(b"t" * 32)


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base:
        yield {BASE: base}


@pytest.fixture
def shop(
    nets: Mapping[int, MainNet], tmp_path: Path, request: pytest.FixtureRequest, databases: Databases
) -> Iterator[ChainShop]:
    with chain_shop(nets, tmp_path, request.node.name, databases.lend("sqlite")) as opened:
        opened.look()
        yield opened


def wallet(shop: ChainShop, account: LocalAccount = CUSTOMER) -> Wallet:
    net, address = shop.nets[BASE], account.address.lower()
    net.fund(address, "ETH", 10**20)
    net.fund(address, "USDC", 100 * PRICE)
    return Wallet(net.chain, address)


def pay(shop: ChainShop, payer: Wallet, amount: int = PRICE) -> str:
    tx_hash = payer.pay(shop.token(BASE), shop.address, amount)
    shop.look()
    return tx_hash


def offer(shop: ChainShop, order_id: str, tx_hash: str, account: str) -> Any:
    (found,) = prepare_claims(shop.shop.resources, order_id, chain_id=BASE, tx_hash=tx_hash, account=account)
    return found


def signed(data: Mapping[str, Any], signer: LocalAccount) -> bytes:
    return bytes(signer.sign_message(encode_typed_data(full_message=dict(data))).signature)


def submit(shop: ChainShop, order_id: str, tx_hash: str, log_index: int, account: str, signature: bytes) -> None:
    submit_claim(
        shop.shop.resources,
        order_id,
        chain_id=BASE,
        tx_hash=tx_hash,
        log_index=log_index,
        account=account,
        signature=signature,
    )


def claim(shop: ChainShop, order_id: str, tx_hash: str, account: str, signer: LocalAccount) -> None:
    made = offer(shop, order_id, tx_hash, account)
    submit(shop, order_id, tx_hash, made.log_index, account, signed(made.typed_data, signer))
    shop.pass_time(10)  # a quiet chain is written every ten seconds
    shop.look()


@pytest.mark.rule("evidence.3")
def test_the_payers_signature_pays_the_order(shop: ChainShop) -> None:
    order_id = shop.order()[0]
    payer = wallet(shop)
    tx_hash = pay(shop, payer)
    assert (shop.outcome(order_id), shop.unmatched()) == ("created/", [("no_order", "")])
    claim(shop, order_id, tx_hash, payer.address, CUSTOMER)
    assert (shop.outcome(order_id), shop.unmatched()) == ("success/", [])
    assert shop.shop.order(order_id)["transfers"][0]["evidence"] == "signature"


@pytest.mark.rule("evidence.5")
def test_a_strangers_signature_takes_nothing(shop: ChainShop) -> None:
    order_id = shop.order()[0]
    payer = wallet(shop)
    tx_hash = pay(shop, payer)
    made = offer(shop, order_id, tx_hash, payer.address)
    with pytest.raises(ClaimRefused) as refused:
        submit(shop, order_id, tx_hash, made.log_index, payer.address, signed(made.typed_data, THIEF))
    assert refused.value.problems[0].path == "signature"
    thief = THIEF.address.lower()
    assert prepare_claims(shop.shop.resources, order_id, chain_id=BASE, tx_hash=tx_hash, account=thief) == ()
    with pytest.raises(ClaimRefused, match="another address"):
        submit(shop, order_id, tx_hash, made.log_index, thief, signed(made.typed_data, THIEF))
    assert shop.outcome(order_id) == "created/"


@pytest.mark.rule("evidence.3")
def test_the_digest_is_that_of_eip_712(shop: ChainShop) -> None:
    order_id, payer = shop.order()[0], wallet(shop)
    made = offer(shop, order_id, pay(shop, payer), payer.address)
    message = encode_typed_data(full_message=dict(made.typed_data))
    assert compute_digest(made.typed_data) == _hash_eip191_message(message)


@pytest.mark.parametrize("size", [0, 1, 64, 66, 5000])
def test_bytes_that_are_no_signature(shop: ChainShop, size: int) -> None:
    order_id, payer = shop.order()[0], wallet(shop)
    tx_hash = pay(shop, payer)
    made = offer(shop, order_id, tx_hash, payer.address)
    with pytest.raises(ClaimRefused, match="no signature"):
        submit(shop, order_id, tx_hash, made.log_index, payer.address, b"\x01" * size)


FOREIGN = {
    "order": {"order": "po_another"},
    "service": {"service": "https://evil.example"},
    "environment": {"environment": "live"},
    "chain": {"chainId": 1},
    "transaction": {"transactionHash": "0x" + "11" * 32},
    "log index": {"logIndex": 999},
    "account": {"account": "0x" + "22" * 20},
}


@pytest.mark.rule("evidence.5")
@pytest.mark.parametrize("what", FOREIGN)
def test_a_signature_for_anything_else_is_of_no_use(shop: ChainShop, what: str) -> None:
    order_id, payer = shop.order()[0], wallet(shop)
    tx_hash = pay(shop, payer)
    made = offer(shop, order_id, tx_hash, payer.address)
    other = {**made.typed_data, "message": {**made.typed_data["message"], **FOREIGN[what]}}
    with pytest.raises(ClaimRefused, match="no signature"):
        submit(shop, order_id, tx_hash, made.log_index, payer.address, signed(other, CUSTOMER))


@pytest.mark.rule("evidence.8")
def test_a_transfer_from_before_the_order_pays_nothing(shop: ChainShop) -> None:
    payer = wallet(shop)
    tx_hash = pay(shop, payer)
    order_id = shop.order()[0]
    assert prepare_claims(shop.shop.resources, order_id, chain_id=BASE, tx_hash=tx_hash, account=payer.address) == ()
    with pytest.raises(ClaimRefused, match="older than the order"):
        submit(shop, order_id, tx_hash, shop.shop.payments()[0].log_index, payer.address, b"\x01" * 65)


@pytest.mark.rule("evidence.14")
def test_one_transfer_pays_one_order_though_its_payer_signs_for_two(shop: ChainShop) -> None:
    first, second = shop.order()[0], shop.order()[0]
    payer = wallet(shop)
    tx_hash = pay(shop, payer)
    made = [offer(shop, each, tx_hash, payer.address) for each in (first, second)]
    for order_id, each in zip((first, second), made, strict=True):
        submit(shop, order_id, tx_hash, each.log_index, payer.address, signed(each.typed_data, CUSTOMER))
    shop.pass_time(10)
    shop.look()
    assert (shop.outcome(first), shop.outcome(second)) == ("success/", "created/")
    with pytest.raises(ClaimRefused, match="another order"):
        submit(shop, second, tx_hash, made[1].log_index, payer.address, signed(made[1].typed_data, CUSTOMER))


def test_a_signature_for_a_cancelled_order_makes_the_money_refundable(shop: ChainShop) -> None:
    order_id, payer = shop.order()[0], wallet(shop)
    shop.shop.post(f"/api/v1/payment/{order_id}/cancel")
    tx_hash = pay(shop, payer)
    shop.finalise()
    claim(shop, order_id, tx_hash, payer.address, CUSTOMER)
    assert shop.outcome(order_id) == "cancelled/paid_after_close"


def test_what_has_not_been_seen_is_not_claimed(shop: ChainShop) -> None:
    order_id = shop.order()[0]
    with pytest.raises(ClaimRefused, match="not been seen"):
        submit(shop, order_id, "0x" + "77" * 32, 0, CUSTOMER.address.lower(), b"\x01" * 65)
    with pytest.raises(NotFound):
        submit(shop, "po_nothing", "0x" + "77" * 32, 0, CUSTOMER.address.lower(), b"\x01" * 65)


def contract_payment(shop: ChainShop, owner: LocalAccount) -> tuple[Contract, str]:
    """Let a contract of somebody's pay without a reference."""
    net = shop.nets[BASE]
    account = net.chain.deploy(compiled("signing_wallet"), owner.address)
    net.fund(account.address.lower(), "USDC", 10 * PRICE)
    function = account.functions["call"]

    data = function.selector + encode(function.inputs, (shop.token(BASE), 0, transfer_data(shop.address, PRICE)))
    tx_hash = wallet(shop, THIEF).send(account.address, data)
    shop.look()
    return account, tx_hash


@pytest.mark.rule("evidence.4")
def test_a_contract_says_itself_what_it_has_signed(shop: ChainShop) -> None:
    order_id = shop.order()[0]
    account, tx_hash = contract_payment(shop, CUSTOMER)
    claim(shop, order_id, tx_hash, account.address.lower(), CUSTOMER)
    assert shop.outcome(order_id) == "success/"


@pytest.mark.rule("evidence.4")
def test_who_rules_a_contract_now_or_did_then_is_not_enough(shop: ChainShop) -> None:
    order_id = shop.order()[0]
    account, tx_hash = contract_payment(shop, CUSTOMER)
    account("pass_on", THIEF.address)
    made = offer(shop, order_id, tx_hash, account.address.lower())
    for signer in (CUSTOMER, THIEF):
        with pytest.raises(ClaimRefused, match="no signature"):
            submit(shop, order_id, tx_hash, made.log_index, account.address.lower(), signed(made.typed_data, signer))


def test_a_contract_that_burns_gas_signs_nothing(shop: ChainShop) -> None:
    order_id = shop.order()[0]
    account, tx_hash = contract_payment(shop, CUSTOMER)
    account("burn_gas")
    made = offer(shop, order_id, tx_hash, account.address.lower())
    with pytest.raises(ClaimRefused, match="no signature"):
        submit(shop, order_id, tx_hash, made.log_index, account.address.lower(), signed(made.typed_data, CUSTOMER))


@pytest.mark.rule("evidence.5")
def test_a_signature_of_another_installation_is_of_no_use(shop: ChainShop) -> None:
    order_id, payer = shop.order()[0], wallet(shop)
    tx_hash = pay(shop, payer)
    resources = shop.shop.resources
    elsewhere = replace(resources, config=replace(resources.config, base_url="https://other.example"))
    (made,) = prepare_claims(elsewhere, order_id, chain_id=BASE, tx_hash=tx_hash, account=payer.address)
    with pytest.raises(ClaimRefused, match="no signature"):
        submit(shop, order_id, tx_hash, made.log_index, payer.address, signed(made.typed_data, CUSTOMER))

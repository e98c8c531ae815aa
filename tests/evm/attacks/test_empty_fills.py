"""A relay of nothing, made by a stranger in the transaction in which somebody else's money reaches the merchant."""

from __future__ import annotations

import pytest
from eth_abi import encode

from adapters.bridges.cctp.adapter import get_domain
from adapters.chain.deployments import read_deployments
from tests.support.across import BASE, ETHEREUM, Crossing, make_word
from tests.support.attacks import run
from tests.support.circle import burn_of, deploy_circle, make_message
from tests.support.evidence import data_of
from tests.support.evm import Contract
from tests.support.settlement import PRICE, ChainShop, transfer_data
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns


@pytest.mark.rule("evidence.6")
@pytest.mark.parametrize("amount_out", [0, 1])
@pytest.mark.parametrize("has_reference", [True, False])
def test_a_relay_of_nothing_takes_nobody_elses_payment(
    shop: ChainShop, runner: Contract, has_reference: bool, amount_out: int
) -> None:
    """The bridge tells of a delivery; the next transfer to the merchant was taken for it."""
    (victims, reference), (thiefs, stolen) = shop.order(), shop.order()
    account = shop.nets[BASE].chain.deploy(compiled("runner"))
    shop.nets[BASE].fund(account.address, "USDC", PRICE)
    data = transfer_data(shop.address, PRICE) + (reference if has_reference else b"")
    payment = run(account, (shop.token(BASE), 0, data))
    crossing = Crossing(shop, stolen, is_built=False, amount_out=amount_out)
    pool, filling = crossing.make_fill()
    if amount_out:
        shop.nets[BASE].fund(runner.address, "USDC", amount_out)
    allow = bytes.fromhex("095ea7b3") + encode(["address", "uint256"], [pool, amount_out])
    shop.customer(BASE, "thief").send(
        runner.address,
        run(runner, (shop.token(BASE), 0, allow), (pool, 0, filling), (account.address, 0, payment)),
    )
    shop.look(4)
    assert not shop.outcome(thiefs).startswith("success")
    paid = [row.order_id for row in shop.shop.payments() if row.amount == PRICE]
    assert (paid, shop.outcome(victims)) == (([victims], "success/") if has_reference else ([None], "created/"))


@pytest.mark.rule("evidence.6")
def test_a_relay_of_nothing_takes_no_mint(shop: ChainShop, runner: Contract) -> None:
    """Anybody may bring what Circle has attested, behind a relay of his own."""
    for chain_id in (BASE, ETHEREUM):
        deploy_circle(shop.nets[chain_id])
    (victims, reference), (thiefs, stolen) = shop.order(), shop.order()
    burnt = burn(shop, reference)
    (facts,) = read_deployments("cctp", BASE)
    transmitter = shop.nets[BASE].chain.at(facts.get_address("message_transmitter"), compiled("circle")["abi"])
    minting = data_of(transmitter, "receiveMessage", make_message(shop.nets[ETHEREUM], burnt, fee=0), bytes(65))
    pool, filling = Crossing(shop, stolen, is_built=False, amount_out=0).make_fill()
    shop.customer(BASE, "thief").send(
        runner.address, run(runner, (pool, 0, filling), (transmitter.address, 0, minting))
    )
    shop.look(4)
    assert (shop.outcome(victims), shop.outcome(thiefs).startswith("success")) == ("success/", False)


def burn(shop: ChainShop, reference: bytes) -> str:
    """Burn a customer's dollar for the merchant on Base."""
    (facts,) = read_deployments("cctp", ETHEREUM)
    messenger = shop.nets[ETHEREUM].chain.at(facts.get_address("token_messenger"), compiled("circle")["abi"])
    customer, token = shop.customer(ETHEREUM), shop.token(ETHEREUM)
    customer.send(token, bytes.fromhex("095ea7b3") + encode(["address", "uint256"], [messenger.address, PRICE]))
    hook = b"cctp-forward".ljust(32, b"\0")
    order = (PRICE, get_domain(BASE), make_word(shop.address), token, bytes(32), 0, 1_000, hook)
    burnt = customer.send(messenger.address, data_of(messenger, "depositForBurnWithHook", *order) + reference)
    assert burn_of(shop.nets[ETHEREUM].chain, burnt)[2][0] == PRICE
    return burnt

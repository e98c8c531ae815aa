"""A vault that calldata tells to make a deposit into a bridge: what its money paid goes back only where it is said."""

from __future__ import annotations

from dataclasses import replace

from eth_abi import encode

from adapters.transactions.payment_builders import PaymentBuilders
from adapters.transactions.simulation import PaymentChain
from api.context import attach_resources
from api.domain.env import EnvMode
from api.services.chains.chain_access import ChainAccess
from tests.evm.test_settlement_bridges import NoBridge
from tests.support.across import LIFE_S, NOBODY, PAID, fill, make_word
from tests.support.attacks import BASE, run
from tests.support.settlement import PRICE, ChainShop
from tests.support.vyper_source import compiled

ETHEREUM = 1


def make_deposit(shop: ChainShop, depositor: str) -> bytes:
    """Return what a bridge is called with to bring the merchant the price."""
    net = shop.nets[ETHEREUM]
    deposit, now = net.spoke_pool.functions["deposit"], int(net.chain.now())
    people = map(make_word, (depositor, shop.address, shop.token(ETHEREUM), shop.token(BASE)))
    terms = (*people, PAID, PRICE, BASE, make_word(NOBODY), now, now + LIFE_S, 0, b"")
    return bytes(deposit.selector + encode(deposit.inputs, terms))


def connect(shop: ChainShop) -> None:
    """Let the service ask both chains for code, as it does where wallets pay."""
    chains = {chain_id: PaymentChain(net.rpc()) for chain_id, net in shop.nets.items()}
    access = ChainAccess(chains=chains, builders=PaymentBuilders.load(), firm=NoBridge())
    shared = replace(shop.shop.resources, chain_access={EnvMode.TEST: access})
    attach_resources(shop.shop.client.application, shared)


def test_a_vault_that_is_told_to_deposit_is_not_paid_back_by_itself(shop: ChainShop) -> None:
    """Found: it was the default recipient where it is on both chains, though somebody else's calldata had it pay."""
    order_id, reference = shop.order()
    ethereum, base = shop.nets[ETHEREUM].chain, shop.nets[BASE].chain
    vault, agent = (ethereum.deploy(compiled("runner")) for _ in range(2))
    base.set_code(vault.address, ethereum.code(vault.address))
    shop.nets[ETHEREUM].fund(vault.address.lower(), "USDC", PAID)
    pool, token = shop.nets[ETHEREUM].spoke_pool, shop.token(ETHEREUM)
    approve = bytes.fromhex("095ea7b3") + encode(["address", "uint256"], [pool.address, PAID])
    told = run(vault, (token, 0, approve), (pool.address, 0, make_deposit(shop, vault.address) + reference))
    tx_hash = shop.customer(ETHEREUM).send(agent.address, run(agent, (vault.address, 0, told)))
    shop.look()
    fill(shop.nets[ETHEREUM], shop.nets[BASE], tx_hash)
    shop.look(3)
    assert shop.outcome(order_id) == "success/"
    shop.finalise()
    connect(shop)
    path = f"/api/v1/payment/{order_id}/refund"
    answer = shop.shop.post(path)
    assert (answer.status_code, answer.get_json()["error"][0]["path"]) == (400, "to")
    assert shop.shop.post(path, {"to": shop.customer(ETHEREUM).address}).status_code == 200

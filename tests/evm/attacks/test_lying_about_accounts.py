"""One of several endpoints lies about an account: that it has code, and what that code says of a signature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from eth_abi import encode
from eth_account import Account
from eth_account.signers.local import LocalAccount

from adapters.base import VenueUnavailable
from adapters.rpc.endpoint_pool import RpcPool
from adapters.transactions.simulation import PaymentChain
from api.domain.errors import ServiceUnavailable
from api.services.settlement.claims.signed_claims import ClaimRefused
from tests.support.attacks import BASE
from tests.support.claims import claim, offers, submit
from tests.support.databases import DIALECTS, Databases
from tests.support.lying_rpc import Lie, LyingRpc, lying_rpc
from tests.support.main_net import MainNet
from tests.support.settlement import PRICE, ChainShop, Wallet, chain_shop, somebody, transfer_data
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns

OpenShop = Callable[[int], tuple[ChainShop, Sequence[LyingRpc]]]
YES = "0x1626ba7e" + "00" * 28
OWNER: LocalAccount = Account.from_key(b"o" * 32)


@pytest.fixture(params=DIALECTS)
def open_shop(
    nets: Mapping[int, MainNet], tmp_path: Path, request: pytest.FixtureRequest, databases: Databases
) -> Iterator[OpenShop]:
    """Open a shop with so many endpoints of Base, of which the first is the one in use."""
    lent = databases.lend(request.param)
    with ExitStack() as stack:

        def enter(endpoints: int) -> tuple[ChainShop, Sequence[LyingRpc]]:
            told = [stack.enter_context(lying_rpc(nets[BASE].chain.url)) for _ in range(endpoints)]
            urls = {BASE: tuple(each.url for each in told)}
            shop = stack.enter_context(chain_shop(nets, tmp_path, request.node.name, lent, endpoints=urls))
            shop.look(1)
            return shop, told

        yield enter


def says(account: str, code: str, verdict: str) -> Lie:
    """Make the lie that an account has this code, which says this of every signature."""

    def lie(method: str, params: list[Any], answer: Any) -> Any:
        if method == "eth_getCode" and params[0].lower() == account.lower():
            return code
        if method == "eth_call" and params[0].get("to", "").lower() == account.lower():
            return verdict
        return answer

    return lie


def pay_from_contract(shop: ChainShop) -> tuple[str, str]:
    """Let a smart account pay without a reference; return it and the transaction."""
    net = shop.nets[BASE]
    account = net.chain.deploy(compiled("signing_wallet"), OWNER.address)
    net.fund(account.address.lower(), "USDC", PRICE)
    relayer = somebody("relayer")
    net.fund(relayer, "ETH", 10**18)
    call = account.functions["call"]
    paid = encode(call.inputs, (shop.token(BASE), 0, transfer_data(shop.address, PRICE)))
    tx_hash = Wallet(net.chain, relayer).send(account.address, call.selector + paid)
    shop.look()
    return account.address, tx_hash


@pytest.mark.parametrize("endpoints", [2, 3])
def test_one_liar_among_several_gives_nobody_somebodys_payment(open_shop: OpenShop, endpoints: int) -> None:
    """The endpoint in use called the payer a contract that signs anything."""
    shop, (liar, *_) = open_shop(endpoints)
    thiefs, _ = shop.order()
    victim = shop.customer(BASE, "victim", USDC=PRICE)
    tx_hash = victim.pay(shop.token(BASE), shop.address, PRICE)
    shop.look()
    liar.lies.append(says(victim.address, "0x60006000fd", YES))
    (offer,) = offers(shop, thiefs, tx_hash, victim.address)
    with pytest.raises((ClaimRefused, ServiceUnavailable)):
        submit(shop, thiefs, tx_hash, victim.address, offer.log_index, b"thief" * 13)
    shop.pass_time(10)
    shop.look()
    assert shop.outcome(thiefs) == "created/"


@pytest.mark.parametrize("lie", [("0x", "0x"), ("0x6000", "0x" + "ff" * 32)])
def test_a_smart_account_signs_though_one_of_three_endpoints_denies_it(
    open_shop: OpenShop, lie: tuple[str, str]
) -> None:
    shop, (liar, *_) = open_shop(3)
    order_id, _ = shop.order()
    account, tx_hash = pay_from_contract(shop)
    liar.lies.append(says(account, *lie))
    claim(shop, order_id, tx_hash, account, OWNER)
    assert shop.outcome(order_id) == "success/"


def test_a_smart_account_is_asked_to_try_again_while_one_of_two_endpoints_is_away(open_shop: OpenShop) -> None:
    shop, (_, other) = open_shop(2)
    order_id, _ = shop.order()
    account, tx_hash = pay_from_contract(shop)
    other.refuses = True
    with pytest.raises(ServiceUnavailable):
        claim(shop, order_id, tx_hash, account, OWNER)
    other.refuses = False
    claim(shop, order_id, tx_hash, account, OWNER)
    assert shop.outcome(order_id) == "success/"


def test_one_liar_does_not_say_where_there_is_a_contract(nets: Mapping[int, MainNet]) -> None:
    """A refund to a contract on another chain goes there unasked only if it is there."""
    net = nets[BASE]
    contract = net.chain.deploy(compiled("signing_wallet"), OWNER.address).address.lower()
    with lying_rpc(net.chain.url, says(contract, "0x", "0x")) as liar:
        pools = [RpcPool(BASE, urls) for urls in ([liar.url, net.chain.url], [liar.url, net.chain.url, net.chain.url])]
        with pytest.raises(VenueUnavailable, match="contradict each other"):
            PaymentChain(pools[0]).read_code(contract)
        assert PaymentChain(pools[1]).read_code(contract)
        for pool in pools:
            pool.close()

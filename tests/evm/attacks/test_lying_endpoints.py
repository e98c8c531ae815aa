"""Two endpoints of one chain of which one lies: about what is final, or about blocks that are not there yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from adapters.rpc.heads import MAX_LAG_BLOCKS
from api.domain.env import EnvMode
from api.services.ledger.chain_ledger import connect_ledger
from api.services.resources import Resources
from api.services.settlement.watching.watcher import BEHIND_FOR, watch
from tests.support.anvil import running_anvil
from tests.support.attacks import BASE
from tests.support.chain import Chain
from tests.support.databases import DIALECTS, Databases
from tests.support.lying_rpc import lying_rpc
from tests.support.main_net import MainNet
from tests.support.settlement import PRICE, ChainShop, Wallet, chain_shop, somebody

pytestmark = pytest.mark.in_turns

OpenShop = Callable[..., ChainShop]
BLOCKS_AHEAD = 400


@pytest.fixture(params=DIALECTS)
def open_shop(
    nets: Mapping[int, MainNet], tmp_path: Path, request: pytest.FixtureRequest, databases: Databases
) -> Iterator[OpenShop]:
    """Open a shop whose endpoints of Base are these."""
    lent = databases.lend(request.param)
    with ExitStack() as stack:

        def enter(*urls: str) -> ChainShop:
            return stack.enter_context(
                chain_shop(nets, tmp_path, request.node.name, lent, endpoints={BASE: urls or (nets[BASE].chain.url,)})
            )

        yield enter


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("lies", [True, False])
def test_what_one_endpoint_calls_final_is_not_sent_back(
    nets: Mapping[int, MainNet], open_shop: OpenShop, is_first: bool, lies: bool
) -> None:
    """The payment was final at once, its refund was granted, and then the chain lost it: the thief had the refund."""
    net = nets[BASE]

    def call_all_final(method: str, params: list[Any], answer: Any) -> Any:
        if lies and method == "eth_getBlockByNumber" and params[0] == "finalized":
            return net.chain.rpc("eth_getBlockByNumber", "latest", params[1])
        return answer

    with lying_rpc(net.chain.url, call_all_final) as liar:
        urls = (liar.url, net.chain.url)
        shop = open_shop(*(urls if is_first else urls[::-1]))
        shop.look(1)
        order_id, reference = shop.order()
        shop.customer(BASE, USDC=3 * PRICE).pay(shop.token(BASE), shop.address, 2 * PRICE, reference)
        shop.look(3)
        assert [each["status"] for each in shop.shop.order(order_id)["transfers"]] == ["confirmed"]
        url, body = f"/api/v1/payment/{order_id}/refund", {"amount": str(PRICE)}
        answer = shop.shop.client.post(url, json=body, headers=shop.shop.merchant.headers())
        assert (answer.status_code, "Retry-After" in answer.headers) == (409, True)


@contextmanager
def running_fork(net: MainNet) -> Iterator[Chain]:
    """Run a node that has the blocks of another so far, and makes its own from here on."""
    options = ("--fork-url", net.chain.url, "--no-mining", "--gas-limit", str(30_000_000_000), "--base-fee", "0")
    with running_anvil(BASE, *options) as url:
        yield Chain(url, BASE)


def look(shop: ChainShop, chain: Chain, times: int, resources: Resources | None = None) -> None:
    """Mine a block of that chain before each of so many looks."""
    for _ in range(times):
        now = int(max(shop.clock.now().timestamp(), chain.now())) + 2
        chain.rpc("evm_setNextBlockTimestamp", now)
        chain.mine()
        shop.clock.set(datetime.fromtimestamp(now, UTC))
        watch(resources or shop.shop.resources)


def reconnect(shop: ChainShop, *urls: str) -> Resources:
    """Return what a worker has that begins now, with these endpoints."""
    ledgers = {EnvMode.TEST: connect_ledger({BASE: urls}, EnvMode.TEST, shop.clock)}
    return replace(shop.shop.resources, ledgers=ledgers)


def test_a_chain_is_read_again_after_one_told_of_blocks_that_it_does_not_have(
    nets: Mapping[int, MainNet], open_shop: OpenShop
) -> None:
    """With the liar gone the chain was not read until it had as many blocks, and never what was paid in them."""
    net = nets[BASE]
    with running_fork(net) as fork, lying_rpc(fork.url) as liar:
        shop = open_shop(liar.url, net.chain.url)
        shop.look(2)
        fork.rpc("anvil_mine", hex(BLOCKS_AHEAD), "0x0")
        look(shop, fork, 3)
        order_id, reference = shop.order()
        look(shop, fork, 1)
        shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
        look(shop, fork, 1)
    rid_of_it = reconnect(shop, net.chain.url)
    look(shop, net.chain, 2, rid_of_it)
    assert shop.outcome(order_id) == "created/"
    shop.clock.set(shop.clock.now() + BEHIND_FOR)
    look(shop, net.chain, 4, rid_of_it)
    assert shop.outcome(order_id) == "success/"
    assert shop.balance(BASE) == PRICE


@pytest.mark.parametrize("ahead", [0, 2 * MAX_LAG_BLOCKS])
@pytest.mark.parametrize("is_first", [True, False])
def test_nothing_of_a_fork_that_one_endpoint_tells_of_counts(
    nets: Mapping[int, MainNet], open_shop: OpenShop, is_first: bool, ahead: int
) -> None:
    """Its blocks prove themselves: small orders were paid in it, whether it is as long as the chain or the longer one.

    Once the fork would be final, neither is believed.
    """
    net, thief = nets[BASE], somebody("thief")
    net.fund(thief, "ETH", 10**20)
    net.fund(thief, "USDC", PRICE)
    net.chain.mine()
    with running_fork(net) as fork:
        urls = (fork.url, net.chain.url)
        shop = open_shop(*(urls if is_first else urls[::-1]))
        shop.look(1)
        order_id, reference = shop.order()
        if ahead:
            fork.mine(ahead)
        begun_anew = reconnect(shop, *(urls if is_first else urls[::-1]))
        Wallet(fork, thief).pay(shop.token(BASE), shop.address, PRICE, reference)
        for _ in range(40):
            for chain in (net.chain, fork):
                chain.mine(3)
            look(shop, fork, 1, begun_anew)
            assert [each["status"] for each in shop.shop.order(order_id)["transfers"]] in ([], ["seen"])
        assert not shop.outcome(order_id).startswith("success")
        assert shop.balance(BASE) == 0


def test_what_was_paid_while_a_liar_had_the_word_alone_is_found(
    nets: Mapping[int, MainNet], open_shop: OpenShop
) -> None:
    """It told of other blocks than the chain has, and of later ones; what it called final was not read again."""
    net = nets[BASE]
    with running_fork(net) as fork, lying_rpc(fork.url) as liar, lying_rpc(net.chain.url) as silent:
        shop = open_shop(liar.url, silent.url)
        shop.look(1)
        silent.refuses = True
        order_id, reference = shop.order()
        shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
        for _ in range(3):
            fork.mine(BLOCKS_AHEAD)
            look(shop, fork, 2, reconnect(shop, liar.url, silent.url))
        assert shop.outcome(order_id) == "created/"
    net.chain.mine(BLOCKS_AHEAD)  # only now: the fork asks this one for what it had in common
    honest = reconnect(shop, net.chain.url)
    look(shop, net.chain, 2, honest)
    shop.clock.set(shop.clock.now() + BEHIND_FOR)
    look(shop, net.chain, 20, honest)
    assert shop.outcome(order_id) == "success/"

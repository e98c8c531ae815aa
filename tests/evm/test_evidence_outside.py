"""An exchange of another package: what it lets customers pay over is credited, and nothing that resembles it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from adapters.transactions.base import PlannedHop, Terms
from adapters.transactions.intermediaries import UNISWAP_V2, PoolFactory
from adapters.transactions.payment_builders import PaymentBuilders, append_reference
from adapters.transactions.uniswap_v2 import UniswapV2Payments
from routing_engine.model import Hop
from routing_engine.reference.chains import CHAINS
from tests.support.evidence import (
    MINE,
    THEIRS,
    Meddling,
    approve,
    by_recipient,
    customer_of,
    data_of,
    found_in,
    own,
    run,
    runner_on,
)
from tests.support.evm import ACTOR, FOREVER, Contract
from tests.support.main_net import MainNet, constructed, placed, running_main_net
from tests.support.outside import forget, install
from tests.support.settlement import somebody
from tests.support.uniswap import _v2_core, _v2_periphery
from tests.support.vyper_source import compiled

BASE = 8453
FACTORY, ROUTER = "0x" + "f0" * 20, "0x" + "f1" * 20
SHOP = somebody("merchant who is paid over an exchange of others")
WETH = CHAINS[BASE].wrapped_native


def make_builders() -> Iterator[UniswapV2Payments]:
    yield UniswapV2Payments("foal_swap", {BASE: ROUTER}, {BASE: (PoolFactory(address=FACTORY, interface=UNISWAP_V2),)})


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    with running_main_net(BASE) as base:
        constructed(base.chain, FACTORY, _v2_core("UniswapV2Factory"), ACTOR)
        router = exchange(base, ROUTER, FACTORY)
        add_pair(base, router, WETH, 10**21, base.tokens["USDC"].address, 4 * 10**12)
        yield base


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    install(monkeypatch, ("routing_engine.payments", "foal_swap", f"{__name__}:make_builders"))
    yield
    monkeypatch.undo()
    forget()


@pytest.fixture(params=[False, True], ids=["traced", "not traced"])
def node(request: pytest.FixtureRequest) -> Meddling:
    return Meddling(refuses=request.param)


def exchange(net: MainNet, router: str, factory: str) -> Contract:
    return placed(net.chain, router, _v2_periphery("UniswapV2Router02"), factory, WETH)


def add_pair(net: MainNet, router: Contract, first: str, amount: int, second: str, other: int) -> None:
    for token in net.tokens.values():
        token("approve", router.address, 2**256 - 1)
    router("addLiquidity", first, second, amount, other, 0, 0, ACTOR, FOREVER)


def router_of(net: MainNet) -> Contract:
    return net.chain.at(ROUTER, _v2_periphery("UniswapV2Router02")["abi"])


def ends(net: MainNet) -> list[str]:
    return sorted((net.tokens["USDC"].address, WETH), key=lambda address: int(address, 16))


def test_what_a_customer_is_offered_is_credited(net: MainNet, node: Meddling) -> None:
    payer, usdc, weth = customer_of(net, "payer abroad"), net.token("USDC"), net.token("WETH")
    approve(payer, net.tokens["USDC"], ROUTER)
    builders = PaymentBuilders.load()
    assert {"foal_swap"} in builders.list_families(BASE, crosses_chains=False)
    hop = Hop(market_id="x", protocol="foal_swap", token_in=usdc, token_out=weth, amount_in=10**9, amount_out=10**13)
    terms = Terms(payer=payer.address, recipient=SHOP, amount_in_max=10**9, amount_out=10**13, deadline=FOREVER)
    call = append_reference(builders.build((PlannedHop(hop=hop),), usdc, terms), MINE)
    (found,) = found_in(net, payer.send(call.to, call.data), [SHOP], node)
    assert (found.amount, found.token_address, found.sender) == (10**13, WETH, payer.address)
    assert own(found)[-1:] == (MINE,)


def test_a_contract_that_names_its_factory_is_no_pool_of_it(net: MainNet, node: Meddling) -> None:
    thief, usdc = customer_of(net, "thief abroad"), net.tokens["USDC"]
    fake = net.chain.deploy(compiled("fake_pool"), FACTORY, *ends(net))
    net.fund(fake.address, "USDC", 1_000)
    approve(thief, usdc, fake.address)
    pay = data_of(fake, "pay", usdc.address, 1, 700, SHOP)
    (found,) = found_in(net, thief.send(fake.address, pay + THEIRS), [SHOP], node)
    assert (found.amount, THEIRS in own(found), found.sender) == (700, False, "")


def test_a_factory_of_the_same_code_that_nobody_names_makes_no_pools(net: MainNet, node: Meddling) -> None:
    """Whoever is its first lender owns what its pair holds, and may have it pay whomever he likes."""
    thief, usdc = customer_of(net, "thief with a factory"), net.tokens["USDC"]
    factory, router_at = net.chain.deploy(_v2_core("UniswapV2Factory"), ACTOR), somebody("router of nobody")
    add_pair(net, exchange(net, router_at, factory.address), WETH, 10**21, usdc.address, 4 * 10**12)
    approve(thief, usdc, router_at)
    data = data_of(router_of(net), "swapTokensForExactTokens", 10**13, 10**9, [usdc.address, WETH], SHOP, FOREVER)
    (found,) = found_in(net, thief.send(router_at, data + THEIRS), [SHOP], node)
    if node.refuses:
        assert (found.amount, own(found), found.sender) == (10**13, (), "")
    else:
        assert (found.amount, THEIRS in own(found)) == (10**13, False)


def test_a_pair_that_anybody_made_brings_nobody_elses_money(net: MainNet, node: Meddling) -> None:
    """The named factory did make this pair: of a token that uses a victim's allowance whenever it moves."""
    thief, victim, usdc = customer_of(net, "thief with a token"), customer_of(net, "victim"), net.tokens["USDC"]
    tool, token = runner_on(net.chain), net.chain.deploy(compiled("eager_token"))
    approve(victim, usdc, tool.address)
    errand = run(tool, [(usdc.address, 0, data_of(usdc, "transferFrom", victim.address, SHOP, 500))])
    for person in (thief.address, ACTOR):
        token("mint", person, 10**24)
    router = router_of(net)
    add_pair(net, router, token.address, 10**22, usdc.address, 10**10)
    token("plan", tool.address, errand)
    for recipient in (SHOP, thief.address):
        path = [token.address, usdc.address]
        data = data_of(router, "swapTokensForExactTokens", 3, 10**20, path, recipient, FOREVER)
        found = by_recipient(found_in(net, thief.send(ROUTER, data + THEIRS), [SHOP], node))
        taken = found[usdc.address.lower(), 500]
        assert (THEIRS in own(taken), taken.sender) == (False, "")


def test_the_event_of_a_pair_that_was_never_made_makes_no_pool(net: MainNet, node: Meddling) -> None:
    """Of such tokens the named factory has no pair at all."""
    thief, usdc = customer_of(net, "thief with a wallet"), net.tokens["USDC"]
    lured = net.chain.deploy(compiled("fake_pool"), FACTORY, usdc.address, net.tokens["DAI"].address)
    net.fund(lured.address, "USDC", 1_000)
    approve(thief, usdc, lured.address)
    pay = data_of(lured, "pay", usdc.address, 1, 700, SHOP)
    (found,) = found_in(net, thief.send(lured.address, pay + THEIRS), [SHOP], node)
    assert (found.amount, THEIRS in own(found), found.sender) == (700, False, "")

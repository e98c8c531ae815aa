"""Swaps that end at a merchant's address, on real routers and pools: whose money went in, and who says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from eth_abi import encode

from api.domain.transfers import FIRST_INNER_TRANSFER
from api.domain.watched import Watched
from routing_engine.model import NATIVE_ADDRESS
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
    reader_of,
    run,
    runner_on,
)
from tests.support.evm import ACTOR, FOREVER, Contract
from tests.support.main_net import MainNet, fact, running_main_net
from tests.support.npm import SWAP_ROUTER, artifact
from tests.support.settlement import Wallet, somebody
from tests.support.vyper_source import compiled

BASE = 8453
SHOP = somebody("merchant who is paid by swaps")
WETH = CHAINS[BASE].wrapped_native


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    with running_main_net(BASE) as base:
        base.pair("WETH", 10**21, "USDC", 4 * 10**12)
        base.pool("WETH", 10**21, "USDC", 4 * 10**12, 500)
        yield base


@pytest.fixture
def payer(net: MainNet) -> Wallet:
    wallet = customer_of(net, "payer", DAI=10**20)
    approve(wallet, net.tokens["USDC"], net.v2_router.address)
    approve(wallet, net.tokens["USDC"], fact("uniswap_v3", BASE, "router"))
    return wallet


@pytest.fixture
def thief(net: MainNet) -> Wallet:
    wallet = customer_of(net, "thief")
    approve(wallet, net.tokens["USDC"], net.v2_router.address)
    return wallet


@pytest.fixture(params=[False, True], ids=["traced", "not traced"])
def node(request: pytest.FixtureRequest) -> Meddling:
    return Meddling(refuses=request.param)


def v3_router(net: MainNet) -> Contract:
    compiled_router = artifact(SWAP_ROUTER, "artifacts/contracts/SwapRouter02.sol/SwapRouter02.json")
    return net.chain.at(fact("uniswap_v3", BASE, "router"), compiled_router["abi"])


def multicall(*calls: bytes) -> bytes:
    return bytes.fromhex("5ae401dc") + encode(["uint256", "bytes[]"], [FOREVER, list(calls)])


def test_coin_into_tokens_over_v2_is_the_payers(net: MainNet, payer: Wallet, node: Meddling) -> None:
    data = data_of(net.v2_router, "swapETHForExactTokens", 900, [WETH, net.tokens["USDC"].address], SHOP, FOREVER)
    (found,) = found_in(net, payer.send(net.v2_router.address, data + MINE, value=10**15), [SHOP], node)
    assert (found.amount, own(found), found.sender) == (900, (MINE,), payer.address)


def test_tokens_into_coin_over_v2_are_the_same_transfer_with_and_without_a_trace(net: MainNet, payer: Wallet) -> None:
    path = [net.tokens["USDC"].address, WETH]
    data = data_of(net.v2_router, "swapTokensForExactETH", 10**14, 10**9, path, SHOP, FOREVER)
    tx_hash = payer.send(net.v2_router.address, data + MINE)
    (traced,), (untraced,) = (found_in(net, tx_hash, [SHOP], Meddling(refuses)) for refuses in (False, True))
    assert own(traced)[-1] == own(untraced)[-1] == MINE
    for each in (traced, untraced):
        assert (each.token_address, each.amount, each.sender) == (NATIVE_ADDRESS, 10**14, payer.address)
        assert (each.log_index, each.is_inner) == (FIRST_INNER_TRANSFER, True)


@pytest.mark.parametrize("is_coin", [False, True])
def test_a_swap_over_v3_is_the_payers(net: MainNet, payer: Wallet, node: Meddling, is_coin: bool) -> None:
    router = v3_router(net)
    ends = (net.tokens["USDC"].address, WETH, 500, "0x" + "00" * 19 + "02" if is_coin else SHOP)
    calls = [data_of(router, "exactOutputSingle", (*ends, 10**13, 10**9, 0))]
    calls += [bytes.fromhex("49404b7c") + encode(["uint256", "address"], [10**13, SHOP])] if is_coin else []
    (found,) = found_in(net, payer.send(router.address, multicall(*calls) + MINE), [SHOP], node)
    assert (found.amount, found.sender, found.token_address) == (
        10**13,
        payer.address,
        NATIVE_ADDRESS if is_coin else WETH,
    )
    assert own(found)[-1] == MINE


def test_coin_that_was_wrapped_for_the_merchant(net: MainNet, payer: Wallet, node: Meddling) -> None:
    router = v3_router(net)
    wrap, sweep = bytes.fromhex("1c58db4f") + encode(["uint256"], [88]), bytes.fromhex("df2ab5bb")
    calls = [wrap, sweep + encode(["address", "uint256", "address"], [WETH, 88, SHOP]), bytes.fromhex("12210e8a")]
    (found,) = found_in(net, payer.send(router.address, multicall(*calls) + MINE, value=100), [SHOP], node)
    assert (found.amount, found.sender, own(found)[-1]) == (88, payer.address, MINE)


def test_what_a_router_had_left_over_is_not_what_the_call_says(net: MainNet, payer: Wallet) -> None:
    """Without a trace only just what was decoded counts; a router sends all that it has."""
    router = v3_router(net)
    net.fund(router.address, "WETH", 5)
    pull = bytes.fromhex("f2d5d56b") + encode(["address", "uint256"], [WETH, 100])
    unwrap = bytes.fromhex("49404b7c") + encode(["uint256", "address"], [100, SHOP])
    net.fund(payer.address, "WETH", 100)
    approve(payer, net.tokens["WETH"], router.address)
    tx_hash = payer.send(router.address, multicall(pull, unwrap) + MINE)
    assert found_in(net, tx_hash, [SHOP], Meddling(refuses=True)) == []
    (found,) = found_in(net, tx_hash, [SHOP])
    assert (found.amount, found.sender, found.log_index) == (105, payer.address, FIRST_INNER_TRANSFER - 2)


def eager_pair(net: MainNet, errand_of: Contract, errand: bytes, holder: str) -> Contract:
    """Make a real pair of a token that runs an errand whenever it moves."""
    token, usdc = net.chain.deploy(compiled("eager_token")), net.tokens["USDC"]
    for person in (holder, ACTOR):
        token("mint", person, 10**24)
    net.v2_router("addLiquidity", token.address, usdc.address, 10**22, 10**10, 0, 0, ACTOR, FOREVER)
    token("plan", errand_of.address, errand)
    return token


def test_a_token_on_the_way_brings_nobody_elses_money(
    net: MainNet, payer: Wallet, thief: Wallet, node: Meddling
) -> None:
    """The thief swaps a token of his own over the real router; while it moves, the victim's allowance is used."""
    usdc, tool = net.tokens["USDC"], runner_on(net.chain)
    approve(payer, usdc, tool.address)
    errand = run(tool, [(usdc.address, 0, data_of(usdc, "transferFrom", payer.address, SHOP, 500))])
    token = eager_pair(net, tool, errand, thief.address)
    path = [token.address, usdc.address]
    swap = data_of(net.v2_router, "swapTokensForExactTokens", 3, 10**20, path, SHOP, FOREVER)
    found = by_recipient(found_in(net, thief.send(net.v2_router.address, swap + THEIRS), [SHOP], node))
    taken = found[usdc.address.lower(), 500]
    assert (THEIRS in own(taken), taken.sender) == (False, "")


def test_nor_in_place_of_what_the_router_pays(net: MainNet, payer: Wallet, thief: Wallet, node: Meddling) -> None:
    """The swap goes to the thief himself, and the victim's money of just that amount to the merchant."""
    usdc, tool = net.tokens["USDC"], runner_on(net.chain)
    approve(payer, usdc, tool.address)
    errand = run(tool, [(usdc.address, 0, data_of(usdc, "transferFrom", payer.address, SHOP, 3))])
    token = eager_pair(net, tool, errand, thief.address)
    path = [token.address, usdc.address]
    swap = data_of(net.v2_router, "swapTokensForExactTokens", 3, 10**20, path, thief.address, FOREVER)
    named = swap + bytes(12) + bytes.fromhex(SHOP[2:]) + THEIRS
    (found,) = found_in(net, thief.send(net.v2_router.address, named), [SHOP], node)
    assert (THEIRS in own(found), found.sender) == (False, "")


def test_nor_has_other_coin_of_that_amount_the_number_of_what_the_router_pays(net: MainNet, thief: Wallet) -> None:
    """A token on the way sends the merchant as much coin as the router does later, out of somebody's contract."""
    tool = runner_on(net.chain)
    net.fund(tool.address, "ETH", 10**18)
    token = eager_pair(net, tool, run(tool, [(SHOP, 10**14, b"")]), thief.address)
    path = [token.address, net.tokens["USDC"].address, WETH]
    swap = data_of(net.v2_router, "swapTokensForExactETH", 10**14, 10**22, path, SHOP, FOREVER)
    found = found_in(net, thief.send(net.v2_router.address, swap + THEIRS), [SHOP])
    assert [row.amount for row in found] == [10**14, 10**14]
    (paid,) = [row for row in found if row.log_index == FIRST_INNER_TRANSFER]
    assert paid.namings[0].caller == thief.address, "it is of the router's call, not of the token's"
    assert not any(THEIRS in own(row) for row in found)


def test_a_pool_is_a_market_only_if_its_factory_says_so(net: MainNet, thief: Wallet, node: Meddling) -> None:
    """Somebody's contract claims to be a pair, so that what it loses would not count."""
    usdc = net.tokens["USDC"]
    ends = sorted((usdc.address, WETH), key=lambda address: int(address, 16))
    fake = net.chain.deploy(compiled("fake_pool"), net.v2_factory.address, *ends)
    net.fund(fake.address, "USDC", 1_000)
    approve(thief, usdc, fake.address)
    pay = data_of(fake, "pay", usdc.address, 1, 700, SHOP)
    (found,) = found_in(net, thief.send(fake.address, pay + THEIRS), [SHOP], node)
    assert (found.amount, THEIRS in own(found), found.sender) == (700, False, "")


def test_a_factory_that_nobody_knows_makes_no_markets(net: MainNet, thief: Wallet) -> None:
    usdc, factory = net.tokens["USDC"], somebody("factory that says yes")
    ends = sorted((usdc.address, WETH), key=lambda address: int(address, 16))
    fake = net.chain.deploy(compiled("fake_pool"), factory, *ends)
    net.chain.set_code(factory, bytes.fromhex("73" + fake.address[2:] + "5f5260205ff3"))
    net.fund(fake.address, "USDC", 1_000)
    approve(thief, usdc, fake.address)
    pay = data_of(fake, "pay", usdc.address, 1, 700, SHOP)
    (found,) = found_in(net, thief.send(fake.address, pay + THEIRS), [SHOP])
    assert THEIRS not in own(found)


def test_markets_are_asked_about_once(net: MainNet, payer: Wallet) -> None:
    class Counting(Meddling):
        def post(self, url: str, body: object) -> object:
            asked = body if isinstance(body, list) else [body]
            self.calls = getattr(self, "calls", 0) + any(each["method"] == "eth_call" for each in asked)
            return super().post(url, body)

    node = Counting()
    reader, batches = reader_of(net, node), []
    for _ in range(2):
        data = data_of(net.v2_router, "swapETHForExactTokens", 900, [WETH, net.tokens["USDC"].address], SHOP, FOREVER)
        tx_hash = payer.send(net.v2_router.address, data + MINE, value=10**15)
        number = int(net.chain.rpc("eth_getTransactionReceipt", tx_hash)["blockNumber"], 16)
        (found,) = reader.read(number, number, Watched.at([SHOP])).transfers
        assert MINE in own(found)
        batches.append(node.calls)
    assert batches == [3, 3]  # the routers' factories, what the market says, what its factory says of it

"""An endpoint that leaves payments in plain coin out of their blocks: no event tells of them, and no bloom."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from adapters.rpc import heads
from adapters.rpc.endpoint import AWAY_S
from api.services.ledger.hashes.receipts import hash_header
from api.services.ledger.hashes.transactions import encode_transaction
from api.services.ledger.hashes.tries import compute_root
from tests.support.attacks import BASE, run
from tests.support.chain import Chain
from tests.support.databases import DIALECTS, Databases
from tests.support.lying_rpc import Lie, LyingRpc, lying_rpc
from tests.support.main_net import MainNet
from tests.support.settlement import ChainShop, chain_shop
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns

COIN = 10**15
SETTLED = 8
"""Looks until doubts have been settled."""
Opened = Callable[[int], tuple[ChainShop, list[LyingRpc]]]


def pay_in_coin(shop: ChainShop) -> str:
    """Make an order in coin, and pay it in the plainest way."""
    order_id, reference = shop.order(order_price={"amount": COIN, "decimals": 18, "currency": "ETH"})
    shop.customer(BASE).send(shop.address, reference, value=COIN)
    return order_id


@pytest.fixture(params=DIALECTS)
def opened(
    nets: Mapping[int, MainNet], tmp_path: Path, request: pytest.FixtureRequest, databases: Databases
) -> Iterator[Opened]:
    """Open a shop whose worker has so many endpoints of Base."""
    with ExitStack() as stack:

        def build(count: int) -> tuple[ChainShop, list[LyingRpc]]:
            rpcs = [stack.enter_context(lying_rpc(nets[BASE].chain.url)) for _ in range(count)]
            urls = {BASE: tuple(each.url for each in rpcs)}
            lent = databases.lend(request.param)
            shop = stack.enter_context(chain_shop(nets, tmp_path, request.node.name, lent, endpoints=urls))
            shop.look()
            return shop, rpcs

        yield build


def hide_coin(address: str, *, forges_root: bool = False, forges_hash: bool = False) -> Lie:
    """Leave transactions to an address out of their blocks, and have the rest of the block fit that."""

    def lie(method: str, params: list[Any], answer: Any) -> Any:
        if not method.startswith("eth_getBlockBy") or not isinstance(answer, dict) or not params[1]:
            return answer
        kept = [each for each in answer["transactions"] if each["to"] != address]
        if len(kept) == len(answer["transactions"]):
            return answer
        told = {**answer, "transactions": kept}
        if forges_root or forges_hash:
            told["transactionsRoot"] = compute_root(map(encode_transaction, kept))
        return {**told, "hash": hash_header(told)} if forges_hash else told

    return lie


@pytest.mark.parametrize("forged", [{}, {"forges_root": True}])
@pytest.mark.parametrize("is_first", [True, False])
def test_coin_that_one_of_two_endpoints_hides_pays_its_order(
    opened: Opened, is_first: bool, forged: dict[str, bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: the endpoint in use left the payment out of its block, and nobody asked the other one."""
    monkeypatch.setattr(heads, "AGREE_S", 0)  # they agree on what is final every few seconds
    shop, rpcs = opened(2)
    rpcs[not is_first].lies.append(hide_coin(shop.address, **forged))
    order_id = pay_in_coin(shop)
    shop.look(SETTLED)
    assert shop.outcome(order_id) == "processing/"
    shop.finalise()
    assert shop.outcome(order_id) == "success/"


def test_coin_in_a_block_that_one_endpoint_invents_is_seen_and_waits_for_it(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It tells of another block of that number, so nothing is proven to be on the chain; but nothing is hidden."""
    monkeypatch.setattr(heads, "AGREE_S", 0)
    shop, (liar, _) = opened(2)
    liar.lies.append(hide_coin(shop.address, forges_hash=True))
    order_id = pay_in_coin(shop)
    shop.look(SETTLED)
    shop.finalise()
    assert shop.outcome(order_id) == "processing/"
    liar.lies.clear()
    shop.pass_time(70)
    shop.look()
    assert shop.outcome(order_id) == "success/"


def test_coin_is_found_though_the_other_endpoint_hangs_as_it_is_hidden(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one endpoint alone tells of a block that does not hash to it settles no doubt."""
    monkeypatch.setattr(heads, "AGREE_S", 0)
    shop, (liar, other) = opened(2)
    liar.lies.append(hide_coin(shop.address))
    other.refuses = True
    order_id = pay_in_coin(shop)
    for _ in range(SETTLED):
        shop.pass_time(12)
        shop.look(1)
    assert shop.outcome(order_id) == "created/"
    other.refuses = False
    time.sleep(AWAY_S)  # until it is asked again
    for _ in range(SETTLED):
        shop.pass_time(300)
        shop.look(1)
    shop.finalise()
    assert shop.outcome(order_id) == "success/"


def tell_failure(address: str) -> list[Lie]:
    """Say that transactions to an address have failed."""

    def change(answer: Any) -> Any:
        return {**answer, "status": "0x0"} if answer["to"] == address else answer

    def lie(method: str, params: list[Any], answer: Any) -> Any:
        if method == "eth_getBlockReceipts":
            return [change(each) for each in answer]
        return change(answer) if method == "eth_getTransactionReceipt" and answer is not None else answer

    return [lie]


def rename(address: str, node: Chain) -> list[Lie]:
    """Give transactions to an address another hash, and say the same of it as of the real one."""
    made_up, real = "0x" + "ab" * 32, ["0x" + "00" * 32]

    def lie(method: str, params: list[Any], answer: Any) -> Any:
        if method.startswith("eth_getBlockBy") and isinstance(answer, dict) and params[1]:
            for each in answer["transactions"]:
                if each["to"] == address:
                    real[0], each["hash"] = each["hash"], made_up
        if method == "eth_getTransactionReceipt" and params == [made_up]:
            return {**node.rpc(method, *real), "transactionHash": made_up}
        return answer

    return [lie]


@pytest.mark.parametrize("is_renamed", [False, True])
def test_coin_of_which_one_of_two_endpoints_tells_something_else_pays_its_order(
    opened: Opened, is_renamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: a block is whole, and what is said of a payment in it was believed: that it failed, or is another one."""
    monkeypatch.setattr(heads, "AGREE_S", 0)
    shop, (liar, _) = opened(2)
    liar.lies += rename(shop.address, shop.nets[BASE].chain) if is_renamed else tell_failure(shop.address)
    order_id = pay_in_coin(shop)
    shop.look(SETTLED)
    shop.pass_time(20)
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "success/"


@pytest.mark.parametrize("told", [{"calls": []}, None])
def test_inner_coin_that_one_of_two_endpoints_leaves_out_of_its_trace_is_not_lost(
    opened: Opened, told: dict[str, Any] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: the trace of the endpoint in use was believed, and its order expired. Now the two are seen to disagree."""
    monkeypatch.setattr(heads, "AGREE_S", 0)
    shop, (liar, _) = opened(2)

    def cut(method: str, params: list[Any], answer: Any) -> Any:
        return told and {**answer, **told} if method == "debug_traceTransaction" else answer

    liar.lies.append(cut)
    account = shop.nets[BASE].chain.deploy(compiled("runner"))
    order_id, reference = shop.order(order_price={"amount": COIN, "decimals": 18, "currency": "ETH"})
    data = run(account, (shop.address, COIN, reference))
    shop.customer(BASE).send(account.address, data, value=COIN)
    shop.look(SETTLED)
    assert [row.state for row in shop.shop.payments()] == ["disputed" if told else "seen"]
    liar.lies.clear()
    shop.pass_time(300)
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "success/"

"""Some chains write events of their own into every receipt, such as Polygon of coin that moved and of the fee.

They come from an address at which nobody can put a contract, and name who paid the fee and who made the block. Not
every node has them in traces.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from eth_utils import keccak

from routing_engine.reference.chains import CHAINS
from tests.support.evidence import (
    MINE,
    RICH,
    THEIRS,
    Meddling,
    approve,
    customer_of,
    data_of,
    found_in,
    own,
    run,
    runner_on,
)
from tests.support.evm import FOREVER
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import Wallet, somebody
from tests.support.vyper_source import compiled

BASE = 8453
SHOP = somebody("merchant on a chain that keeps books")
BOOKS = f"0x{0x1010:040x}"
TYPES = "(address,address,address,uint256,uint256,uint256,uint256,uint256)"


class Bookkeeping(Meddling):
    """A node whose chain tells of the coin that each transaction sent, and of its fee."""

    def __init__(self, traces: str) -> None:
        super().__init__(refuses=traces == "none")
        self.tells_in_traces = traces == "whole"

    def post(self, url: str, body: Any) -> Any:
        asked, answer = body if isinstance(body, list) else [body], super().post(url, body)
        by_id = {each["id"]: each.get("result") for each in (answer if isinstance(body, list) else [answer])}
        for each in asked:
            result = by_id[each["id"]]
            if each["method"] == "eth_getTransactionReceipt" and result:
                add_books(result["logs"], result)
            elif each["method"] == "debug_traceTransaction" and result and self.tells_in_traces:
                add_books(result.setdefault("logs", []), result)
        return answer


def add_books(logs: list[dict[str, Any]], record: dict[str, Any]) -> None:
    """Add what Polygon adds: at the beginning and at the end."""
    beside = {key: record.get(key) for key in ("blockNumber", "blockHash", "transactionHash", "transactionIndex")}
    for name, place, calls in (("LogTransfer", 0, 0), ("LogFeeTransfer", len(logs) + 1, 0xFFFF)):
        topics = [f"0x{int(each, 16):064x}" for each in (BOOKS, record["from"], somebody("who made the block"))]
        topic = "0x" + keccak(text=f"{name}{TYPES}").hex()
        told = {"address": BOOKS, "topics": [topic, *topics], "data": "0x" + "00" * 160, "position": hex(calls)}
        logs.insert(place, {**beside, **told})
    for number, each in enumerate(logs):
        each["logIndex"] = hex(number)


@pytest.fixture(scope="module")
def net() -> Iterator[MainNet]:
    with running_main_net(BASE) as base:
        base.pair("WETH", 10**21, "USDC", 4 * 10**12)
        yield base


@pytest.fixture(params=["none", "whole", "without them"])
def node(request: pytest.FixtureRequest) -> Bookkeeping:
    return Bookkeeping(request.param)


@pytest.fixture
def payer(net: MainNet) -> Wallet:
    return customer_of(net, "payer")


def test_a_swap_is_the_payers(net: MainNet, node: Bookkeeping, payer: Wallet) -> None:
    path = [CHAINS[BASE].wrapped_native, net.tokens["USDC"].address]
    data = data_of(net.v2_router, "swapETHForExactTokens", 900, path, SHOP, FOREVER)
    (found,) = found_in(net, payer.send(net.v2_router.address, data + MINE, value=10**15), [SHOP], node)
    assert (found.amount, own(found), found.sender) == (900, (MINE,), payer.address)


def test_coin_is_the_payers(net: MainNet, node: Bookkeeping, payer: Wallet) -> None:
    (found,) = found_in(net, payer.send(SHOP, MINE, value=7), [SHOP], node)
    assert (found.amount, own(found), found.sender) == (7, (MINE,), payer.address)


def test_an_account_pays_by_its_own_reference_where_there_are_traces(
    net: MainNet, node: Bookkeeping, payer: Wallet
) -> None:
    account = runner_on(net.chain)
    net.fund(account.address, "USDC", RICH)
    calls = [(net.tokens["USDC"].address, 0, data_of(net.tokens["USDC"], "transfer", SHOP, 5) + MINE)]
    (found,) = found_in(net, payer.send(account.address, run(account, calls)), [SHOP], node)
    assert own(found) == (() if node.refuses else (MINE,))


def test_others_who_are_named_may_still_have_sold_something(net: MainNet, node: Bookkeeping, payer: Wallet) -> None:
    spender, punk = runner_on(net.chain), net.chain.deploy(compiled("odd_thing"))
    approve(payer, net.tokens["USDC"], spender.address)
    buy = [
        (net.tokens["USDC"].address, 0, data_of(net.tokens["USDC"], "transferFrom", payer.address, SHOP, 30)),
        (punk.address, 0, data_of(punk, "hand_over_punk", somebody("seller"), payer.address)),
    ]
    (found,) = found_in(net, payer.send(spender.address, run(spender, buy) + THEIRS), [SHOP], node)
    assert (own(found), found.sender) == ((), "")


@pytest.mark.parametrize("refuses", [False, True])
def test_what_the_token_that_is_paid_says_of_itself_names_no_seller(net: MainNet, refuses: bool) -> None:
    """A vendor may receive in a token that is not listed, and its holders may have others vote for them."""
    token, payer = net.chain.deploy(compiled("votes_token")), customer_of(net, "voter")
    token("mint", payer.address, 10)
    payer.send(token.address, data_of(token, "delegate", somebody("delegate")))
    node = Meddling(refuses)
    (found,) = found_in(net, payer.pay(token.address, SHOP, 10, MINE), [SHOP], node)
    assert (own(found), found.sender) == ((MINE,), payer.address)

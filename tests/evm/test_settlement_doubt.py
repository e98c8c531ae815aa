"""Endpoints that lie, lag and hang before real chains: nothing that was paid is lost, nothing invented is credited."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from adapters.rpc import heads
from api.services.ledger.evidence import listed_contracts
from api.services.settlement.crediting.unassigning import unassign
from api.services.settlement.crediting.unmatched_transfers import assign
from tests.support.claims import may_claim
from tests.support.databases import DIALECTS, Databases
from tests.support.evidence import data_of
from tests.support.lying_rpc import Invention, Lie, LyingRpc, hide_calls, hide_first_log, hide_logs, lying_rpc, relabel
from tests.support.main_net import MainNet, running_main_net
from tests.support.settlement import PRICE, ChainShop, chain_shop, somebody, transfer_data
from tests.support.vyper_source import compiled

pytestmark = pytest.mark.in_turns

BASE = 8453
THIEF = somebody("thief")
SETTLED = 8
"""Looks until doubts have been settled."""
SETTLED_S = 70
"""After which what could not be proven is tried again."""


@pytest.fixture(scope="module")
def nets() -> Iterator[Mapping[int, MainNet]]:
    with running_main_net(BASE) as base:
        yield {BASE: base}


@pytest.fixture(params=DIALECTS)
def opened(
    nets: Mapping[int, MainNet],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    databases: Databases,
) -> Iterator[Callable[[int], tuple[ChainShop, list[LyingRpc]]]]:
    """Open a shop whose worker has so many endpoints."""
    with ExitStack() as stack:

        def build(count: int) -> tuple[ChainShop, list[LyingRpc]]:
            rpcs = [stack.enter_context(lying_rpc(nets[BASE].chain.url)) for _ in range(count)]
            shop = chain_shop(
                nets,
                tmp_path,
                request.node.name,
                databases.lend(request.param),
                endpoints={BASE: tuple(each.url for each in rpcs)},
            )
            entered = stack.enter_context(shop)
            entered.look()
            return entered, rpcs

        yield build


def pay(shop: ChainShop, reference: bytes, amount: int = PRICE) -> str:
    return shop.customer(BASE).pay(shop.token(BASE), shop.address, amount, reference)


Opened = Callable[[int], tuple[ChainShop, list[LyingRpc]]]


@pytest.mark.parametrize("lie", [hide_logs, hide_first_log])
@pytest.mark.parametrize("endpoints", [1, 2])
def test_events_that_are_kept_back_lose_nothing(opened: Opened, endpoints: int, lie: Lie) -> None:
    shop, (liar, *_) = opened(endpoints)
    liar.lies += [lie, hide_calls(shop.address)]
    paid = {pay(shop, b"")}
    shop.look()
    assert not shop.shop.payments()
    liar.lies.pop()  # what a block itself holds is told from now on, but events are not
    paid.add(pay(shop, b""))
    shop.look(SETTLED)
    assert {row.tx_hash for row in shop.shop.payments()} == paid
    assert [row.amount for row in shop.shop.payments()] == [PRICE, PRICE]


@pytest.mark.parametrize("is_thorough", [False, True])
@pytest.mark.parametrize("endpoints", [1, 2])
def test_a_transaction_that_never_was_pays_nothing(opened: Opened, endpoints: int, is_thorough: bool) -> None:
    shop, (liar, *_) = opened(endpoints)
    order_id, reference = shop.order()
    shop.pass_time(2)
    block = shop.nets[BASE].chain.number
    liar.lies.append(Invention(block, shop.token(BASE), THIEF, shop.address, PRICE, reference, is_thorough=is_thorough))
    shop.look(SETTLED)
    shop.finalise()
    assert shop.balance(BASE) == 0
    assert not shop.outcome(order_id).startswith("success")
    assert [row.amount for row in shop.shop.payments()] == [PRICE]  # it was seen, and is not believed


@pytest.mark.parametrize(("endpoints", "liars"), [(2, 1), (3, 1), (2, 2)])
def test_a_final_payment_is_lost_by_no_single_endpoints_word(
    opened: Opened, endpoints: int, liars: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: one endpoint that told of it in a later block had a paid order called `reorged`; two are believed."""
    monkeypatch.setattr(heads, "AGREE_S", 0)  # they agree on what is final every few seconds
    shop, rpcs = opened(endpoints)
    order_id, reference = shop.order()
    tx_hash = pay(shop, reference)
    shop.look()
    shop.finalise()
    (paid,) = (row for row in shop.shop.payments() if row.order_id == order_id)
    assert paid.state == "final"
    shop.pass_time(2)
    elsewhere = shop.nets[BASE].chain.number
    for liar in rpcs[:liars]:
        invention = Invention(elsewhere, shop.token(BASE), paid.sender, shop.address, PRICE, reference, tx_hash=tx_hash)
        liar.lies.append(invention)
    shop.look(SETTLED)
    is_lost = liars > 1
    assert ("success/reorged" in shop.shop.history(order_id)) == is_lost
    assert ("payment_failed" in {event["type"] for event in shop.shop.events(order_id)}) == is_lost


@pytest.mark.parametrize("endpoints", [1, 2])
def test_a_real_payment_under_another_orders_reference_is_not_believed(opened: Opened, endpoints: int) -> None:
    shop, (liar, *_) = opened(endpoints)
    (victims, reference), (thiefs, stolen) = shop.order(), shop.order()
    tx_hash = pay(shop, reference)
    liar.lies.append(relabel(tx_hash, stolen))
    shop.look(SETTLED)
    shop.finalise()
    assert not shop.outcome(thiefs).startswith("success")
    assert shop.outcome(victims) == ("success/" if endpoints > 1 else "created/")


@pytest.mark.rule("evidence.17")
def test_what_is_learnt_of_a_payment_while_it_is_assigned_binds_who_may_claim_it_afterwards(opened: Opened) -> None:
    """Found: whom a customer drew from claimed what he paid for an order of his own, as its name came too late."""
    shop, (liar, *_) = opened(1)
    larger = {"currency": "USDC", "amount": 2, "decimals": 0}
    (victims, reference), (thiefs, _), (wrong, _) = shop.order(), shop.order(), shop.order(order_price=larger)
    net, thief = shop.nets[BASE], Account.from_key(b"t" * 32)
    vault = net.chain.deploy(compiled("signing_wallet"), thief.address)
    net.fund(vault.address.lower(), "USDC", PRICE)
    draw = data_of(vault, "call", shop.token(BASE), 0, transfer_data(shop.address, PRICE))
    tx_hash = shop.customer(BASE, "victim").send(vault.address, draw + reference)
    liar.lies.append(relabel(tx_hash, b"", 2 + 2 * len(draw)))
    shop.look()
    assert shop.unmatched() == [("no_order", "")]
    (row,) = (each for each in shop.shop.payments() if each.tx_hash == tx_hash)
    liar.lies.clear()
    with shop.shop.resources.database.write() as session:
        assign(session, row.public_id, wrong, shop.shop.clock.now())
    shop.look(SETTLED)
    shop.finalise()
    assert shop.outcome(wrong) == "processing/underpaid"
    with shop.shop.resources.database.write() as session:
        unassign(session, row.public_id, shop.shop.clock.now())
    shop.look(SETTLED)
    assert not may_claim(shop, thiefs, tx_hash, vault.address)
    assert shop.unmatched() == [("no_order", victims)]


def deny_calls(method: str, params: list[Any], answer: Any) -> Any:
    """Answer as where there are no contracts."""
    return "0x" if method == "eth_call" else answer


@pytest.mark.parametrize("endpoints", [1, 2])
def test_what_an_endpoint_said_once_of_pools_and_factories_is_asked_again(
    opened: Opened, endpoints: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: one that denied a pool for a moment had every later swap over it count for nobody, or be disputed."""
    monkeypatch.setattr(listed_contracts, "REMEMBERED_S", 0)
    shop, (liar, *_) = opened(endpoints)
    net = shop.nets[BASE]
    net.pair("WETH", 10**21, "USDC", 4_000_000 * PRICE)
    path = [net.tokens[symbol].address for symbol in ("WETH", "USDC")]
    swap = data_of(net.v2_router, "swapETHForExactTokens", PRICE, path, shop.address, 2**255)
    order_ids = []
    for lies in ([deny_calls], []):
        liar.lies[:] = lies
        order_id, reference = shop.order()
        shop.customer(BASE).send(net.v2_router.address, swap + reference, value=10**16)
        shop.look(SETTLED)
        order_ids.append(order_id)
    shop.pass_time(SETTLED_S)
    shop.look(SETTLED)
    assert shop.outcome(order_ids[1]) == "success/"
    if endpoints == 2:  # a single one is believed, and its merchant finds the payment on the unmatched list
        assert shop.outcome(order_ids[0]) == "success/"


def test_an_honest_payment_counts_as_fast_as_ever(opened: Opened) -> None:
    for endpoints in (1, 2):
        shop, _ = opened(endpoints)
        order_id, reference = shop.order()
        pay(shop, reference)
        shop.look()
        assert shop.outcome(order_id) == "success/"
        (row,) = (row for row in shop.shop.payments() if row.order_id == order_id)
        assert (row.has_receipt_proof, row.has_second_opinion) == (True, endpoints == 2)


def test_a_second_endpoint_that_lags_is_waited_for(opened: Opened) -> None:
    shop, (_, second) = opened(2)
    order_id, reference = shop.order()
    second.lag = 6
    pay(shop, reference)
    shop.look(2)
    assert shop.outcome(order_id) == "processing/"  # its receipts prove it, but not that the chain has its block
    second.lag = 0
    shop.look(SETTLED)
    assert shop.outcome(order_id) == "success/"


def test_a_second_endpoint_that_hangs_holds_nothing_up_for_long(opened: Opened) -> None:
    shop, (_, second) = opened(2)
    order_id, reference = shop.order()
    second.hangs = True
    pay(shop, reference)
    shop.look(3)
    assert shop.outcome(order_id) == "success/"
    (row,) = shop.shop.payments()
    assert (row.has_receipt_proof, row.has_second_opinion) == (True, False)


def test_endpoints_that_disagree_for_ever_credit_nothing(opened: Opened) -> None:
    """The first has the payment, the second denies it, and neither can prove its block."""
    shop, (first, second) = opened(2)
    order_id, reference = shop.order()
    tx_hash = pay(shop, reference)

    def deny(method: str, params: list[object], answer: object) -> object:
        if method.startswith("eth_getBlockBy") and isinstance(answer, dict) and params[1]:
            return {**answer, "transactions": [each for each in answer["transactions"] if each["hash"] != tx_hash]}
        return answer

    def forget(method: str, params: list[object], answer: object) -> object:
        return (
            {**answer, "stateRoot": "0x" + "0e" * 32} if isinstance(answer, dict) and "stateRoot" in answer else answer
        )

    first.lies.append(forget)
    second.lies.append(deny)
    shop.look(SETTLED)
    shop.finalise()
    assert not shop.outcome(order_id).startswith("success")

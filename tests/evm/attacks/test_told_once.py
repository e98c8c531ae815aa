"""One of three endpoints tells something else once, and is honest ever after: what is so counts in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from api.domain.payments import COUNTED, PaymentState
from api.services.settlement.watching.rescans import rescan_transaction
from tests.evm.attacks.test_mined_again import send_again
from tests.support.attacks import BASE
from tests.support.databases import DIALECTS, Databases
from tests.support.first_looks import look_first
from tests.support.lying_rpc import Invention, Lie, LyingRpc, lying_rpc
from tests.support.main_net import MainNet
from tests.support.settlement import PRICE, ChainShop, chain_shop, somebody

pytestmark = pytest.mark.in_turns

Change = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Told:
    """A shop whose chain has three endpoints, of which the first one is asked first."""

    shop: ChainShop
    endpoints: tuple[LyingRpc, ...]


@pytest.fixture(params=DIALECTS)
def told(
    nets: Mapping[int, MainNet], tmp_path: Path, request: pytest.FixtureRequest, databases: Databases
) -> Iterator[Told]:
    with ExitStack() as stack:
        endpoints = tuple(stack.enter_context(lying_rpc(nets[BASE].chain.url)) for _ in range(3))
        urls = {BASE: tuple(each.url for each in endpoints)}
        lent = databases.lend(request.param)
        shop = stack.enter_context(chain_shop(nets, tmp_path, request.node.name, lent, endpoints=urls))
        look_first(shop)
        yield Told(shop=shop, endpoints=endpoints)


def changed(tx_hash: str, change: Change) -> Lie:
    """Lie about each event of a transaction, wherever it is told of."""

    def lie(method: str, _: list[Any], answer: Any) -> Any:
        receipts = {"eth_getBlockReceipts": answer, "eth_getTransactionReceipt": [answer]}.get(method) or []
        logs = answer if method == "eth_getLogs" else [log for each in receipts if each for log in each["logs"]]
        for each in logs or []:
            if each["transactionHash"] == tx_hash:
                change(each)
        return answer

    return lie


def tell_amount(amount: int) -> Change:
    return lambda log: log.update(data=f"0x{amount:064x}")


def tell_token(address: str) -> Change:
    return lambda log: log.update(address=address)


LIES = {
    "less": tell_amount(PRICE - 1),
    "more": tell_amount(3 * PRICE),
    "another token": tell_token("0xfde4c96c8593536e31f229ea8f37b2ada2699bb2"),
}


@pytest.mark.parametrize("name", LIES)
def test_a_payment_of_which_a_lie_was_told_once_counts_as_what_it_is(told: Told, name: str) -> None:
    """It was disputed for ever: in no order, on no list, and a rescan changed nothing."""
    shop = told.shop
    order_id, reference = shop.order()
    tx_hash = shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    told.endpoints[0].lies.append(changed(tx_hash, LIES[name]))
    shop.look(1)
    told.endpoints[0].lies.clear()
    (wrong,) = shop.shop.payments()
    assert (wrong.token_address, wrong.amount) != (shop.token(BASE), PRICE)
    shop.look(4)
    assert shop.outcome(order_id) == "success/"
    (right,) = shop.shop.payments()
    assert (right.token_address, right.amount) == (shop.token(BASE), PRICE)
    assert right.public_id != wrong.public_id
    shop.finalise()
    assert right.state in COUNTED
    assert not shop.unmatched()


def test_a_payment_that_was_made_up_once_is_gone(told: Told) -> None:
    shop = told.shop
    order_id, reference = shop.order()
    named, topic = bytes.fromhex(shop.address[2:]), "0x" + "00" * 12 + shop.address[2:]
    tx_hash = shop.customer(BASE).pay(shop.token(BASE), somebody("a friend"), PRICE, bytes(12) + named + reference)
    told.endpoints[0].lies.append(changed(tx_hash, lambda log: log["topics"].__setitem__(2, topic)))
    shop.look(1)
    assert [row.state for row in shop.shop.payments()] == [PaymentState.SEEN]
    told.endpoints[0].lies.clear()
    shop.look(4)
    assert {row.state for row in shop.shop.payments()} == {PaymentState.REORGED}
    assert shop.outcome(order_id).startswith("created/")


def test_what_is_contradicted_is_listed_and_a_rescan_heals_it(told: Told) -> None:
    """While a second one lies there is no majority; the operator sees it, and may read the block again.

    What the calldata does not say all of is proven by no receipts alone.
    """
    shop = told.shop
    order_id, reference = shop.order()
    tx_hash = shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, bytes(16) + reference)
    for number, endpoint in enumerate(told.endpoints[:2], 1):
        endpoint.lies.append(changed(tx_hash, tell_amount(PRICE * 10 + number)))
    shop.look(2)
    assert shop.unmatched() == [("disputed", order_id)]
    for endpoint in told.endpoints:
        endpoint.lies.clear()
    rescanned = rescan_transaction(shop.shop.resources, shop.env_mode, BASE, tx_hash)
    assert rescanned.found == (tx_hash,)
    shop.pass_time(70)
    shop.look(3)
    assert shop.outcome(order_id) == "success/"
    assert not shop.unmatched()


def test_what_one_of_three_says_of_a_proven_payment_changes_nothing(told: Told) -> None:
    shop = told.shop
    order_id, reference = shop.order()
    tx_hash = shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look(3)
    before = [(row.public_id, row.amount) for row in shop.shop.payments()]
    told.endpoints[0].lies.append(changed(tx_hash, tell_amount(1)))
    rescan_transaction(shop.shop.resources, shop.env_mode, BASE, tx_hash)
    shop.look(3)
    assert [(row.public_id, row.amount) for row in shop.shop.payments()] == before
    assert shop.outcome(order_id) == "success/"


@pytest.mark.parametrize("amount", [PRICE, PRICE - 1])
@pytest.mark.parametrize("is_proven", [True, False])
def test_a_payment_that_is_said_to_lie_in_another_block_is_where_it_is(
    told: Told, is_proven: bool, amount: int
) -> None:
    """One of three put it into a later block, once. Nobody found it there, and where it is was never read again."""
    shop = told.shop
    order_id, reference = shop.order()
    payer = shop.customer(BASE)
    tx_hash = payer.pay(shop.token(BASE), shop.address, PRICE, reference)
    mined = shop.nets[BASE].chain.number
    shop.look(3 if is_proven else 1)
    assert shop.outcome(order_id) == ("success/" if is_proven else "processing/")
    shop.pass_time(15)
    shop.look(is_proven)  # what was in doubt is settled
    shop.pass_time(2)
    number = shop.nets[BASE].chain.number
    lie = Invention(number, shop.token(BASE), payer.address, shop.address, amount, reference, tx_hash=tx_hash)
    told.endpoints[0].lies.append(lie)
    shop.look(2)  # the first one fails: of the block's hash it has not heard yet
    told.endpoints[0].lies.clear()
    for _ in range(4):
        shop.pass_time(15)
        shop.look(2)
    assert shop.outcome(order_id) == "success/"
    assert "success/reorged" not in shop.shop.history(order_id)
    (row,) = shop.shop.payments()
    assert (row.amount, row.block_number) == (PRICE, mined)
    assert not shop.unmatched()


def test_a_payment_that_was_put_into_another_block_at_first_is_looked_for_where_it_is(told: Told) -> None:
    """The endpoint keeps it back where it is, and the block's filter is empty: nothing there is in doubt."""
    shop = told.shop
    order_id, reference = shop.order()
    payer, number = shop.customer(BASE), shop.nets[BASE].chain.number
    tx_hash = payer.pay(shop.token(BASE), shop.address, PRICE, reference)
    mined = shop.nets[BASE].chain.number

    def keep_back(method: str, _: list[Any], answer: Any) -> Any:
        if method == "eth_getLogs":
            return [each for each in answer if each["blockNumber"] != hex(mined)]
        if method == "eth_getBlockByNumber" and answer and answer["number"] == hex(mined):
            return {**answer, "transactions": [], "logsBloom": "0x" + "00" * 256}
        return answer

    lie = Invention(number, shop.token(BASE), payer.address, shop.address, PRICE, reference, tx_hash=tx_hash)
    told.endpoints[0].lies += [keep_back, lie]
    shop.look(2)
    assert [row.block_number for row in shop.shop.payments()] == [number]
    told.endpoints[0].lies.clear()
    for _ in range(4):
        shop.pass_time(15)
        shop.look(2)
    assert shop.outcome(order_id) == "success/"
    assert [(row.amount, row.block_number) for row in shop.shop.payments()] == [(PRICE, mined)]


@pytest.mark.parametrize("lags", [False, True])
def test_a_payment_that_its_chain_has_mined_again_is_followed_at_once(told: Told, lags: bool) -> None:
    """Its former block is there no more, so one word is enough: the others may be away."""
    shop, chain = told.shop, told.shop.nets[BASE].chain
    order_id, reference = shop.order()
    customer = shop.customer(BASE)
    shop.pass_time(2, 8)
    tx_hash = customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look(3)
    taken_back = chain.rpc("eth_getTransactionByHash", tx_hash)
    former = chain.rpc("eth_getTransactionReceipt", tx_hash)["blockHash"]
    chain.rpc("anvil_reorg", 6, [])
    shop.pass_time(2)
    send_again(shop, taken_back, is_first=True)
    for each in told.endpoints[1:]:
        each.refuses = lags
    shop.look(2)
    (row,) = shop.shop.payments()
    assert row.block_hash == chain.rpc("eth_getTransactionReceipt", tx_hash)["blockHash"] != former
    for each in told.endpoints[1:]:
        each.refuses = False
    shop.pass_time(15)
    shop.look(4)
    assert shop.outcome(order_id) == "success/"

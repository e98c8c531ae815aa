"""One transaction tells of thousands of transfers to a merchant: nobody waits for what is written about them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from api.domain.payments import PaymentState
from api.services.settlement.watching.portions import MOST_PORTIONS, MOST_TAKEN
from api.services.settlement.watching.rescans import rescan_transaction
from api.storage.db import Database
from tests.support.attacks import BASE
from tests.support.databases import DIALECTS, Databases
from tests.support.evidence import data_of
from tests.support.lying_rpc import lying_rpc
from tests.support.main_net import MainNet
from tests.support.settlement import PRICE, ChainShop, chain_shop, open_another
from tests.support.vyper_source import compile_source

FLOOD = """
# pragma version ~=0.4.0
interface Token:
    def transfer(recipient: address, amount: uint256) -> bool: nonpayable

event Transfer:
    sender: indexed(address)
    recipient: indexed(address)
    amount: uint256

@external
def tell(recipient: address, count: uint256):
    for number: uint256 in range(count, bound=100000):
        log Transfer(sender=msg.sender, recipient=recipient, amount=1)

@external
def move(token: address, recipient: address, count: uint256):
    for number: uint256 in range(count, bound=100000):
        extcall Token(token).transfer(recipient, 1)
"""
ALL_OF_A_BLOCK = hex(29 * 10**6)
MOST_STATEMENTS = 6 * MOST_TAKEN
"""Of one transaction; a transfer that is taken in, checked or told of takes a few."""


@contextmanager
def counted_transactions(database: Database) -> Iterator[list[int]]:
    """Give the numbers of statements of the transactions that are committed meanwhile."""
    open_ones, committed = Counter[int](), list[int]()
    engine = database._writer

    def begin(*_: Any) -> None:
        open_ones[threading.get_ident()] = 0

    def count(*_: Any) -> None:
        open_ones[threading.get_ident()] += 1

    def end(*_: Any) -> None:
        committed.append(open_ones[threading.get_ident()])

    listeners = {"begin": begin, "before_cursor_execute": count, "commit": end}
    for name, listener in listeners.items():
        event.listen(engine, name, listener)
    try:
        yield committed
    finally:
        for name, listener in listeners.items():
            event.remove(engine, name, listener)


def count_a_look(shop: ChainShop) -> list[int]:
    """Return how many statements the transactions of one look have."""
    with counted_transactions(shop.shop.resources.database) as committed:
        shop.look(1)
    return committed


def test_what_a_worthless_token_tells_takes_nothing_of_a_transaction(shop: ChainShop) -> None:
    """Ten thousand events took 42 s of one, while SQLite let nobody else write."""
    chain = shop.nets[BASE].chain
    stranger, token = shop.customer(BASE, "stranger"), chain.deploy(compile_source(FLOOD))
    another = open_another(shop, f"another of {shop.address}")
    shop.look()
    statements = {}
    for count in (1, 10_000):
        order_id, reference = another.order()
        stranger.send(token.address, data_of(token, "tell", shop.address, count), gas=ALL_OF_A_BLOCK)
        another.customer(BASE, "customer").pay(shop.token(BASE), another.address, PRICE, reference)
        statements[count] = count_a_look(shop)
        shop.look(1)
        assert another.outcome(order_id) == "success/"
    assert max(statements[10_000]) <= max(statements[1]) + 5
    assert {row.token_address for row in shop.shop.payments()} == {shop.token(BASE)}


def test_thousands_of_single_units_are_taken_in_little_by_little(shop: ChainShop) -> None:
    """Each is worth a millionth of a dollar, and is somebody's money."""
    chain, count = shop.nets[BASE].chain, 2 * MOST_PORTIONS * MOST_TAKEN + 150
    flood = chain.deploy(compile_source(FLOOD))
    stranger = shop.customer(BASE, "stranger")
    shop.nets[BASE].fund(flood.address, "USDC", 10 * count)
    another = open_another(shop, f"another of {shop.address}")
    shop.look()
    order_id, reference = another.order()
    sent = stranger.send(
        flood.address, data_of(flood, "move", shop.token(BASE), shop.address, count), gas=ALL_OF_A_BLOCK, mine=False
    )
    another.customer(BASE, "customer").pay(shop.token(BASE), another.address, PRICE, reference)
    assert chain.rpc("eth_getTransactionReceipt", sent)["status"] == "0x1"
    first = count_a_look(shop)
    assert max(first) <= MOST_STATEMENTS
    assert 0 < sum(row.tx_hash == sent for row in shop.shop.payments()) <= MOST_PORTIONS * MOST_TAKEN
    assert max(count_a_look(shop)) <= MOST_STATEMENTS
    assert another.outcome(order_id) == "success/"
    for _ in range(3):
        assert max(count_a_look(shop)) <= MOST_STATEMENTS
    assert sum(row.tx_hash == sent for row in shop.shop.payments()) == count
    shop.finalise()
    for _ in range(count // (MOST_PORTIONS * MOST_TAKEN) + 2):
        assert max(count_a_look(shop), default=0) <= MOST_STATEMENTS
    assert {row.state for row in shop.shop.payments()} == {PaymentState.FINAL}


@pytest.mark.parametrize("endpoints", [1, 2])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_more_events_than_a_provider_gives_at_once_hold_no_chain_up(
    nets: Mapping[int, MainNet], tmp_path: Path, databases: Databases, dialect: str, endpoints: int
) -> None:
    """Ten thousand events of a worthless token cost 18 million of gas, and providers refuse to tell of so many."""
    with ExitStack() as stack:
        rpcs = [stack.enter_context(lying_rpc(nets[BASE].chain.url)) for _ in range(endpoints)]
        urls = {BASE: tuple(each.url for each in rpcs)}
        name = f"flooded {dialect} {endpoints}"
        shop = stack.enter_context(chain_shop(nets, tmp_path, name, databases.lend(dialect), endpoints=urls))
        for each in rpcs:
            each.most_logs = 100
        chain, stranger = shop.nets[BASE].chain, shop.customer(BASE, "stranger")
        token = chain.deploy(compile_source(FLOOD))
        shop.look()
        (first, one), (second, two) = shop.order(), shop.order()
        payer = shop.customer(BASE, "customer")
        stranger.send(token.address, data_of(token, "tell", shop.address, 101), gas=ALL_OF_A_BLOCK, mine=False)
        payer.pay(shop.token(BASE), shop.address, PRICE, one)
        shop.pass_time(2)
        payer.pay(shop.token(BASE), shop.address, PRICE, two)
        shop.look(3)
        assert shop.outcome(second) == "success/"
        for _ in range(3):
            shop.pass_time(15)
            shop.look()
        assert shop.outcome(first) == "success/"


def test_a_block_of_which_too_much_is_told_is_not_settled_by_a_rescan(
    nets: Mapping[int, MainNet], tmp_path: Path, databases: Databases
) -> None:
    """Its receipts can't be had either: what it holds is not known, whoever has it read once more."""
    with ExitStack() as stack:
        rpc = stack.enter_context(lying_rpc(nets[BASE].chain.url))
        lent = databases.lend("sqlite")
        shop = stack.enter_context(chain_shop(nets, tmp_path, "reported", lent, endpoints={BASE: (rpc.url,)}))
        chain, stranger = shop.nets[BASE].chain, shop.customer(BASE, "stranger")
        token = chain.deploy(compile_source(FLOOD))
        shop.look()
        tx_hash = stranger.send(token.address, data_of(token, "tell", shop.address, 101), gas=ALL_OF_A_BLOCK)
        rpc.most_logs = 100
        rpc.lies.append(lambda method, _, answer: None if method == "eth_getBlockReceipts" else answer)
        rpc.lies.append(lambda method, _, answer: forget_root(answer) if method == "eth_getBlockByNumber" else answer)
        shop.look()
        assert rescan_transaction(shop.shop.resources, shop.env_mode, BASE, tx_hash).doubtful == 1


def forget_root(block: dict[str, Any]) -> dict[str, Any]:
    return {**block, "receiptsRoot": "0x" + "5c" * 32}

"""Events of a range of blocks: portions that adapt, and logs that nobody asked for."""

from __future__ import annotations

from typing import Any

import pytest

from adapters.base import AdapterError, BadPayload, VenueUnavailable
from adapters.rpc.abi import Event, LogFilter
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.logs import LogReader, TooLong
from tests.support.nodes import NOW, Network, Node, at, block_hash

SYNC = Event("Sync(uint112,uint112)")
PAIR, STRANGER = "0x" + "a" * 40, "0x" + "b" * 40


def log(number: int, index: int = 0, address: str = PAIR, topic: str = SYNC.topic, **changes: Any) -> dict[str, Any]:
    return {
        "address": address,
        "topics": [topic],
        "data": "0x" + f"{number:064x}{7:064x}",
        "blockNumber": hex(number),
        "blockHash": block_hash(number),
        "logIndex": hex(index),
        "removed": False,
        **changes,
    }


def reader(*logs: dict[str, Any], **settings: int) -> tuple[LogReader, Node]:
    node = Node()
    node.logs = list(logs)
    for name, value in settings.items():
        setattr(node, name, value)
    network = Network(node=node)
    pool = RpcPool(1, network.urls, client=network, clock=lambda: NOW, sleep=lambda _: None)
    return LogReader(pool), node


def wanted(first: int = 1, last: int = 100, addresses: tuple[str, ...] = (PAIR,)) -> LogFilter:
    return LogFilter(addresses=addresses, topics=((SYNC.topic,),), first_block=first, last_block=last)


def test_logs_come_in_the_order_of_the_chain():
    found = reader(log(9, 3), log(2, 8), log(9, 1))[0].read(wanted(), at(100))
    assert [(each.block_number, each.index) for each in found] == [(2, 8), (9, 1), (9, 3)]
    assert SYNC.decode(found[0]) == ((), (2, 7))


def test_ranges_shrink_to_what_the_endpoint_bears_and_stay_there():
    logs = [log(number) for number in range(1, 101)]
    found, node = reader(*logs, widest=9)
    assert [each.block_number for each in found.read(wanted(), at(100))] == list(range(1, 101))
    node.asked.clear()
    found.read(wanted(), at(100))
    assert node.asked.count("eth_getLogs") <= 30


def test_many_addresses_are_asked_for_in_portions():
    addresses = tuple(f"0x{number:040x}" for number in range(2500))
    found, node = reader()
    assert found.read(wanted(addresses=addresses), at(100)) == ()
    assert node.asked.count("eth_getLogs") == 3


def test_a_block_that_nobody_gives_is_told():
    found, node = reader(widest=0)
    with pytest.raises(VenueUnavailable, match="logs of block 1"):
        found.read(wanted(), at(100))
    assert node.asked.count("eth_getLogs") <= 9


STRANGE = {
    "of another contract": log(5, address=STRANGER),
    "of another event": log(5, topic="0x" + "1" * 64),
    "of a later block": log(5, blockNumber=hex(101)),
    "without topics": log(5, topics=[]),
    "with too many topics": log(5, topics=[SYNC.topic] * 5),
    "taken back": log(5, removed=True),
    "without a hash": log(5, blockHash=None),
    "with an odd number of digits": log(5, data="0x123"),
    "with a number that is too large": log(5, logIndex="0x" + "f" * 20),
    "that is no log": "0x",
    "that is null": None,
}


@pytest.mark.parametrize("strange", STRANGE.values(), ids=STRANGE)
def test_a_log_that_cannot_be_is_refused(strange):
    found, node = reader(log(4))
    node._logs = lambda _: [log(4), strange]
    with pytest.raises(VenueUnavailable):
        found.read(wanted(), at(100))


def test_a_log_that_comes_twice_is_refused():
    with pytest.raises(BadPayload, match="twice"):
        reader(log(4), log(4))[0].read(wanted(), at(100))


def test_logs_of_two_forks_are_refused():
    with pytest.raises(VenueUnavailable, match="another fork"):
        reader(log(4), log(4, 1, blockHash=block_hash(4, "b")))[0].read(wanted(), at(100))
    with pytest.raises(VenueUnavailable, match="another fork"):
        reader(log(100, blockHash=block_hash(100, "b")))[0].read(wanted(), at(100))


@pytest.mark.parametrize("answer", [None, {}, "0x", 7])
def test_what_is_no_list_is_refused(answer):
    found, node = reader()
    node._logs = lambda _: answer
    with pytest.raises(AdapterError):
        found.read(wanted(), at(100))


def test_a_log_with_impossible_numbers_does_not_decode():
    (found,) = reader(log(4, data="0x" + "f" * 128))[0].read(wanted(), at(100))
    with pytest.raises(BadPayload, match="does not fit uint112"):
        SYNC.decode(found)


def test_a_range_that_would_take_hours_is_refused_at_once():
    found, node = reader(widest=3)
    node.head = 10_000_000
    with pytest.raises(TooLong, match="use an endpoint that allows wider ones"):
        found.read(wanted(0, 10_000_000), at(10_000_000))
    assert node.asked.count("eth_getLogs") < 20
    assert found.read(wanted(9_999_500, 10_000_000), at(10_000_000)) == ()

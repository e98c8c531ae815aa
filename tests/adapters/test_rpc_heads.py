"""Which of several heads is believed, and how seldom all endpoints are asked for theirs."""

from __future__ import annotations

import itertools
import threading

import pytest

from adapters.base import VenueUnavailable
from adapters.rpc.heads import COMPARE_S
from tests.support.nodes import Network, Node, at, pool_of


@pytest.mark.parametrize(
    ("heads", "chosen"),
    [
        ((50, 100), 100),
        ((100, 99, 40), 100),
        ((40, 100, 101), 100),
        ((10**9, 100, 99), 100),
        ((100,), 100),
        ((95, 100, 101), 95),
    ],
)
def test_who_is_far_from_the_median_is_left_out(heads, chosen):
    network = Network(**{f"node{number}": Node(head=head) for number, head in enumerate(heads)})
    pool = pool_of(network)
    assert pool.read_head().number == chosen
    left_out = [health.head for health in pool.list_health() if not health.in_step]
    assert left_out == [head for head in heads if abs(head - 100) > 16]
    pool.ask([("eth_chainId", [])], list)
    for head, node in zip(heads, network.nodes.values(), strict=True):
        assert "eth_chainId" in node.asked[:1]
        assert node.asked.count("eth_chainId") == 1 + (head == chosen)


def test_health_says_who_answered_the_last_comparison():
    network = Network(away=Node(), good=Node(), old=Node(head=40), other=Node())
    times = itertools.count(step=COMPARE_S)
    pool = pool_of(network, stopwatch=lambda: next(times))
    assert all(each.answers for each in pool.list_health())
    network.nodes["away"].fault = VenueUnavailable("no answer in time")
    pool.read_head()
    assert [(each.answers, each.in_step) for each in pool.list_health()] == [
        (False, True), (True, True), (True, False), (True, True),
    ]  # fmt: skip
    network.nodes["away"].fault = None
    for _ in range(4):  # its breaker lets it be asked again
        pool.read_head()
    assert pool.list_health()[0].fault == "no answer in time"


@pytest.mark.parametrize(("shift", "message"), [(-1000, "1000 s old"), (3600, "3600 s in the future")])
def test_a_head_of_another_time_is_no_head(shift, message):
    network = Network(odd=Node(head=10_000), good=Node())
    network.nodes["odd"].timestamp += shift
    pool = pool_of(network)
    assert pool.read_head().number == 100
    with pytest.raises(VenueUnavailable, match=message):
        pool_of(Network(odd=network.nodes["odd"])).read_head()


def test_only_endpoints_on_the_same_fork_are_asked():
    network = Network(first=Node(), other_fork=Node(fork="b"), behind=Node(head=98), same=Node())
    pool = pool_of(network)
    head = pool.read_head()
    network.nodes["first"].fault = VenueUnavailable("no answer in time")
    network.nodes["same"].contracts["0xc0"] = lambda _: b"\1"
    assert pool.ask([("eth_call", [{"to": "0xc0", "data": "0x"}, hex(100)])], list, head) == ["0x01"]
    for name in ("other_fork", "behind"):
        assert "eth_call" not in network.nodes[name].asked


def test_blocks_with_impossible_numbers_are_refused():
    for number in ("0x" + "f" * 17, "0x", "7", "-0x1", "0xg", None, 7):
        network = Network(node=Node())
        network.nodes["node"]._block = lambda _, number=number: {"number": number, "hash": "0x0", "timestamp": "0x1"}
        with pytest.raises(VenueUnavailable, match="number must be a hex quantity"):
            pool_of(network).read_head()


def head_questions(node: Node) -> int:
    return node.asked.count("eth_getBlockByNumber")


def test_only_the_endpoint_in_use_is_asked_between_comparisons():
    network = Network(used=Node(), other=Node())
    now = [0.0]
    pool = pool_of(network, stopwatch=lambda: now[0])
    for _ in range(10):
        pool.read_head()
    assert [head_questions(node) for node in network.nodes.values()] == [10, 1]
    now[0] = COMPARE_S
    pool.read_head()
    assert [head_questions(node) for node in network.nodes.values()] == [11, 2]
    assert pool.requests == 15


@pytest.mark.parametrize("trouble", ["fails", "goes back"])
def test_all_are_asked_at_once_when_the_one_in_use_is_in_trouble(trouble: str):
    network = Network(used=Node(), other=Node(head=101))
    pool = pool_of(network)
    assert pool.read_head().number == 100
    if trouble == "fails":
        network.nodes["used"].fault = VenueUnavailable("no answer in time")
    else:
        network.nodes["used"].head = 40
    assert pool.read_head().number == 101
    assert pool.ask([("eth_chainId", [])], list) == ["0x1"]
    assert pool.list_health()[0].in_step is (trouble == "fails")


def test_one_that_lags_is_left_at_the_next_comparison():
    network = Network(used=Node(), other=Node())
    now = [0.0]
    pool = pool_of(network, stopwatch=lambda: now[0])
    pool.read_head()
    network.nodes["other"].head = 200
    assert pool.read_head().number == 100
    now[0] = COMPARE_S
    assert pool.read_head().number == 200


def test_one_that_hangs_is_not_waited_for():
    network = Network(used=Node(), other=Node(head=101))
    pool = pool_of(network)
    pool.read_head()
    released, node = threading.Event(), network.nodes["used"]
    answer = node.answer

    def hang(body: object) -> object:
        released.wait(60)
        return answer(body)

    node.answer = hang
    try:
        assert pool.read_head().number == 101
        assert pool.read_head().number == 101
        assert pool.ask([("eth_chainId", [])], list) == ["0x1"]
        assert "eth_chainId" in network.nodes["other"].asked
    finally:
        released.set()
        pool.close()


def test_a_block_is_told_in_the_same_request():
    network = Network(node=Node())
    pool = pool_of(network)
    pool.read_head()
    before = pool.requests
    head = pool.read_head(beside=97)
    assert head.beside is not None
    assert (head.beside.number, head.beside.hash) == (97, at(97).hash)
    assert pool.read_head(beside=500).beside is None
    assert pool.requests == before + 2

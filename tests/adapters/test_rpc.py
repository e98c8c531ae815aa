"""Answers of endpoints that fail, refuse and cut off: who is asked next, and what each fault is taken for."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import pytest

from adapters.base import BadPayload, Declined, TooLarge, VenueUnavailable
from adapters.http.circuit_breaker import BreakerState
from adapters.rpc.endpoint import LacksBlock, RpcRefused, TooMuch
from adapters.rpc.heads import COMPARE_S
from tests.support.nodes import Network, Node, NodeError, at, pool_of

FAULTS = {
    "does not answer": VenueUnavailable("no answer in time"),
    "is overloaded": VenueUnavailable("answered with status 429", retry_after_s=60),
    "sends 200 MB, or text cut off": BadPayload("the answer is longer than 33554432 bytes"),
    "wants a key": Declined("declined with status 401", status=401),
}
GARBAGE = (None, [], "", 7, True, {}, {"id": 0}, {"result": {}}, [{"id": [1], "result": "0x1"}], {"error": None})


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_another_endpoint_stands_in_for_one_that_fails(fault):
    network = Network(bad=Node(), good=Node())
    network.nodes["bad"].fault = fault
    pool = pool_of(network)
    assert pool.read_head().number == 100
    assert pool.ask([("eth_chainId", [])], list) == ["0x1"]
    bad, good = pool.list_health()
    assert bad.fault == str(fault)
    assert (good.fault, good.head, good.state) == ("", 100, BreakerState.CLOSED)


@pytest.mark.parametrize("method", ["debug_traceTransaction", "eth_getLogs", "eth_getBlockReceipts"])
def test_an_answer_that_anybody_can_make_too_large_does_not_bring_its_endpoint_down(method):
    """As a trace of a crafted transaction is: it is refused, and what follows is asked of the same endpoint."""
    network = Network(only=Node())
    pool = pool_of(network)
    pool.read_head()
    network.nodes["only"].fault = TooLarge("the answer is nested deeper than 200")
    for _ in range(5):
        (answer,) = pool.ask([(method, ["0x"])], list, at(100))
        assert isinstance(answer, TooMuch)
    network.nodes["only"].fault = None
    assert pool.read_head().number == 100
    assert pool.list_health()[0].state == BreakerState.CLOSED


@pytest.mark.parametrize("garbage", GARBAGE, ids=repr)
def test_garbage_is_a_fault_and_nothing_else(garbage):
    network = Network(bad=Node(), good=Node())
    network.nodes["bad"].garbage = garbage
    pool = pool_of(network)
    assert pool.read_head().number == 100
    assert pool.list_health()[0].fault
    alone = Network(bad=network.nodes["bad"])
    with pytest.raises(VenueUnavailable, match="bad"):
        pool_of(alone).read_head()


def test_a_failing_endpoint_is_not_asked_every_time():
    network = Network(bad=Node(), good=Node())
    network.nodes["bad"].fault = VenueUnavailable("no answer in time")
    times = itertools.count(step=COMPARE_S)
    pool = pool_of(network, stopwatch=lambda: next(times))
    for _ in range(20):
        pool.read_head()
        pool.ask([("eth_chainId", [])], list)
    assert len(network.nodes["bad"].asked) == 3


def test_answers_of_a_batch_are_sorted_and_refusals_stand_in_their_places():
    network = Network(node=Node())
    network.nodes["node"].contracts = {"0xa": lambda _: b"\1", "0xb": lambda _: None}
    questions = [("eth_call", [{"to": to, "data": "0x"}, "latest"]) for to in ("0xa", "0xb", "0xa")]
    first, second, third = pool_of(network).ask(questions, list)
    assert first == third == "0x01"
    assert isinstance(second, RpcRefused)
    assert "execution reverted" in str(second)


def test_batches_shrink_to_what_the_endpoint_takes():
    network = Network(node=Node())
    node = network.nodes["node"]
    node.largest_batch = 10
    pool = pool_of(network)
    assert pool.ask([("eth_chainId", [])] * 47, list) == ["0x1"] * 47
    assert node.asked.count("too large a batch") == 3
    node.asked.clear()
    pool.ask([("eth_chainId", [])] * 47, list)
    assert "too large a batch" not in node.asked


def test_batches_are_as_large_as_before_after_a_stranger_made_an_answer_too_large():
    network = Network(node=Node())
    node, pool = network.nodes["node"], pool_of(network)
    pool.read_head()
    node.fault = TooLarge("the answer is larger than 32 MB")
    answers = pool.ask([("eth_getLogs", [{}])] * 8, list)
    assert all(isinstance(each, TooMuch) for each in answers)
    node.fault = None
    before = pool.requests
    assert pool.ask([("eth_chainId", [])] * 47, list) == ["0x1"] * 47
    assert pool.requests == before + 1


@pytest.mark.parametrize(
    "error", [NodeError("header not found"), NodeError("slow down", -32005), NodeError("missing trie node 0xab")]
)
def test_what_only_this_endpoint_lacks_is_asked_of_the_next(error):
    def fail(_: bytes) -> bytes:
        raise error

    network = Network(poor=Node(), good=Node())
    network.nodes["poor"].contracts["0xc"] = fail
    network.nodes["good"].contracts["0xc"] = lambda _: b"\2"
    question = [("eth_call", [{"to": "0xc", "data": "0x"}, hex(100)])]
    assert pool_of(network).ask(question, list) == ["0x02"]


@pytest.mark.parametrize(
    "said",
    [
        "query returned more than 10000 results. Try with this block range [0x1, 0x2].",
        "query exceeds max results 20000, retry with the range 1-2",
        "Log response size exceeded. You can request any block range with a cap of 10K logs in the response.",
    ],
)
def test_a_provider_that_has_more_than_it_tells_at_once_is_not_away(said):
    """Some say so with the number by which they say that they are asked too often."""

    def fail(_: bytes) -> bytes:
        raise NodeError(said, -32005)

    network = Network(node=Node())
    network.nodes["node"].contracts["0xc"] = fail
    pool = pool_of(network)
    for _ in range(5):
        (answer,) = pool.ask([("eth_call", [{"to": "0xc", "data": "0x"}, hex(100)])], list)
        assert isinstance(answer, TooMuch)
    assert pool.list_health()[0].state == BreakerState.CLOSED


def test_a_pruned_block_is_told_apart_from_an_outage():
    def fail(_: bytes) -> bytes:
        raise NodeError("missing trie node 0xab")

    network = Network(node=Node())
    network.nodes["node"].contracts["0xc"] = fail
    pool = pool_of(network)
    with pytest.raises(LacksBlock):
        pool.ask([("eth_call", [{"to": "0xc", "data": "0x"}, hex(1)])], list)
    assert (pool.list_health()[0].state, pool.list_health()[0].fault) == (BreakerState.CLOSED, "")
    with pytest.raises(LacksBlock):
        pool.ask([("eth_chainId", [])], list, at(100, "b"))


def test_all_faults_are_told_when_nobody_answers():
    network = Network(one=Node(), two=Node())
    network.nodes["one"].fault = VenueUnavailable("one: no answer in time")
    network.nodes["two"].garbage = []
    pauses: list[float] = []
    pool = pool_of(network, sleep=pauses.append)
    with pytest.raises(VenueUnavailable, match=r"chain 1: .*one.*two"):
        pool.ask([("eth_chainId", [])], list)
    assert len(pauses) == 2
    assert 0 < pauses[0] < pauses[1] < 2


def test_a_contracts_words_say_nothing_about_the_endpoint():
    def shout(_: bytes) -> bytes:
        raise NodeError("execution reverted: header not found, too many requests", 3)

    network = Network(node=Node())
    network.nodes["node"].contracts["0xc"] = shout
    (answer,) = pool_of(network).ask([("eth_call", [{"to": "0xc", "data": "0x"}, hex(100)])], list)
    assert isinstance(answer, RpcRefused)
    assert answer.number == 3


def test_threads_that_share_a_pool_do_not_take_each_others_questions_away():
    network = Network(one=Node(), two=Node())
    pool = pool_of(network)
    with ThreadPoolExecutor(4) as threads:
        heads = list(threads.map(lambda _: pool.read_head().number, range(400)))
    assert heads == [100] * 400

"""Chains behind endpoints that fail, lie and lag."""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from adapters.base import BadPayload, Declined, TooLarge, VenueUnavailable
from adapters.http.circuit_breaker import BreakerState
from adapters.rpc.endpoint import CHECK_CHAIN_S, LacksBlock, RpcRefused, TooMuch
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.heads import COMPARE_S
from tests.support.nodes import NOW, Network, Node, NodeError, at


def pool_of(network: Network, **options: object) -> RpcPool:
    settings = {"clock": lambda: NOW, "sleep": lambda _: None, **options}
    return RpcPool(1, network.urls, client=network, **settings)


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


def test_an_endpoint_of_another_chain_is_named_and_left_alone():
    network = Network(wrong=Node(chain_id=5), good=Node())
    pool = pool_of(network)
    for _ in range(5):
        pool.read_head()
        pool.ask([("eth_chainId", [])], list, at(100))
    wrong = pool.list_health()[0]
    assert wrong.fault == "wrong: is chain 5, not 1; check the URL"
    assert wrong.state is BreakerState.OPEN
    assert network.nodes["wrong"].asked == ["eth_chainId"]


def test_the_chain_is_asked_for_again_after_a_failure():
    network = Network(node=Node())
    node = network.nodes["node"]

    def come_back_as_another(_: float) -> None:
        node.fault, node.chain_id = None, 5

    pool = pool_of(network, sleep=come_back_as_another)
    pool.read_head()
    node.fault = VenueUnavailable("the connection failed")
    with pytest.raises(VenueUnavailable):
        pool.ask([("eth_getBlockByNumber", ["latest", False])], list)
    assert pool.list_health()[0].fault == "node: is chain 5, not 1; check the URL"
    assert node.asked.count("eth_getBlockByNumber") == 1


def test_an_endpoint_that_is_switched_to_another_chain_is_found_out_and_believed_again_once_it_is_back():
    """It answers all the time, and newer blocks than before: nothing fails."""
    now, network = [0.0], Network(switched=Node(), good=Node())
    pool, switched = pool_of(network, stopwatch=lambda: now[0]), network.nodes["switched"]
    assert pool.read_head().number == 100
    assert pool.answered_by in ("", "switched")
    switched.chain_id, switched.head = 5, 103
    pool.ask([("eth_blockNumber", [])], list)
    now[0] += CHECK_CHAIN_S
    assert pool.read_head().number == 100
    pool.ask([("eth_getBlockByNumber", [hex(100), False])], list)
    assert pool.answered_by == "good"
    health = pool.list_health()[0]
    assert (health.other_chain, health.answers, health.state) == (5, False, BreakerState.OPEN)
    assert health.fault == "switched: is chain 5, not 1; check the URL"
    asked = len(switched.asked)
    now[0] += COMPARE_S
    pool.read_head()
    assert len(switched.asked) == asked, "it is left alone for a while"
    alone = Network(switched=switched)
    with pytest.raises(VenueUnavailable, match="is chain 5, not 1"):
        pool_of(alone).read_head()


def test_the_chain_is_asked_for_seldom():
    now, network = [0.0], Network(node=Node())
    pool, asked = pool_of(network, stopwatch=lambda: now[0]), network.nodes["node"].asked
    for _ in range(10 * int(CHECK_CHAIN_S)):
        pool.ask([("eth_getBlockByNumber", [hex(100), False])], list)
        now[0] += 1.0
    assert asked.count("eth_chainId") == 10


def test_a_failing_endpoint_is_not_asked_every_time():
    network = Network(bad=Node(), good=Node())
    network.nodes["bad"].fault = VenueUnavailable("no answer in time")
    times = itertools.count(step=COMPARE_S)
    pool = pool_of(network, stopwatch=lambda: next(times))
    for _ in range(20):
        pool.read_head()
        pool.ask([("eth_chainId", [])], list)
    assert len(network.nodes["bad"].asked) == 3


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


def test_blocks_with_impossible_numbers_are_refused():
    for number in ("0x" + "f" * 17, "0x", "7", "-0x1", "0xg", None, 7):
        network = Network(node=Node())
        network.nodes["node"]._block = lambda _, number=number: {"number": number, "hash": "0x0", "timestamp": "0x1"}
        with pytest.raises(VenueUnavailable, match="number must be a hex quantity"):
            pool_of(network).read_head()


def test_a_contracts_words_say_nothing_about_the_endpoint():
    def shout(_: bytes) -> bytes:
        raise NodeError("execution reverted: header not found, too many requests", 3)

    network = Network(node=Node())
    network.nodes["node"].contracts["0xc"] = shout
    (answer,) = pool_of(network).ask([("eth_call", [{"to": "0xc", "data": "0x"}, hex(100)])], list)
    assert isinstance(answer, RpcRefused)
    assert answer.number == 3


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


def test_threads_that_share_a_pool_do_not_take_each_others_questions_away():
    network = Network(one=Node(), two=Node())
    pool = pool_of(network)
    with ThreadPoolExecutor(4) as threads:
        heads = list(threads.map(lambda _: pool.read_head().number, range(400)))
    assert heads == [100] * 400

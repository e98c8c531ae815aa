"""An endpoint that turns out to be of another chain is named, left alone, and believed again once it is back."""

from __future__ import annotations

import pytest

from adapters.base import VenueUnavailable
from adapters.http.circuit_breaker import BreakerState
from adapters.rpc.endpoint import CHECK_CHAIN_S
from adapters.rpc.heads import COMPARE_S
from tests.support.nodes import Network, Node, at, pool_of


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

"""One endpoint asked by itself: its own word, within a moment."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from adapters.base import VenueUnavailable
from adapters.rpc.endpoint import Endpoint, Question
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.single_endpoint import SingleEndpoint
from tests.support.nodes import Network, Node

HEAD: list[Question] = [("eth_getBlockByNumber", ["latest", False])]


class HangingNetwork(Network):
    """Answers nothing until it is released."""

    def __init__(self, **nodes: Node) -> None:
        super().__init__(**nodes)
        self.released = threading.Event()

    def post(self, url: str, body: object) -> Any:
        assert self.released.wait(20)
        return super().post(url, body)


@pytest.fixture
def hanging() -> Iterator[tuple[HangingNetwork, SingleEndpoint]]:
    network = HangingNetwork(only=Node(1, head=7))
    single = SingleEndpoint(1, Endpoint(1, network.urls[0], network), patience_s=0.02)
    yield network, single
    network.released.set()
    single.close()


def number(answers: list[Any]) -> int:
    return int(answers[0]["number"], 16)


def test_each_endpoint_gives_its_own_answer() -> None:
    network = Network(first=Node(1, head=7), second=Node(1, head=9))
    pool = RpcPool(1, network.urls, client=network)
    assert [single.ask(HEAD, number) for single in pool.list_singles()] == [7, 9]
    assert [single.host for single in pool.list_singles()] == list(network.nodes)
    assert pool.ask(HEAD, number) == 7
    assert pool.answered_by == "first"
    pool.close()


def test_one_that_hangs_is_given_up_and_not_asked_again_meanwhile(
    hanging: tuple[HangingNetwork, SingleEndpoint],
) -> None:
    network, single = hanging
    with pytest.raises(VenueUnavailable, match="no answer within"):
        single.ask(HEAD, number)
    with pytest.raises(VenueUnavailable, match="still has not answered"):
        single.ask(HEAD, number)
    assert network.nodes["only"].asked == []
    network.released.set()
    single._pending.result(20)
    patient = SingleEndpoint(1, Endpoint(1, network.urls[0], network))
    assert patient.ask(HEAD, number) == 7
    patient.close()


def test_what_stood_in_is_named() -> None:
    network = Network(first=Node(1), second=Node(1, head=9))
    network.nodes["first"].fault = VenueUnavailable("away")
    pool = RpcPool(1, network.urls, client=network, sleep=lambda seconds: None)
    assert pool.ask(HEAD, number) == 9
    assert pool.answered_by == "second"
    pool.close()

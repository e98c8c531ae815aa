"""Which block is final, as several endpoints say of which one may lie."""

from __future__ import annotations

import pytest

from adapters.base import VenueUnavailable
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.heads import AGREE_S, COMPARE_S
from tests.support.nodes import NOW, Network, Node

DEPTH = 30


def node(*, final: int | None = 60, head: int = 100, fork: str = "a", forked_at: int = 0) -> Node:
    made = Node(head=head, fork=fork)
    made.final, made.forked_at = final, forked_at
    return made


def pool_of(*nodes: Node, now: list[float] | None = None) -> RpcPool:
    network, moment = Network(**{f"node{number}": each for number, each in enumerate(nodes)}), now or [0.0]
    settings = {"clock": lambda: NOW, "sleep": lambda _: None, "stopwatch": lambda: moment[0]}
    return RpcPool(1, network.urls, client=network, finality_blocks=DEPTH, **settings)


@pytest.mark.parametrize(
    ("told", "final"),
    [
        ((60,), 60),
        ((None,), 70),
        ((100, 60), 60),
        ((60, 100), 60),
        ((100, None), 70),
        ((100, 60, 61), 61),
        ((1, 60, 61), 60),
        ((100, 100, 60, 60), 60),
        ((None, None), 70),
    ],
)
def test_no_single_endpoint_says_what_is_final(told: tuple[int | None, ...], final: int):
    pool = pool_of(*(node(final=each) for each in told))
    assert [pool.read_head().final for _ in range(3)] == [final] * 3


def silence(*nodes: Node) -> None:
    for each in nodes:
        each.fault = VenueUnavailable("no answer in time")


def test_one_of_three_that_does_not_answer_counts_as_if_it_had_named_the_depth():
    silence(silent := node(final=60))
    assert pool_of(node(final=100), node(final=60), silent).read_head().final == 70
    assert pool_of(node(final=65), node(final=60), silent).read_head().final == 65


@pytest.mark.parametrize("endpoints", [2, 3, 4])
def test_nothing_becomes_final_while_half_of_them_or_more_are_silent(endpoints: int):
    now, nodes = [0.0], [node() for _ in range(endpoints)]
    first, *others = nodes
    silence(*others[: endpoints // 2])
    assert pool_of(*nodes).read_head().final is (60 if endpoints == 3 else None)
    for each in others:
        each.fault = None
    pool = pool_of(*nodes, now=now)
    assert pool.read_head().final == 60
    silence(*others)
    now[0] += COMPARE_S
    first.head, first.final = 1_100, 1_099
    assert pool.read_head().final == 60
    for each in others:
        each.fault, each.head, each.final = None, first.head, first.final
    now[0] += AGREE_S
    assert pool.read_head().final == first.final


def test_the_one_that_is_left_must_have_the_block_that_was_agreed_on():
    now, nodes = [0.0], (node(), node())
    pool = pool_of(*nodes, now=now)
    assert pool.read_head().final == 60
    silence(nodes[1])
    nodes[0].fork, nodes[0].forked_at = "b", 61
    now[0] += COMPARE_S
    assert pool.read_head().final == 60
    nodes[0].forked_at = 60
    now[0] += COMPARE_S
    with pytest.raises(VenueUnavailable, match=r"node0 tells of block 60 as 0x0*b3c, which was 0x0*a3c"):
        pool.read_head()


def test_a_head_far_ahead_makes_nothing_final_that_the_other_does_not_know_to_be():
    assert pool_of(node(head=10_000, final=9_990), node(final=60)).read_head().final == 60


def test_of_two_that_tell_of_different_blocks_neither_is_believed():
    pool = pool_of(node(fork="b", forked_at=50), node())
    for _ in range(2):
        with pytest.raises(VenueUnavailable, match=r"different blocks 60, .*node0: 0x0*b3c, node1: 0x0*a3c"):
            pool.read_head()


def test_a_fork_above_what_is_final_is_nobodys_lie():
    assert pool_of(node(fork="b", forked_at=61), node()).read_head().final == 60


@pytest.mark.parametrize("place", [0, 1, 2])
def test_of_three_the_one_with_another_block_is_outvoted(place: int):
    nodes = [node(), node(), node()]
    nodes[place] = node(fork="b", forked_at=50, head=101)
    pool = pool_of(*nodes)
    assert pool.read_head().number == 100
    assert [each.in_step for each in pool.list_health()] == [number != place for number in range(3)]
    assert pool.ask([("eth_getBlockByNumber", [hex(60), False])], lambda answers: answers[0]["hash"])[-3:] == "a3c"


def test_the_one_in_use_can_not_change_what_was_agreed_on_before_the_next_comparison():
    used, other = node(), node()
    pool = pool_of(used, other)
    assert pool.read_head().final == 60
    used.final = 90
    assert pool.read_head().final == 60
    used.fork, used.forked_at = "b", 50
    with pytest.raises(VenueUnavailable, match="different blocks 60"):
        pool.read_head()


def test_all_are_asked_when_more_is_final_but_not_each_time():
    used, other, now = node(), node(), [0.0]
    pool = pool_of(used, other, now=now)
    pool.read_head()
    used.final = other.final = 75
    asked = len(other.asked)
    assert pool.read_head().final == 60
    assert len(other.asked) == asked
    now[0] = AGREE_S
    assert pool.read_head().final == 75


def test_a_node_at_its_beginning_has_no_final_block():
    assert pool_of(node(head=3, final=None), node(head=3, final=None)).read_head().final == 3 - DEPTH

"""Traces that somebody crafted: read to an end, with work that grows as they do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from adapters.rpc.abi import Log
from api.domain.transfers import FIRST_INNER_TRANSFER, Naming
from api.services.ledger.evidence.call_paths import MOST_NAMINGS
from api.services.ledger.evidence.movements import list_coin_movements
from api.services.ledger.evidence.traces import MOST_FRAMES, UnbelievableTrace, read_trace
from tests.support.traces import (
    AUTHORIZED,
    PAYER,
    REFERENCE,
    SHOP,
    TOKEN,
    TOOL,
    call,
    evidence_of,
    log_of,
    person,
    receipt,
    sent,
    told,
)

WORK = 60
"""Python calls for each call of a trace, at most."""


def work_of(act: Callable[[], object]) -> int:
    """Return how many Python functions are called meanwhile."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return count


def nest(depth: int) -> tuple[dict[str, Any], tuple[Log, ...]]:
    """Return calls within calls, each of which moves something of somebody else to the shop."""
    logs = tuple(log_of(number, person(number), SHOP) for number in range(depth))
    frame = None
    for number in reversed(range(depth)):
        inner = [] if frame is None else [frame]
        frame = call(person(number), person(number + 1), REFERENCE, logs=[told(logs[number])], calls=inner)
    assert frame is not None
    return frame, logs


def row(length: int) -> tuple[dict[str, Any], tuple[Log, ...]]:
    """Return one call that makes many."""
    logs = tuple(log_of(number, person(number), SHOP) for number in range(length))
    calls = [call(TOOL, TOKEN, REFERENCE, logs=[told(log)]) for log in logs]
    return call(PAYER, TOOL, REFERENCE, calls=calls), logs


def comb(length: int) -> tuple[dict[str, Any], tuple[Log, ...]]:
    """Return calls a thousand deep, each with ten more beside it."""
    depth = length // 10
    logs = tuple(log_of(number, person(number), SHOP) for number in range(depth * 9))
    frame = call(TOOL, TOOL, REFERENCE)
    for number in reversed(range(depth)):
        mine = logs[number * 9 : number * 9 + 9]
        frame = call(TOOL, TOOL, REFERENCE, calls=[*(call(TOOL, TOKEN, logs=[told(log)]) for log in mine), frame])
    return frame, logs


def permitted(length: int) -> tuple[dict[str, Any], tuple[Log, ...]]:
    """Return one call that makes many, each with a signature of whose money moves."""
    logs = tuple(log_of(number, PAYER, SHOP) for number in range(length))
    calls = [call(TOOL, TOKEN, AUTHORIZED, logs=[told(log)]) for log in logs]
    return call(TOOL, TOOL, REFERENCE, calls=calls), logs


def read_all(root: dict[str, Any], logs: tuple[Log, ...]) -> list[tuple[Naming, ...]]:
    tree = read_trace(root, sent(root), receipt(*logs))
    found = evidence_of(tree, logs)
    return [found.proof_of(movement).namings for movement in found.movements]


def test_a_trace_as_deep_as_the_evm_allows_is_read() -> None:
    root, logs = nest(1_024)
    namings = read_all(root, logs)
    assert [len(each) for each in namings[:3]] == [1, 2, 3]
    assert len(namings[-1]) == MOST_NAMINGS
    for each in namings:  # each call sends its caller's own, and those around it move what is somebody else's too
        assert [naming.is_own for naming in each] == [True, *[False] * (len(each) - 1)]


@pytest.mark.parametrize("shape", [row, comb, permitted])
def test_the_work_for_a_crafted_trace_grows_as_it_does(shape: Callable[[int], Any]) -> None:
    small, large = (shape(length) for length in (5_000, 10_000))
    few, many = (work_of(lambda each=each: read_all(*each)) for each in (small, large))
    assert many < WORK * 10_000
    assert many < 2.4 * few


def test_a_trace_of_endless_calls_is_given_up() -> None:
    root = call(PAYER, TOOL, calls=[call(TOOL, TOOL)] * MOST_FRAMES)
    with pytest.raises(UnbelievableTrace, match="more than"):
        read_trace(root, sent(root), receipt())


BROKEN: dict[str, Any] = {
    "nothing": None,
    "a list": [],
    "no addresses": {"type": "CALL"},
    "calls are no list": call(PAYER, TOOL) | {"calls": 7},
    "a call is none": call(PAYER, TOOL, calls=["x"]),
    "its value is none": call(PAYER, TOOL, calls=[call(TOOL, SHOP) | {"value": "much"}]),
    "it failed": call(PAYER, TOOL) | {"error": "execution reverted"},
    "another transaction's": call(TOOL, TOOL),
    "its input is no hex": call(PAYER, TOOL, calls=[call(TOOL, SHOP) | {"input": "0xzz"}]),
    "an event too many": call(PAYER, TOOL, logs=[told(log_of(0, PAYER, SHOP))]),
    "an event is none": call(PAYER, TOOL, logs=[7]),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_trace_is_not_believed(name: str) -> None:
    with pytest.raises(UnbelievableTrace):
        read_trace(BROKEN[name], sent(call(PAYER, TOOL)), receipt())


def test_inner_coin_is_numbered_alike_whatever_else_a_node_tells() -> None:
    """Some leave calls of precompiled contracts out, and those that moved nothing mean nothing."""
    paid = [call(TOOL, SHOP, value=5), call(TOOL, SHOP, value=6)]
    noise = [call(TOOL, f"0x{1:040x}", value=9), call(TOOL, TOKEN)]
    for calls in (paid, [noise[0], paid[0], noise[1], paid[1]]):
        root = call(PAYER, TOOL, calls=calls)
        coin = list_coin_movements(read_trace(root, sent(root), receipt()))
        assert [(each.index, each.amount) for each in coin] == [
            (FIRST_INNER_TRANSFER - 1, 5),
            (FIRST_INNER_TRANSFER - 2, 6),
        ]


def test_borrowed_code_moves_no_coin_and_names_nothing() -> None:
    log = log_of(0, PAYER, SHOP)
    borrowed = call(TOKEN, TOOL, b"reference of two", value=5, logs=[told(log)]) | {"type": "DELEGATECALL"}
    root = call(PAYER, TOKEN, b"transfer" + REFERENCE, calls=[borrowed])
    tree = read_trace(root, sent(root), receipt(log))
    found = evidence_of(tree, (log,))
    (movement,) = found.movements
    assert found.proof_of(movement).namings == (Naming(reference=REFERENCE, is_own=True, caller=PAYER),)


def test_a_receipt_with_more_than_the_trace_is_not_its() -> None:
    root = call(PAYER, TOOL)
    with pytest.raises(UnbelievableTrace, match="fewer"):
        read_trace(root, sent(root), receipt(replace(log_of(0, PAYER, SHOP), index=3)))

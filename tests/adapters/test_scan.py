"""Scans: the program on a real EVM against calls one by one, and endpoints that do not run it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.base import BadPayload
from adapters.rpc.abi import Function, Outcome
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.multicall import Multicall
from adapters.rpc.scan_program import Scan, build_program, make_scan, split_result
from adapters.rpc.scan_reader import ScanReader
from tests.support.evm import ACTOR, Evm, Reverted
from tests.support.nodes import NOW, Network, Node, NodeError, at

SEVENTHS = "602036033580600d14601a57806007900715025f5260205ff35b5f5ffd"
"""Answers its last argument if that can be divided by 7, else 0; reverts for 13."""

WORD_AT = Function("f(int16)", "uint256")
WORD_OF = Function("f(bytes32,int16)", "uint256")
BAD = 13


class Machine:
    """An EVM with the contract on it."""

    def __init__(self) -> None:
        self.evm = Evm()
        self.to = self.with_code(bytes.fromhex(SEVENTHS))

    def with_code(self, code: bytes) -> str:
        """Deploy code, and return where it is."""
        header = bytes.fromhex(f"61{len(code):04x}80600a5f395ff3")
        return self.evm.engine.deploy(ACTOR, header + code)

    def run(self, code: bytes) -> bytes:
        """Return what a program returns; on chains it runs in the place of a constructor, which makes no difference."""
        return self.evm.send(self.with_code(code), b"")

    def call(self, data: bytes) -> Outcome:
        try:
            return Outcome(self.evm.send(self.to, data))
        except Reverted:
            return Outcome(b"", reverted=True)


MACHINE = Machine()
RANGES = st.lists(
    st.tuples(st.integers(-400, 400), st.integers(0, 60), st.booleans()).map(
        lambda it: (
            make_scan(WORD_OF, MACHINE.to, bytes(32), numbers=range(it[0], it[0] + it[1]))
            if it[2]
            else make_scan(WORD_AT, MACHINE.to, numbers=range(it[0], it[0] + it[1]))
        )
    ),
    max_size=4,
)


def one_by_one(each: Scan) -> Outcome:
    return each.gather([MACHINE.call(call.data) for call in each.list_calls()])


def reader(node: Node) -> ScanReader:
    network = Network(node=node)
    pool = RpcPool(1, network.urls, client=network, clock=lambda: NOW, sleep=lambda _: None)
    return ScanReader(pool, Multicall(pool))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(RANGES)
def test_the_program_gives_what_calls_give(scans):
    outcomes = split_result(MACHINE.run(build_program(scans)), scans)
    assert outcomes == [one_by_one(each) for each in scans]


def test_negative_numbers_and_failures():
    below, across = (make_scan(WORD_AT, MACHINE.to, numbers=numbers) for numbers in (range(-15, 13), range(10, 20)))
    found, failed = split_result(MACHINE.run(build_program((below, across))), (below, across))
    assert {number for number in below.decode(found) if number > 0} == {7}
    assert failed.reverted
    with pytest.raises(BadPayload, match="failed within"):
        across.decode(failed)


def test_a_contract_that_is_not_there_fails():
    nobody = make_scan(WORD_AT, "0x" + "9" * 40, numbers=range(5))
    assert split_result(MACHINE.run(build_program((nobody,))), (nobody,)) == [Outcome(b"", reverted=True)]


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data())
def test_what_the_program_cannot_have_returned_is_refused_or_in_range(data):
    scans = (make_scan(WORD_AT, MACHINE.to, numbers=range(20)), make_scan(WORD_AT, MACHINE.to, numbers=range(30)))
    answer = bytearray(MACHINE.run(build_program(scans)))
    for _ in range(data.draw(st.integers(1, 3))):
        answer[data.draw(st.integers(0, len(answer) - 1))] = data.draw(st.integers(0, 255))
    try:
        outcomes = split_result(bytes(answer[: data.draw(st.integers(0, len(answer)))]), scans)
    except BadPayload:
        return
    for each, outcome in zip(scans, outcomes, strict=True):
        assert outcome.reverted or all(0 <= number < each.count for number in each.decode(outcome))


def node_with(program_of_node=MACHINE.run, **settings_: int) -> Node:
    node = Node()
    node.program = program_of_node
    node.contracts[MACHINE.to.lower()] = lambda data: None if (found := MACHINE.call(data)).reverted else found.data
    for name, value in settings_.items():
        setattr(node, name, value)
    return node


SCANS = [make_scan(WORD_AT, MACHINE.to, numbers=range(start, start + 700)) for start in (-900, 100, 1000)]
EXPECTED = [one_by_one(each) for each in SCANS]


def test_scans_take_one_request():
    node = node_with()
    assert list(reader(node).read(SCANS, at(100))) == EXPECTED
    assert node.asked.count("eth_call") == 1


def short_of_gas(code: bytes) -> bytes:
    if len(code) > 600 or sum(each.count for each in SCANS) == 0:
        raise NodeError("out of gas")
    return MACHINE.run(code)


def test_scans_shrink_to_what_the_endpoint_bears():
    node = node_with(short_of_gas)
    assert list(reader(node).read(SCANS, at(100))) == EXPECTED
    assert 3 <= node.asked.count("eth_call") <= 6


@pytest.mark.parametrize("answer", [None, b"", b"\0" * 32, b"\1" * 40], ids=["refused", "nothing", "zero", "odd"])
def test_endpoints_that_run_no_programs_are_asked_call_by_call(answer):
    node = node_with(None if answer is None else lambda _: answer)
    scans = reader(node)
    assert list(scans.read(SCANS, at(100))) == EXPECTED
    node.asked.clear()
    assert list(scans.read(SCANS[:1], at(100))) == EXPECTED[:1]
    assert node.asked.count("eth_call") <= 2, "what it cannot do is remembered"


def test_a_scan_that_fails_fails_alone():
    outcomes = reader(node_with()).read([*SCANS, make_scan(WORD_AT, MACHINE.to, numbers=range(BAD, BAD + 1))], at(100))
    assert [outcome.reverted for outcome in outcomes] == [False, False, False, True]

"""Multicall3: its encoding against a second codec, portions that adapt, and contracts that starve others of gas."""

from __future__ import annotations

import pytest
from eth_abi import encode
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.base import AdapterError, BadPayload, VenueUnavailable
from adapters.rpc.abi import Call, Function, Outcome
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.multicall import Multicall, decode_outcomes, encode_calls
from tests.support.nodes import NOW, Network, Node, at, block_hash

REPEATABLE = settings(max_examples=100, deadline=None, derandomize=True)

ECHO = Function("echo(uint256)", "uint256")
GOOD, GONE, GREEDY = ("0x" + digit * 40 for digit in "abc")


def echo(data: bytes) -> bytes:
    return data[4:]


def reader(node: Node) -> tuple[Multicall, Network]:
    network = Network(node=node)
    pool = RpcPool(1, network.urls, client=network, clock=lambda: NOW, sleep=lambda _: None)
    return Multicall(pool), network


def echoing(**settings: int) -> Node:
    node = Node()
    node.contracts[GOOD] = echo
    for name, value in settings.items():
        setattr(node, name, value)
    return node


addresses = st.binary(min_size=20, max_size=20).map(lambda raw: "0x" + raw.hex())
raw_calls = st.lists(st.tuples(addresses, st.binary(max_size=100)), max_size=12)


@REPEATABLE
@given(raw_calls)
def test_calls_are_encoded_as_the_abi_says(raw):
    calls = [Call(to, data, ECHO) for to, data in raw]
    expected = encode(["(address,bool,bytes)[]"], [[(to, True, data) for to, data in raw]])
    assert encode_calls(calls) == expected


@REPEATABLE
@given(st.lists(st.tuples(st.booleans(), st.binary(max_size=100)), max_size=12))
def test_outcomes_are_decoded_as_the_abi_says(raw):
    answer = encode(["(bool,bytes)[]"], [raw])
    assert decode_outcomes(answer, len(raw)) == [Outcome(data, not success) for success, data in raw]
    with pytest.raises(BadPayload):
        decode_outcomes(answer, len(raw) + 1)


@REPEATABLE
@given(st.lists(st.tuples(st.booleans(), st.binary(max_size=70)), min_size=1, max_size=5), st.data())
def test_a_damaged_answer_is_refused_or_stays_within_itself(raw, data):
    answer = bytearray(encode(["(bool,bytes)[]"], [raw]))
    for _ in range(data.draw(st.integers(1, 4))):
        answer[data.draw(st.integers(0, len(answer) - 1))] = data.draw(st.sampled_from((0, 1, 31, 32, 64, 255)))
    cut = bytes(answer[: data.draw(st.integers(0, len(answer)))])
    try:
        found = decode_outcomes(cut, len(raw))
    except BadPayload:
        return
    assert len(found) == len(raw)
    assert all(outcome.data in cut for outcome in found)


def test_thousands_of_calls_take_few_requests():
    multicall, network = reader(echoing())
    calls = [ECHO(GOOD, number) for number in range(6_000)]
    outcomes = multicall.read(calls, at(100))
    assert [call.decode_one(outcome) for call, outcome in zip(calls, outcomes, strict=True)] == list(range(6_000))
    assert network.nodes["node"].asked.count("eth_call") == 4


def test_portions_shrink_to_what_the_endpoint_bears_and_stay_there():
    multicall, network = reader(echoing(most_calls=300))
    calls = [ECHO(GOOD, number) for number in range(1500)]
    first = multicall.read(calls, at(100))
    assert [call.decode_one(outcome) for call, outcome in zip(calls, first, strict=True)] == list(range(1500))
    network.nodes["node"].asked.clear()
    multicall.read(calls, at(100))
    assert 5 <= network.nodes["node"].asked.count("eth_call") <= 9


def test_a_call_that_fails_leaves_the_others_alone():
    node = echoing()
    node.contracts[GONE] = lambda _: None
    multicall, _ = reader(node)
    calls = [ECHO(GOOD, 1), ECHO(GONE, 2), ECHO("0x" + "d" * 40, 3), ECHO(GOOD, 4)]
    outcomes = multicall.read(calls, at(100))
    assert [outcome.reverted for outcome in outcomes] == [False, True, False, False]
    assert [calls[0].decode_one(outcomes[0]), calls[3].decode_one(outcomes[3])] == [1, 4]
    with pytest.raises(BadPayload, match="reverted"):
        calls[1].decode_one(outcomes[1])
    with pytest.raises(BadPayload, match="is there a contract"):
        calls[2].decode_one(outcomes[2])


def test_what_a_greedy_contract_starved_is_asked_alone():
    """All gas of the request is gone after 60 calls; the rest fails without a word, and is fine when asked alone."""
    multicall, network = reader(echoing(gas=60))
    calls = [ECHO(GOOD, number) for number in range(100)]
    outcomes = multicall.read(calls, at(100))
    assert [call.decode_one(outcome) for call, outcome in zip(calls, outcomes, strict=True)] == list(range(100))
    assert network.nodes["node"].asked.count("eth_call") == 1 + 40


def test_an_outage_is_given_up_soon():
    multicall, network = reader(Node())
    node = network.nodes["node"]
    node.fault = VenueUnavailable("no answer in time")
    with pytest.raises(VenueUnavailable):
        multicall.read([ECHO(GOOD, number) for number in range(4096)], at(100))
    assert len(node.asked) <= 9


@pytest.mark.parametrize("answer", ["0x", "0x00", "0xzz", None, 7, [], "0x" + "00" * 64, "0x" + "ff" * 640])
def test_what_is_not_multicalls_answer_is_refused(answer):
    multicall, network = reader(Node())
    network.nodes["node"]._call = lambda _: answer
    with pytest.raises(AdapterError):
        multicall.read([ECHO(GOOD, 1)], at(100))


def test_calls_are_made_at_one_block():
    asked = []
    node = echoing()
    node._result = lambda method, parameters, own=node._result: (asked.append(parameters), own(method, parameters))[1]
    multicall, _ = reader(node)
    multicall.read([ECHO(GOOD, number) for number in range(2000)], at(97))
    blocks = {parameters[1] for parameters in asked if len(parameters) == 2 and isinstance(parameters[0], dict)}
    assert blocks == {hex(97)}
    assert block_hash(97) == at(97).hash

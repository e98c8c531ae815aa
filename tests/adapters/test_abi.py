"""Calls and events: the quick way through integers against a general codec, and bounds of every type."""

from __future__ import annotations

import pytest
from eth_abi import decode, encode
from eth_abi.exceptions import DecodingError
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.base import BadPayload
from adapters.rpc.abi import CallFailed, Event, Function, Log, Outcome, read_hex, read_quantity

REPEATABLE = settings(max_examples=100, deadline=None, derandomize=True)

CONTRACT = "0x" + "c" * 40
TYPES = st.lists(
    st.tuples(st.sampled_from(("uint", "int")), st.integers(1, 32)).map(lambda it: f"{it[0]}{8 * it[1]}"),
    min_size=1,
    max_size=5,
)


@REPEATABLE
@given(TYPES, st.binary(max_size=200), st.booleans())
def test_integers_are_decoded_as_the_abi_says(types, data, is_small):
    if is_small:
        data = b"".join(byte.to_bytes(32) for byte in data[:5])
    call = Function("f()", *types)(CONTRACT)
    try:
        expected = decode(types, data)
    except DecodingError:
        with pytest.raises(CallFailed):
            call.decode(Outcome(data))
        return
    assert call.decode(Outcome(data)) == expected


@REPEATABLE
@given(st.integers(-(2**23), 2**23 - 1), st.integers(0, 2**112 - 1))
def test_negative_numbers_survive(tick, reserve):
    call = Function("f(int24)", "int24", "uint112")(CONTRACT, tick)
    assert call.data[4:] == encode(["int24"], [tick])
    assert call.decode(Outcome(encode(["int24", "uint112"], [tick, reserve]))) == (tick, reserve)


def test_other_types_go_through_the_general_codec():
    call = Function("coins(address)", "address[]", "string")(CONTRACT, CONTRACT)
    answer = encode(["address[]", "string"], [[CONTRACT], "x"])
    assert call.decode(Outcome(answer)) == ((CONTRACT,), "x")
    for cut in range(len(answer) - 31):
        with pytest.raises(CallFailed):
            call.decode(Outcome(answer[:cut]))


def test_a_call_without_an_answer_says_so():
    call = Function("getReserves()", "uint112")(CONTRACT)
    for outcome, told in (
        (Outcome(b"", True), "reverted"),
        (Outcome(b""), "is there a contract"),
        (Outcome(b"1"), "fit"),
    ):
        with pytest.raises(CallFailed, match=told) as failure:
            call.decode_one(outcome)
        assert CONTRACT in str(failure.value)
        assert "getReserves()" in str(failure.value)


MINT = Event("Mint(address,address indexed,int24 indexed,int24 indexed,uint128,uint256,uint256)")


def log(**changes: object) -> Log:
    topics = [
        MINT.topic,
        *(
            "0x" + encode([kind], [value]).hex()
            for kind, value in (("address", CONTRACT), ("int24", -60), ("int24", 120))
        ),
    ]
    data = encode(["address", "uint128", "uint256", "uint256"], [CONTRACT, 7, 8, 9])
    given = {
        "address": CONTRACT,
        "topics": tuple(topics),
        "data": data,
        "block_number": 1,
        "block_hash": "",
        "index": 0,
    }
    return Log(**{**given, **changes})


def test_events_are_decoded_by_what_is_indexed():
    assert MINT.topic == "0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde"
    assert MINT.decode(log()) == ((CONTRACT, -60, 120), (CONTRACT, 7, 8, 9))


@pytest.mark.parametrize(
    "changes",
    [
        {"topics": ()},
        {"topics": log().topics[:3]},
        {"topics": ("0x" + "1" * 64, *log().topics[1:])},
        {"topics": (*log().topics[:3], "0x" + "7" * 64)},
        {"data": b""},
        {"data": b"\xff" * 128},
    ],
)
def test_an_event_that_does_not_fit_is_refused(changes):
    with pytest.raises(BadPayload):
        MINT.decode(log(**changes))


def test_quantities_and_data_are_bounded():
    assert read_quantity({"n": "0xff"}, "n", 8) == 255
    assert read_hex("0x00ff", "d") == b"\0\xff"
    for wrong in ("0x100", "0x", "ff", "0x-1", "0x 1", "0x1_0", 255, None, [], True):
        with pytest.raises(BadPayload, match="n must be a hex quantity"):
            read_quantity({"n": wrong}, "n", 8)
    for wrong in ("0x0", "00", "0xzz", "0x00 ", None, 7):
        with pytest.raises(BadPayload, match="d must be hex data"):
            read_hex(wrong, "d")
    with pytest.raises(BadPayload, match="of 20 bytes"):
        read_hex("0x00", "d", 20)

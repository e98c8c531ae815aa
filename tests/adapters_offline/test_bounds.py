"""Reading fields: types, bounds, and the path in the message."""

from __future__ import annotations

from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.base import BadPayload
from adapters.http.json_fields import Field

DOCUMENT = Field({"a": {"b": ["x", {"c": "7"}]}, "none": None}, "venue 1-10")


def test_the_path_leads_to_the_field() -> None:
    with pytest.raises(BadPayload, match=r"^venue 1-10: a\.d is missing$"):
        DOCUMENT.get("a", "d")
    with pytest.raises(BadPayload, match=r"^venue 1-10: a\.b must be an object, not \['x'"):
        DOCUMENT.get("a", "b", "c")
    _, second = DOCUMENT.get("a", "b").read_items(2)
    assert second.get("c").read_integer() == 7
    with pytest.raises(BadPayload, match=r"^venue 1-10: a\.b\[1\]\.c must be from 8 to 9, not '7' \(str\)$"):
        second.get("c").read_integer(8, 9)
    with pytest.raises(BadPayload, match="has 2 entries; at most 1"):
        list(DOCUMENT.get("a", "b").read_items(1))
    with pytest.raises(BadPayload, match="must be a list"):
        list(DOCUMENT.get("a").read_items(1))


def test_null_counts_as_absent() -> None:
    assert DOCUMENT.has("a")
    assert not DOCUMENT.has("none")
    assert not DOCUMENT.has("other")
    assert not DOCUMENT.get("a", "b").has("a")


@pytest.mark.parametrize("value", [0, 7, "7", "007", "1" * 77])
def test_whole_numbers(value: object) -> None:
    assert Field(value, "x").read_integer() == int(str(value))


@pytest.mark.parametrize(
    "value", [True, 1.0, "1.0", "-1", -1, "", " 7", "7 ", "٣", "²", "1e3", "0x7", "1_0", None, [], {}, "1" * 79, 2**256]
)
def test_what_is_no_whole_number(value: object) -> None:
    with pytest.raises(BadPayload, match=r"^x must be"):
        Field(value, "x").read_integer()


@pytest.mark.parametrize(
    ("value", "read"),
    [(1, "1"), (1.3, "1.3"), ("0.25", "0.25"), (99999999225.24174, "99999999225.24174"), (1e-7, "0.0000001")],
)
def test_decimals_are_read_as_they_are_written(value: object, read: str) -> None:
    assert Field(value, "x").read_decimal(0, 10**12) == Decimal(read)


@pytest.mark.parametrize(
    "value", [True, "NaN", "Infinity", "1e400", "", ".5", "5.", "٣", None, float("inf"), float("nan"), -0.1, "9" * 41]
)
def test_what_is_no_number(value: object) -> None:
    with pytest.raises(BadPayload, match=r"^x must be"):
        Field(value, "x").read_decimal(0, 10**12)


def test_seconds_are_rounded_up() -> None:
    assert Field(1.2, "x").read_seconds() == 2
    assert Field("300", "x").read_seconds() == 300
    with pytest.raises(BadPayload):
        Field(10**9, "x").read_seconds()


def test_addresses_texts_bytes_and_flags() -> None:
    assert Field("0x" + "Ab" * 20, "x").read_contract() == "0x" + "ab" * 20
    assert Field("0x" + "00" * 20, "x").read_address() == "0x" + "00" * 20
    assert Field("0xAB", "x").read_data(1) == "0xab"
    assert Field("fine", "x").read_text() == "fine"
    assert Field(False, "x").read_flag() is False


@pytest.mark.parametrize(
    ("reader", "value"),
    [
        ("read_contract", "0x" + "00" * 20),
        ("read_address", "0xabcd"),
        ("read_address", "0x" + "é" * 40),
        ("read_address", 5),
        ("read_text", "a\x00"),
        ("read_text", "a" * 201),
        ("read_text", 5),
        ("read_flag", "true"),
        ("read_flag", 1),
    ],
)
def test_what_is_none_of_these(reader: str, value: object) -> None:
    with pytest.raises(BadPayload, match=r"^x must"):
        getattr(Field(value, "x"), reader)()


@pytest.mark.parametrize("value", ["ab", "0xabc", "0xzz", 5, "0xabcdef"])
def test_bytes_are_hex_and_bounded(value: object) -> None:
    with pytest.raises(BadPayload):
        Field(value, "x").read_data(2)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=50)
@given(JSON)
def test_nothing_but_a_bad_payload_comes_of_any_value(value: object) -> None:
    field = Field(value, "x")
    for read in (
        field.read_integer,
        lambda: field.read_decimal(0, 9),
        field.read_seconds,
        field.read_address,
        field.read_contract,
        field.read_text,
        lambda: field.read_data(9),
        field.read_flag,
        lambda: list(field.read_items(9)),
        lambda: field.get("a"),
    ):
        with suppress(BadPayload):
            assert read() is not None

"""Amounts in and out of text are exact."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_engine.amounts import parse_decimal, parse_units, write_duration, write_exact, write_short
from routing_engine.cli.gas_options import parse_gas_prices
from routing_engine.errors import InvalidRequest

amounts = st.integers(0, 2**256 - 1)
places = st.integers(0, 30)


@pytest.mark.parametrize(
    ("text", "decimals", "amount"),
    [
        ("500", 18, 500 * 10**18),
        ("0.1", 18, 10**17),
        (".5", 6, 500_000),
        ("007.50", 6, 7_500_000),
        ("0.000000000000000001", 18, 1),
        ("123456789.123456789012345678", 18, 123456789123456789012345678),
        ("3", 0, 3),
        ("0", 0, 0),
    ],
)
def test_decimal_text_is_read_exactly(text: str, decimals: int, amount: int) -> None:
    assert parse_decimal(text, decimals, "--amount", "X") == amount


@pytest.mark.parametrize(
    "text", ["", ".", "5.", "-1", "+1", "1e5", "1_000", "1,5", "1 ", "0x10", "1.2.3", "١", "½", "nan", "inf", "9" * 101]
)
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest, match=r"--amount: .* is not an amount"):
        parse_decimal(text, 18, "--amount", "X")


def test_too_fine_an_amount_says_how_fine_the_token_is() -> None:
    with pytest.raises(InvalidRequest, match=r"1\.0000000 has 7 digits after the dot, but USDC@1 has only 6"):
        parse_decimal("1.0000000", 6, "--amount", "USDC@1")


@pytest.mark.parametrize("text", ["", "1.0", "-1", "1e3", "٣", "9" * 101])
def test_units_are_digits(text: str) -> None:
    with pytest.raises(InvalidRequest, match="smallest units"):
        parse_units(text, "--amount")


@given(amount=amounts, decimals=places)
def test_what_is_written_reads_back(amount: int, decimals: int) -> None:
    text = write_exact(amount, decimals).replace(",", "")
    assert parse_decimal(text, decimals, "--amount", "X") == amount


@given(amount=amounts, decimals=places)
def test_short_text_never_promises_more(amount: int, decimals: int) -> None:
    text = write_short(amount, decimals)
    if "e" not in text:
        shown = parse_decimal(text.replace(",", ""), decimals, "--amount", "X")
        assert shown <= amount
        assert shown >= amount * 0.999
    assert len(text) <= 19


@pytest.mark.parametrize(
    ("amount", "decimals", "text"),
    [
        (1_058_037_360_994, 6, "1,058,037.3"),
        (500 * 10**18, 18, "500"),
        (1, 18, "1e-18"),
        (123_456, 18, "1.234e-13"),
        (76_026_001, 10, "0.0076026"),
        (10**40, 18, "1e22"),
        (10**40, 0, "1e40"),
        (-1_500_000, 6, "-1.5"),
        (0, 18, "0"),
    ],
)
def test_short_text(amount: int, decimals: int, text: str) -> None:
    assert write_short(amount, decimals) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (119, "119 s"),
        (120, "2 min"),
        (614, "10 min 14 s"),
        (7_199, "119 min 59 s"),
        (7_200, "2 h"),
        (86_400, "24 h"),
        (172_799, "47 h 59 min"),
        (604_812, "7 days"),
        (618_000, "7 days 3 h"),
    ],
)
def test_duration(seconds: int, text: str) -> None:
    assert write_duration(seconds) == text


def test_one_gas_price_serves_all_chains_and_a_single_one_wins() -> None:
    assert parse_gas_prices(["10", "8453=0.01"], [8453, 1, 1]) == {1: 10 * 10**9, 8453: 10**7}
    assert parse_gas_prices(["1=2.5"], [1, 10]) == {1: 2_500_000_000}
    assert parse_gas_prices([], [1]) == {}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["x"], "is not an amount"),
        (["=5"], "chain id"),
        (["1=5=5"], "chain id"),
        (["0.0000000001"], "a gwei has only 9"),
        (["77=1"], "'77' is no chain id of this market; it has 1, 10"),
        (["1", "2"], "set already"),
        (["1=1", "1=1"], "set already"),
    ],
)
def test_bad_gas_prices(texts: list[str], message: str) -> None:
    with pytest.raises(InvalidRequest, match=message):
        parse_gas_prices(texts, [1, 10])

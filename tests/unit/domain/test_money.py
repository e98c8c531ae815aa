"""From a price to a token's smallest units, and how deep a payment must lie."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.domain.confirmations import Confirmations
from api.domain.money import UINT256_MAX, rescale_up, round_up_to_whole

amounts = st.integers(1, UINT256_MAX)
decimals = st.integers(0, 36)


@pytest.mark.rule("money.14")
@pytest.mark.parametrize(
    ("amount", "before", "after", "expected", "rounded"),
    [
        (10**18, 18, 6, 10**6, False),
        (10**18 + 1, 18, 6, 10**6 + 1, True),
        (1, 18, 6, 1, True),
        (5, 0, 6, 5 * 10**6, False),
        (UINT256_MAX, 0, 36, UINT256_MAX * 10**36, False),
    ],
)
def test_a_price_in_the_tokens_units(amount: int, before: int, after: int, expected: int, rounded: bool) -> None:
    scaled = rescale_up(amount, from_decimals=before, to_decimals=after)
    assert (scaled.amount, scaled.rounded_up) == (expected, rounded)


@pytest.mark.rule("money.15")
@given(amount=amounts, before=decimals, after=decimals)
def test_rounding_favours_the_merchant_by_less_than_a_unit(amount: int, before: int, after: int) -> None:
    scaled = rescale_up(amount, from_decimals=before, to_decimals=after)
    excess = scaled.amount * 10**before - amount * 10**after
    assert 0 <= excess < 10**before
    assert (excess > 0) == scaled.rounded_up


@pytest.mark.rule("money.14")
@given(amount=amounts, before=decimals, after=decimals)
def test_going_to_finer_units_and_back_loses_nothing(amount: int, before: int, after: int) -> None:
    low, high = sorted((before, after))
    finer = rescale_up(amount, from_decimals=low, to_decimals=high)
    back = rescale_up(finer.amount, from_decimals=high, to_decimals=low)
    assert (back.amount, back.rounded_up) == (amount, False)


def test_whole_tokens_are_rounded_up() -> None:
    assert [round_up_to_whole(amount, 6) for amount in (0, 1, 10**6, 10**6 + 1)] == [0, 1, 1, 2]


@pytest.mark.rule("confirmations.1", "confirmations.2", "confirmations.3", "confirmations.4")
@pytest.mark.parametrize(
    ("chain_id", "dollars", "blocks"),
    [
        (8453, 100, 1),
        (8453, 101, 6),
        (8453, 1_000, 6),
        (8453, 1_001, None),
        (1, 100, 2),
        (1, 101, 6),
        (1, 10**9, None),
        (8453, None, None),
    ],
)
def test_the_confirmations_of_the_interface(chain_id: int, dollars: int | None, blocks: int | None) -> None:
    assert Confirmations().count_blocks(chain_id, dollars) == blocks


def test_the_setting_says_the_same_as_the_default() -> None:
    read = Confirmations.parse("*:100=1,1000=6;1:100=2,1000=6")
    assert (read.default, dict(read.by_chain)) == (Confirmations().default, dict(Confirmations().by_chain))


@pytest.mark.rule("confirmations.5")
def test_a_setting_for_one_chain_alone_keeps_the_others() -> None:
    read = Confirmations.parse("137:50=20,5=3")
    assert [read.count_blocks(137, dollars) for dollars in (5, 50, 51)] == [3, 20, None]
    assert read.count_blocks(10, 100) == 1


def test_what_is_in_no_block_never_counts() -> None:
    with pytest.raises(ValueError, match="at least 1 block"):
        Confirmations.parse("*:100=0,1000=6")


@pytest.mark.parametrize(
    "text", ["", "1", "*:100", "*:100=x", "x:1=1", "*:100=1;", "*:-1=1", "*:1=1,", "01:1=1", "0:1=1"]
)
def test_a_setting_that_can_not_be_read_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="chain:dollars=blocks"):
        Confirmations.parse(text)


@pytest.mark.parametrize("text", ["1:100=1;1:100=9,1000=6", "*:1=1;*:1=2", "*:100=1,1000=6;1:100=2,100=9"])
def test_of_two_steps_for_the_same_none_is_chosen(text: str) -> None:
    with pytest.raises(ValueError, match="given twice"):
        Confirmations.parse(text)

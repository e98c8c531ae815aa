"""Only what costs less than all others, or as much and is faster, is called the cheapest."""

from __future__ import annotations

import pytest

from api.services.checkout.cheapest import find_cheapest, round_fees
from api.services.checkout.patience import is_slow


@pytest.mark.parametrize(
    ("costs", "first"),
    [
        ([(2, 8), (1, 60), (3, 1)], 1),
        ([(1, 60), (1, 8), (2, 1)], 1),
        ([(1, 8), (1, 8), (2, 1)], None),
        ([None, (1, 8)], 1),
        ([None, None], None),
        ([], None),
    ],
)
def test_the_cheapest_is_a_strict_winner(costs: list[tuple[int, int] | None], first: int | None) -> None:
    assert find_cheapest(costs) == first


def test_fees_are_rounded_up_as_they_are_shown() -> None:
    assert [round_fees(total, 100, 10) for total in (100, 101, 110)] == [0, 10, 10]


def test_what_takes_more_than_an_hour_is_slow() -> None:
    assert [is_slow(each) for each in (8, 3_600, 3_601)] == [False, False, True]

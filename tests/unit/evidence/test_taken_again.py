"""What counts as taken from who has just got it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from api.services.ledger.evidence.taken_again import find_taken_again
from routing_engine.reference import token_registry
from tests.support.traces import PAYER, SELLER, SHOP, log_of, person

USDC = token_registry.token("USDC", 1).address
CAME, TAKEN, MORE = log_of(0, PAYER, SHOP, 100), log_of(1, SHOP, SELLER, 2), log_of(2, SHOP, person(0), 3)


@pytest.mark.parametrize(
    ("logs", "taken"),
    [
        ((CAME, TAKEN), {0: 2}),
        ((CAME, TAKEN, MORE), {0: 5}),
        ((TAKEN, CAME), {}),
        ((CAME, replace(TAKEN, address=person(7)), MORE), {}),
        ((CAME, log_of(1, SHOP, SELLER, 100)), {}),
        ((CAME, log_of(1, SHOP, SELLER, 98), MORE), {0: 98}),
        (tuple(replace(each, address=USDC) for each in (CAME, TAKEN)), {}),
    ],
    ids=["at once", "in parts", "before", "after something else", "whole", "most", "listed"],
)
def test_only_a_part_that_goes_at_once_was_taken(logs: tuple[Any, ...], taken: dict[int, int]) -> None:
    assert find_taken_again(1, logs) == taken

"""States that swaps lead to: as good as built by the constructor, which would check them."""

from __future__ import annotations

import random
from dataclasses import FrozenInstanceError, fields, replace

import pytest

from routing_engine import QuoteRefused
from routing_engine.markets.common.state import advance
from tests.support.markets import market_of
from tests.support.mixed import mixed_markets


def test_every_state_after_a_swap_passes_the_checks_of_its_constructor() -> None:
    kinds = set()
    for seed in range(40):
        for market in mixed_markets(random.Random(seed)):
            for token_in, token_out in market.edges():
                bounds = market.limits(token_in, token_out)
                for amount in (bounds.min_amount_in, bounds.max_amount_in, 10**token_in.decimals):
                    try:
                        _, after = market.swap_exact_in(token_in, token_out, amount)
                    except QuoteRefused:
                        continue
                    kinds.add(type(after))
                    assert replace(after) == after
    assert len(kinds) >= 7


def test_a_moved_market_differs_in_the_named_fields_only_and_stays_immutable() -> None:
    (pool,) = market_of("ab: A B 1000 2000 30bps")
    after = advance(pool, reserve0=5, reserve1=7)
    assert after == replace(pool, reserve0=5, reserve1=7)
    assert {field.name for field in fields(pool) if getattr(pool, field.name) != getattr(after, field.name)} == {
        "reserve0",
        "reserve1",
    }
    with pytest.raises(FrozenInstanceError):
        after.reserve0 = 6

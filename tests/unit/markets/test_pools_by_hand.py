"""Concentrated pools made from a price and the liquidity around it."""

from __future__ import annotations

from decimal import Decimal
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from routing_engine import InvalidMarket, Token
from routing_engine.markets import ConcentratedPool

LOW = Token(chain_id=1, address="0x" + "11" * 20, symbol="LOW", decimals=18)
HIGH = Token(chain_id=1, address="0x" + "99" * 20, symbol="HIGH", decimals=6)
FINE = Token(chain_id=1, address="0x" + "99" * 20, symbol="FINE", decimals=18)
COIN = Token(chain_id=1, address="0x" + "ee" * 20, symbol="ETH", decimals=18)


def make(base: Token, quote: Token, price: object, positions: object, **options: object) -> ConcentratedPool:
    given = {"id": "1:0x01", "tokens": (base, quote), "price": price, "positions": positions} | options
    return ConcentratedPool.from_price(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(("base", "quote"), [(LOW, HIGH), (HIGH, LOW), (COIN, HIGH), (HIGH, COIN)])
def test_the_price_is_that_of_the_base_whatever_the_contracts_order(base: Token, quote: Token) -> None:
    pool = make(base, quote, "2500.5", [("2000", "3000", 1_000_000)], fee_pips=500)
    scale = 10.0 ** (base.decimals - quote.decimals)
    assert pool.spot_price(base, quote) * scale == pytest.approx(2500.5 * (1 - 5e-4), rel=1e-9)
    assert 1 / (pool.spot_price(quote, base) / scale) == pytest.approx(2500.5 / (1 - 5e-4), rel=1e-9)
    assert pool.tick_spacing == 10
    assert pool.token0 == (COIN if COIN in (base, quote) else LOW)


@given(
    price=st.floats(1e-6, 1e9),
    below=st.floats(0.01, 0.9),
    above=st.floats(1.1, 50.0),
    value=st.floats(1.0, 1e9),
    is_turned=st.booleans(),
)
def test_it_holds_what_it_is_said_to_be_worth(
    price: float, below: float, above: float, value: float, is_turned: bool
) -> None:
    """Sold out in both directions it has given what both of its tokens were worth."""
    base, quote = (LOW, FINE) if is_turned else (FINE, LOW)
    pool = make(base, quote, price, [(price * below, price * above, value)], fee_pips=100)
    least, most = pool.ticks[0][0], pool.ticks[-1][0]
    assert least <= pool.tick < most
    total = 0.0
    for token_in, token_out in ((base, quote), (quote, base)):
        sold = pool.swap_exact_in(token_in, token_out, pool.limits(token_in, token_out).max_amount_in)[0].amount_out
        total += sold / 10**token_out.decimals * (price if token_out == base else 1.0)
    assert total == pytest.approx(value, rel=1e-6)


def test_positions_may_lie_beside_the_price_and_have_no_end() -> None:
    pool = make(LOW, HIGH, 100, [(0, inf, 1000), (200, 300, 50), (Decimal("10"), "20", 50)])
    assert len(pool.ticks) == 6
    whole, beside = make(LOW, HIGH, 100, [(0, inf, 1000)]), make(LOW, HIGH, 100, [(200, 300, 50)])
    assert pool.liquidity == whole.liquidity
    assert beside.liquidity == 0
    beside.validate()


def test_numbers_of_numpy_are_numbers() -> None:
    by_hand = make(LOW, HIGH, 100, [(50, 200, 5)], fee_pips=500, tick_spacing=10)
    whole = np.int64
    given = make(
        LOW, HIGH, np.float64(100), [(whole(50), whole(200), whole(5))], fee_pips=whole(500), tick_spacing=whole(10)
    )  # type: ignore[arg-type, list-item]
    assert given == by_hand
    assert type(given.fee_pips) is int
    assert LOW.units(whole(5)) == LOW.units(5)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"price": 0}, "price"),
        ({"price": "much"}, "price"),
        ({"price": 1e60}, "price"),
        ({"positions": [(200, 100, 5)]}, "positions.0"),
        ({"positions": [(1, 200, 5), ("x", 200, 5)]}, "positions.1.0"),
        ({"positions": [(1, 200, 0)]}, "positions.0.2"),
        ({"positions": [(1, 200)]}, "positions.0"),
        ({"positions": "much"}, "positions.0"),
        ({"fee_pips": 500.0}, "fee_pips"),
        ({"tick_spacing": True}, "tick_spacing"),
        ({"fee_pips": 123}, "tick_spacing"),
        ({"tick_spacing": 0}, "tick_spacing"),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, object], field: str) -> None:
    given: dict[str, object] = {"price": 100, "positions": [(50, 200, 5)]}
    with pytest.raises(InvalidMarket) as refused:
        make(LOW, HIGH, **given | change)  # type: ignore[arg-type]
    assert refused.value.field == field

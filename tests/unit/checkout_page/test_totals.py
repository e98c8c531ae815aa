"""What a payment costs in all: the price, each fee and their sum add up as they are shown, whatever they are."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.checkout_page.language.strings import load
from api.checkout_page.money.totals import choose_unit, share_units, write_fees, write_total
from api.checkout_page.paying.quotes import _describe_fees, describe_total
from api.services.checkout.quote import OrderQuote
from api.services.orders.views import PublicOrder

CURRENCIES = [("USDC", 6), ("USD", 6), ("DAI", 18), ("ETH", 18), ("WBTC", 8), ("GUSD", 2)]
NAMES = ["lp_fee", "relayer_fee", "gas", "destination_gas_fee", "other"]
ENGLISH = load("en")
EXACTLY = Context(prec=100)


@dataclass
class Shown:
    """What the page says of one payment."""

    total: str
    fees: str
    rows: list[str]

    @property
    def amounts(self) -> list[str]:
        """All that adds up: the total, the fees, and each of them."""
        return [self.total, self.fees, *self.rows]


def show(due: int, costs: list[tuple[str, int]], rest: int, currency: tuple[str, int]) -> Shown:
    symbol, decimals = currency
    order = cast(PublicOrder, SimpleNamespace(settlement_token_decimals=decimals, price_currency=symbol))
    total = due + sum(value for _, value in costs) + rest
    listed = [{"name": name, "value": str(value), "included": name != "gas"} for name, value in costs]
    quote = cast(OrderQuote, SimpleNamespace(costs=listed, total=total, amount_out=due))
    text = describe_total(total, due, order, ENGLISH)
    said, _, fees = text.removeprefix("≈ ").partition(" in all, fees ")
    assert said == write_total(total, due, order, ENGLISH)
    assert f"{fees} {symbol}" == write_fees(total, due, order, ENGLISH)
    rows: list[Any] = [row["text"] for row in _describe_fees(quote, order, ENGLISH)]
    return Shown(total=said, fees=fees, rows=rows)


def read(text: str) -> Decimal:
    """Return the number of a text; what is less than a unit counts as nothing."""
    return Decimal(0) if text.startswith("under") else Decimal(text.removeprefix("≈ ").split()[0].replace(",", ""))


@given(
    st.integers(1, 10**30),
    st.lists(st.tuples(st.sampled_from(NAMES), st.integers(1, 10**24)), max_size=6),
    st.one_of(st.just(0), st.integers(0, 10**20)),
    st.sampled_from(CURRENCIES),
)
def test_what_is_shown_adds_up(due: int, costs: list[tuple[str, int]], rest: int, currency: tuple[str, int]) -> None:
    symbol, decimals = currency
    shown = show(due, costs, rest, currency)
    fees = sum(value for _, value in costs) + rest
    unit = choose_unit(fees, decimals, symbol)
    total, told, *rows = (int(number.scaleb(decimals, EXACTLY)) for number in map(read, shown.amounts))
    assert total == due + told
    assert sum(rows) == told
    if shown.fees.startswith("under"):
        assert 0 < fees < unit
    else:
        assert 0 <= told - fees < unit


@given(st.lists(st.integers(0, 10**30), max_size=9), st.integers(1, 10**18))
def test_each_row_is_rounded_to_one_of_its_neighbours(amounts: list[int], unit: int) -> None:
    shares = share_units(amounts, unit)
    assert sum(shares) == -(-sum(amounts) // unit)
    assert all(amount // unit <= share <= -(-amount // unit) for amount, share in zip(amounts, shares, strict=True))


@pytest.mark.parametrize(
    ("due", "fees", "currency", "total", "text"),
    [
        (3 * 10**6, 3, ("WBTC", 8), "0.03000003", "0.00000003"),
        (3 * 10**16, 213_456_789_012, ("ETH", 18), "0.03000022", "0.00000022"),
        (25 * 10**6, 4_000, ("USDC", 6), "25.00", "under 0.01"),
        (25 * 10**6, 14_000, ("USDC", 6), "25.02", "0.02"),
        (25_000_001, 14_000, ("USDC", 6), "25.020001", "0.02"),
        (25 * 10**6, 0, ("USDC", 6), "25.00", "0.00"),
    ],
)
def test_totals_that_were_wrong(due: int, fees: int, currency: tuple[str, int], total: str, text: str) -> None:
    shown = show(due, [("gas", fees)] if fees else [], 0, currency)
    assert (shown.total, shown.fees) == (f"{total} {currency[0]}", text)

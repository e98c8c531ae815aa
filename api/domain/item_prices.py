"""Prices of single items: in the order's currency, and no other sum than the order's price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from api.domain.currencies import find_canonical
from api.domain.errors import InvalidData, Problem


def refuse_wrong_prices(items: Sequence[Mapping[str, Any]], order_price: Mapping[str, Any]) -> None:
    """Refuse prices of items that contradict the order's.

    Where all items have a price they add up to the order's price, to the last digit. Where only some have one, they
    don't exceed it.

    Parameters
    ----------
    items : sequence of mapping
        With `quantity`, and perhaps `unit_price` of `amount`, `decimals` and perhaps `currency`.
    order_price : mapping
        With `amount`, `decimals` and `currency`.

    Raises
    ------
    InvalidData
        Naming each currency that is another, or else the order's amount.
    """
    currency = order_price["currency"]
    problems = [
        Problem(
            path=f"line_items.{number}.unit_price.currency", message=f"Must be the order's, {currency}, or left out"
        )
        for number, item in enumerate(items)
        if "unit_price" in item and not _is_same_currency(item["unit_price"].get("currency", currency), currency)
    ]
    if problems:
        raise InvalidData(*problems)
    priced = [item for item in items if "unit_price" in item]
    decimals = max(each["decimals"] for each in (order_price, *(item["unit_price"] for item in priced)))
    price = _rescale(order_price, decimals)
    total = sum(_rescale(item["unit_price"], decimals) * item["quantity"] for item in priced)
    if total > price or (total < price and len(priced) == len(items)):
        summed, asked = _write(total, decimals), _write(price, decimals)
        message = f"The prices of the items add up to {summed} {currency}, the order's price is {asked} {currency}"
        raise InvalidData.at("order_price.amount", message)


def sum_item(item: Mapping[str, Any]) -> int:
    """Return what all pieces of an item cost, in units of its price."""
    amount: int = item["unit_price"]["amount"] * item["quantity"]
    return amount


def _is_same_currency(one: str, other: str) -> bool:
    return (find_canonical(one) or one) == (find_canonical(other) or other)


def _rescale(price: Mapping[str, Any], decimals: int) -> int:
    amount: int = price["amount"] * 10 ** (decimals - price["decimals"])
    return amount


def _write(amount: int, decimals: int) -> str:
    return f"{Decimal((0, tuple(map(int, str(amount))), -decimals)):f}"

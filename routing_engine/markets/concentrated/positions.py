"""Liquidity by positions, and pools made by hand: from a price and what lies around it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from math import inf, isqrt
from operator import index
from typing import Any, SupportsIndex

from routing_engine.amm.concentrated.tick_math import (
    MAX_SQRT_RATIO,
    MAX_TICK,
    MIN_SQRT_RATIO,
    sqrt_ratio_at_tick,
    tick_at_sqrt_ratio,
)
from routing_engine.errors import InvalidMarket
from routing_engine.markets.common.field_checks import require_held
from routing_engine.markets.common.record import require
from routing_engine.model import Token

Price = str | int | float | Decimal
"""Whole quote tokens for a whole base token; a float stands for the shortest decimal number that is read as it."""

Position = tuple[Price, Price, Price]
"""From which price to which liquidity lies, and what it is worth at the present price, in whole quote tokens."""

SPACINGS = {100: 1, 500: 10, 3_000: 60, 10_000: 200}
"""Uniswap v3: spacing of the ticks by fee in pips."""

Q192 = 1 << 192


def find_spacing(fee_pips: int, tick_spacing: int | None) -> int:
    """Return the spacing that is given, or Uniswap's for the fee.

    Raises
    ------
    InvalidMarket
        If it is below 1, or none is given and Uniswap has none.
    """
    spacing = SPACINGS.get(fee_pips) if tick_spacing is None else tick_spacing
    if spacing is None or spacing < 1:
        raise InvalidMarket("tick_spacing", f"must be given for a fee of {fee_pips} pips, at least 1")
    return spacing


def describe_state(
    tokens: tuple[Token, Token], price: Price, positions: Iterable[Position], spacing: int
) -> dict[str, Any]:
    """Return the fields of a pool that tell its tokens, its price and its liquidity; see `ConcentratedPool.from_price`.

    Raises
    ------
    InvalidMarket
        Naming the field.
    """
    require_held("tokens", tokens, tuple[Token, Token])
    scale = PriceScale(*tokens, spacing)
    sqrt_price_x96 = scale.find_sqrt_price("price", price)
    tick = tick_at_sqrt_ratio(sqrt_price_x96)
    require(isinstance(positions, Iterable), "positions", f"must be a list of (from, to, value), not {positions!r}")
    ranges = [scale.find_range(f"positions.{n}", each, sqrt_price_x96) for n, each in enumerate(positions)]
    require(bool(ranges), "positions", "are none, so nothing could be traded; give at least one (from, to, value)")
    liquidity, ticks = lay_positions(sqrt_price_x96, tick, ranges)
    found = {"sqrt_price_x96": sqrt_price_x96, "tick": tick, "liquidity": liquidity, "ticks": ticks}
    return found | {"token0": scale.tokens[0], "token1": scale.tokens[1], "tick_spacing": spacing}


def lay_positions(
    sqrt_price_x96: int, tick: int, positions: Iterable[tuple[int, int, int]]
) -> tuple[int, tuple[tuple[int, int], ...]]:
    """Return the active liquidity and the ticks (index, net liquidity) of positions.

    Parameters
    ----------
    sqrt_price_x96, tick : int
        The present price.
    positions : iterable of (int, int, int)
        Lower and upper tick, and the value at the present price in smallest units of token 1.
    """
    active, net = 0, defaultdict[int, int](int)
    for lower, upper, value1 in positions:
        liquidity = (value1 << 96) // _value_per_liquidity(sqrt_price_x96, lower, upper)
        active += liquidity * (lower <= tick < upper)
        net[lower] += liquidity
        net[upper] -= liquidity
    return active, tuple(sorted((index, amount) for index, amount in net.items() if amount))


def _value_per_liquidity(sqrt_price_x96: int, lower: int, upper: int) -> int:
    """Value of one unit of liquidity in token 1, Q64.96: both of its amounts at the present price."""
    low, high = sqrt_ratio_at_tick(lower), sqrt_ratio_at_tick(upper)
    inside = min(max(sqrt_price_x96, low), high)
    in_token0 = sqrt_price_x96 * sqrt_price_x96 // inside - sqrt_price_x96 * sqrt_price_x96 // high
    return max(in_token0 + inside - low, 1)


class PriceScale:
    """How prices of a base in a quote become those of token 1 per token 0, of which the contract has the lower first.

    Parameters
    ----------
    base, quote : Token
        As people name the pair.
    spacing : int
        Of the ticks.
    """

    def __init__(self, base: Token, quote: Token, spacing: int) -> None:
        self.is_base_first = _rank(base) < _rank(quote)
        self.tokens = (base, quote) if self.is_base_first else (quote, base)
        self._unit = Fraction(10**quote.decimals, 10**base.decimals)
        self._quote, self._spacing = quote, spacing

    def find_sqrt_price(self, field: str, price: Price) -> int:
        """Return the contract's square root of a price in Q64.96.

        Raises
        ------
        InvalidMarket
            Naming the field, if it is no price, or outside the contract's range.
        """
        number = _read_number(field, price)
        require(number > 0, field, f"must be above 0, not {price!r}")
        ratio = number * self._unit if self.is_base_first else 1 / (number * self._unit)
        sqrt_price_x96 = isqrt(ratio.numerator * Q192 // ratio.denominator)
        require(MIN_SQRT_RATIO <= sqrt_price_x96 < MAX_SQRT_RATIO, field, f"{price!r} is outside the contract's range")
        return sqrt_price_x96

    def find_range(self, place: str, position: Position, sqrt_price_x96: int) -> tuple[int, int, int]:
        """Return the ticks that hold a position's prices, and its value in smallest units of token 1."""
        try:
            low, high, value = position
        except (TypeError, ValueError) as error:
            raise InvalidMarket(place, f"must be (price, price, value), not {position!r}") from error
        amount = _read_number(f"{place}.2", value)
        require(amount > 0, f"{place}.2", f"is worth {value!r}; give what it holds, in whole {self._quote}")
        edge = MAX_TICK // self._spacing * self._spacing
        ticks = [self._find_tick(f"{place}.{end}", price) for end, price in enumerate((low, high))]
        require((ticks[0] < ticks[1]) is self.is_base_first or ticks[0] == ticks[1], place, "ends before it begins")
        lower = max(min(ticks) // self._spacing * self._spacing, -edge)
        upper = min((max(ticks) // self._spacing + 1) * self._spacing, edge)
        units = amount * 10**self._quote.decimals
        value1 = units if self.is_base_first else units * sqrt_price_x96**2 / Q192
        return lower, upper, int(value1)

    def _find_tick(self, field: str, price: Price) -> int:
        """Return a price's tick: of 0 and of infinity, the outermost."""
        if price in (0, inf):
            return MAX_TICK if (price == inf) is self.is_base_first else -MAX_TICK
        return tick_at_sqrt_ratio(self.find_sqrt_price(field, price))


def _rank(token: Token) -> int:
    """Place of a token in the contract's order, in which a chain's own coin has the address 0."""
    return 0 if token.is_native else int(token.address, 16)


def read_integer(field: str, number: SupportsIndex) -> int:
    """Return an integer, of numpy or not, as a plain int.

    Raises
    ------
    InvalidMarket
        Naming the field, if it is something else.
    """
    if isinstance(number, bool) or not isinstance(number, SupportsIndex):
        raise InvalidMarket(field, f"must be an int, not {number!r}")
    return index(number)


def _read_number(field: str, number: Price) -> Fraction:
    try:
        return Fraction(str(number))
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidMarket(field, f"must be a number, such as '2500.5', not {number!r}") from error

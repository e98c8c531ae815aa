"""Amounts between smallest units and floats, one or a whole array: for people who calculate, not for promises."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, SupportsIndex, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from routing_engine.errors import InvalidRequest

Number: TypeAlias = float | Decimal | np.floating[Any] | np.integer[Any]
"""Whole tokens, as people calculate with them; an int is one too."""


@overload
def divide_units(amount: SupportsIndex, decimals: int) -> float: ...
@overload
def divide_units(amount: Iterable[SupportsIndex], decimals: int) -> npt.NDArray[np.float64]: ...
def divide_units(amount: SupportsIndex | Iterable[SupportsIndex], decimals: int) -> float | npt.NDArray[np.float64]:
    """Return smallest units as whole tokens: a float of one amount, a float64 array of many, of their shape."""
    if isinstance(amount, SupportsIndex) and not isinstance(amount, np.ndarray):
        one: int = 10**decimals
        return int(amount) / one  # exact until the division, also beyond 2**53
    amounts = np.asarray(amount, np.object_)
    whole = np.array([int(each) / 10**decimals for each in amounts.ravel()], np.float64)
    return whole.reshape(amounts.shape)


@overload
def round_whole(whole: Number, decimals: int, unit: str) -> int: ...
@overload
def round_whole(whole: Iterable[Number], decimals: int, unit: str) -> npt.NDArray[np.object_]: ...
def round_whole(whole: Number | Iterable[Number], decimals: int, unit: str) -> int | npt.NDArray[np.object_]:
    """Return whole tokens in smallest units, rounded down: an int of one, an object array of many, of their shape.

    A float stands for the shortest decimal number that is read as it: 0.1 is a tenth.

    Raises
    ------
    InvalidRequest
        If a value is negative, no number, or infinite.
    """
    if isinstance(whole, str) or not isinstance(whole, Iterable):
        return _round(whole, decimals, unit)
    given = np.asarray(whole)
    units = np.empty(given.size, np.object_)
    units[:] = [_round(each, decimals, unit) for each in given.ravel().tolist()]
    return units.reshape(given.shape)


def _round(whole: Number, decimals: int, unit: str) -> int:
    number = whole.item() if isinstance(whole, np.generic) else whole
    if isinstance(number, bool | str) or not math.isfinite(number) or number < 0:
        raise InvalidRequest("amount", f"must be a number of whole {unit} of at least 0, not {number!r}")
    sign, digits, exponent = (number if isinstance(number, Decimal) else Decimal(repr(number))).as_tuple()
    return int(Decimal((sign, digits, int(exponent) + decimals)))

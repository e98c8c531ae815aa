"""Bounds of on-chain amounts, and the exact way from a price to a token's smallest units."""

from __future__ import annotations

from dataclasses import dataclass

UINT256_MAX = 2**256 - 1
"""The largest amount any contract can hold."""

UINT256_DIGITS = 78
"""Decimal digits of `UINT256_MAX`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rescaled:
    """An amount in other units.

    Parameters
    ----------
    amount : int
        In the new smallest units.
    rounded_up : bool
        Whether the old amount was finer than the new unit, so that the next unit above was taken.
    """

    amount: int
    rounded_up: bool


def rescale_up(amount: int, *, from_decimals: int, to_decimals: int) -> Rescaled:
    """Express an amount with another number of decimals, exactly or in the receiver's favour.

    Parameters
    ----------
    amount : int
        In units of ``10**-from_decimals``.
    from_decimals, to_decimals : int
        Decimals before and after.
    """
    if to_decimals >= from_decimals:
        return Rescaled(amount=amount * 10 ** (to_decimals - from_decimals), rounded_up=False)
    whole, rest = divmod(amount, 10 ** (from_decimals - to_decimals))
    return Rescaled(amount=whole + (rest > 0), rounded_up=rest > 0)


def write_decimal(amount: int, decimals: int) -> str:
    """Write an amount in whole units, exactly and without an exponent: 1500000 with 6 decimals is ``1.500000``."""
    if not decimals:
        return str(amount)
    whole, rest = divmod(amount, 10**decimals)
    return f"{whole}.{rest:0{decimals}d}"


def round_up_to_whole(amount: int, decimals: int) -> int:
    """Return an amount in whole tokens, rounded up."""
    return rescale_up(amount, from_decimals=decimals, to_decimals=0).amount

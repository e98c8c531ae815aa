"""ERC-4626 vaults: shares for assets and back at the vault's own rate.

A vault computes ``convertToShares(x) = floor(x * S / A)`` and ``convertToAssets(x) = floor(x * A / S)`` with its supply
S and assets A (often with virtual ones added). Where only both answers for one whole token are known, each bounds its
rate from below, and so does the inverse of the other. The larger bound is used: a quote is never more than the vault
gives, and less at most by what the longer answer was rounded by.
"""

from __future__ import annotations

from typing import TypeAlias

Rate: TypeAlias = tuple[int, int]
"""Numerator and denominator: smallest units given for each one taken."""


def is_consistent(asset_price: int, share_price: int, unit: int) -> bool:
    """Tell whether both answers can be roundings of one rate and its inverse; `unit` is 10**(sum of decimals)."""
    return asset_price * share_price <= unit < (asset_price + 1) * (share_price + 1)


def best_rate(price: int, one_in: int, inverse_price: int, one_out: int) -> Rate:
    """Return the largest rate that is surely not above the vault's.

    Parameters
    ----------
    price : int
        Smallest units that one whole token taken converts to.
    one_in : int
        Smallest units of one whole token taken.
    inverse_price, one_out : int
        The same of the other direction.
    """
    direct, inverse = (price, one_in), (one_out, inverse_price + 1)
    if not is_consistent(price, inverse_price, one_in * one_out):
        # A vault that keeps a part on the way: the inverse says nothing of this direction.
        return direct
    return inverse if inverse[0] * direct[1] > direct[0] * inverse[1] else direct

"""The float64 shape of a Fluid pool: one Möbius piece while one of its pools trades alone, one more when both do."""

from __future__ import annotations

from math import isqrt

from routing_engine.amm.fluid import ADJUSTED_DECIMALS, Pools, Reserves
from routing_engine.fixed_point import PIPS, WAD

Piece = list[float]
"""A row of `Curve.pieces`."""


def build_pieces(pools: Pools, fee_pips: int, decimals_in: int, decimals_out: int) -> list[Piece]:
    """Return one or two rows of `Curve.pieces`, in smallest units; none where both pools are off.

    The pool with the better price trades alone until it offers no more than the other; from there each takes a fixed
    share. Two pools of one price at fixed shares are one constant product. As their prices meet before the fee only,
    the second piece is the constant product with their joint price and second derivative: its error is of the third
    order in the distance between them.
    """
    scale_in, scale_out = 10.0 ** (ADJUSTED_DECIMALS - decimals_in), 10.0 ** (decimals_out - ADJUSTED_DECIMALS)
    kept = (1.0 - fee_pips / PIPS) * scale_in
    enabled = [pool for pool in pools if pool.enabled]
    if len(enabled) < 2:
        return [_make_piece(pool, kept, scale_out) for pool in enabled]
    first, second, start, share = _find_meeting(*pools)
    alone = _make_piece(first, kept, scale_out)
    gone = kept * start / scale_in
    reserve = first.imaginary_in + gone
    left = first.imaginary_out * (first.imaginary_in / reserve)
    rows = ((share, reserve, left), (1.0 - share, float(second.imaginary_in), float(second.imaginary_out)))
    price = sum(part * r_out / r_in for part, r_in, r_out in rows)
    second_derivative = sum((part * r_out / r_in) * (part / r_in) for part, r_in, r_out in rows) / price
    y0 = scale_out * first.imaginary_out * gone / reserve
    both = [start / scale_in, y0, kept * scale_out * price, 1.0, kept * second_derivative]
    return [alone, both] if start > 0.0 else [both]


def _make_piece(pool: Reserves, kept: float, scale_out: float) -> Piece:
    return [0.0, 0.0, kept * scale_out * pool.imaginary_out, float(pool.imaginary_in), kept]


def _find_meeting(collateral: Reserves, debt: Reserves) -> tuple[Reserves, Reserves, float, float]:
    """Return the pool that trades alone, the other, the adjusted input until they meet, and the first's share then."""
    root = isqrt(collateral.imaginary_in * collateral.imaginary_out * WAD)
    debt_root = isqrt(debt.imaginary_in * debt.imaginary_out * WAD)
    # An exact difference: nearly equal prices would leave no digits in float64.
    ahead = debt.imaginary_in * root - collateral.imaginary_in * debt_root
    share = root / (root + debt_root)
    if ahead > 0:
        return collateral, debt, ahead / debt_root, share
    return debt, collateral, -ahead / root, 1.0 - share

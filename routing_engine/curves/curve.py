"""The float64 shape of one direction of one market: what compiled kernels see instead of objects.

Most kinds are chains of Möbius pieces::

    y(x) = y0 + a * (x - x0) / (b + c * (x - x0))        x0 <= x <= next piece's x0 (x_max for the last)

A constant-product pool is one piece (a = g*R_out, b = R_in, c = g with g = 1 - fee), a concentrated pool one piece per
interval between initialised ticks, a lane one straight piece (c = 0) that starts at its minimum. Other kinds name a
formula of `routing_engine.curves.kernels.shapes` and its parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from routing_engine.curves.formulas import shape_in, shape_out
from routing_engine.curves.shape import REFUSED, Shape

X0, Y0, A, B, C = range(5)
"""Columns of `Curve.pieces`."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """Output as a function of input, in float64, smallest units.

    Parameters
    ----------
    pieces : ndarray, shape (n, 5), float64
        Columns `X0, Y0, A, B, C`, rows in the order of growing x0. For other shapes one row, the tangent at zero: see
        `Curve.of_shape`.
    x_min, x_max : float
        Inputs outside are refused. `x_max` may be infinite.
    gas : float
        Gas of a swap that stays in the first piece.
    gas_per_piece : float
        Gas for each further piece that is entered.
    native_fee : float
        What is paid on top, in the coin of the chain of token_in.
    fill_time_s : float
        As `Hop.fill_time_s`.
    concave : bool
        Whether the marginal price never rises. A fixed fee is not concave.
    ceiling : float or None
        For a shape that is not concave: a price that no average price exceeds.
    shape : Shape
        Which formula holds.
    params : ndarray, shape (k,), float64
        Parameters of a shape that has no pieces.
    """

    pieces: npt.NDArray[np.float64]
    x_min: float = 0.0
    x_max: float = np.inf
    gas: float = 0.0
    gas_per_piece: float = 0.0
    native_fee: float = 0.0
    fill_time_s: float = 0.0
    concave: bool = True
    ceiling: float | None = None
    shape: Shape = Shape.PIECES
    params: npt.NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of_shape(cls, shape: Shape, params: list[float], *, slope: float, depth: float, **options: Any) -> Curve:
        """Describe a curve by a formula.

        Parameters
        ----------
        shape : Shape
            Other than `Shape.PIECES`.
        params : list of float
            In the order that the shape's module gives.
        slope : float
            Marginal price at zero, after fees.
        depth : float
            Input that would move the price about as much as it would move that of a constant-product pool with this
            reserve; markets are compared by it when prices are read off.
        **options
            `x_min`, `x_max`, `gas`, `native_fee`, `fill_time_s`, `concave`, `ceiling`.
        """
        tangent = np.array([[0.0, 0.0, slope * depth, depth, 1.0]])
        return cls(pieces=tangent, shape=shape, params=np.array(params, np.float64), **options)

    @property
    def max_average_price(self) -> float:
        """A price that no average price ``y(x) / x`` exceeds: what certificates rest on."""
        if self.ceiling is not None:
            return self.ceiling
        slopes = self.pieces[:, A] / self.pieces[:, B]
        if self.concave:
            return float(slopes[0])
        starts = self.pieces[self.pieces[:, X0] > 0.0]
        return float(max(slopes.max(), (starts[:, Y0] / starts[:, X0]).max(initial=0.0)))

    def __call__(self, x: float) -> float:
        """Output for input `x`, or NaN outside the limits."""
        if not self.x_min <= x <= self.x_max:
            return float("nan")
        if self.shape is not Shape.PIECES:
            return _amount(shape_out(int(self.shape), self.params, 0, x))
        row = self.pieces[max(0, int(np.searchsorted(self.pieces[:, X0], x, side="right")) - 1)]
        dx = x - row[X0]
        return float(row[Y0] + row[A] * dx / (row[B] + row[C] * dx))

    def inverse(self, y: float) -> float:
        """Least input whose output is `y`, or NaN where none is."""
        if self.shape is not Shape.PIECES:
            x = _amount(shape_in(int(self.shape), self.params, 0, y))
            return max(x, self.x_min) if x <= self.x_max else float("nan")
        return invert_pieces(self.pieces, y, self.x_min, self.x_max)


def invert_pieces(pieces: npt.NDArray[np.float64], y: float, x_min: float, x_max: float) -> float:
    """Return the least input within limits whose output by the pieces is at least `y`, or NaN where none is."""
    x0, y0, a, b, c = pieces[max(0, int(pieces[:, Y0].searchsorted(y, side="right")) - 1)].tolist()
    dy = y - y0
    rest = a - c * dy
    x = max(x_min, x0 + b * dy / rest) if rest > 0.0 else math.inf
    return x if x <= x_max else math.nan


def _amount(value: float) -> float:
    return float("nan") if value == REFUSED else float(value)

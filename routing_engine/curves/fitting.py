"""Every curve as Möbius pieces: what the graph's arrays hold, whatever the curve was described by."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.curves.curve import A, B, Curve
from routing_engine.curves.kernels import mobius_pieces
from routing_engine.curves.kernels.mobius_pieces import ABOVE
from routing_engine.curves.shape import Shape
from routing_engine.jit.direct_call import Compiled

_fit_pieces = Compiled(mobius_pieces.fit_pieces)


class FittedPieces(NamedTuple):
    """A curve as pieces.

    Parameters
    ----------
    pieces : float64 array, shape (n, 6)
        Columns of `Curve.pieces`, and `ABOVE`: see `mobius_pieces.fit_pieces`. That is 0 where a curve is made of
        pieces.
    is_concave : bool
        Whether the marginal price of the pieces never rises.
    max_average_price : float
        No average price of the curve exceeds it.
    """

    pieces: npt.NDArray[np.float64]
    is_concave: bool
    max_average_price: float


def fit_curve(curve: Curve) -> FittedPieces:
    """Return a curve's own pieces, or those that stand for its formula."""
    most = curve.max_average_price
    if curve.shape is Shape.PIECES:
        pieces = np.zeros((len(curve.pieces), ABOVE + 1))
        pieces[:, :ABOVE] = curve.pieces
        return FittedPieces(pieces, curve.concave, most)
    slope, depth = curve.pieces[0, A] / curve.pieces[0, B], curve.pieces[0, B]
    if not curve.x_min < curve.x_max:  # closed: nothing is ever asked of it
        return FittedPieces(np.array([[*curve.pieces[0], 0.0]]), True, most)
    pieces, is_concave, price = _fit_pieces(int(curve.shape), curve.params, curve.x_min, curve.x_max, slope, depth)
    return FittedPieces(pieces, is_concave, min(most, price) if is_concave else most)

"""How far formulas lie above wide pieces of their curves: what certificates allow for far from balance."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from routing_engine.curves.curve import X0, B, Curve
from routing_engine.curves.kernels.mobius_pieces import ABOVE, CAUTION, FAR
from routing_engine.curves.shape import Shape

WIDE, RISING = 2.5, 1e-6
"""How many times its beginning a wide piece ends at, and by which part of the output it rises to matter."""

PROBES = np.arange(1, 9) / 9.0
"""Where a wide piece is compared with the formula, as parts of the logarithm of its width."""


def measure_wide_pieces(curve: Curve, pieces: npt.NDArray[np.float64]) -> None:
    """Compare wide pieces with the formula once more, and raise `ABOVE` where it lies farther above than was found.

    Far from balance a formula bends where such a piece begins. `fit_pieces` looks at inputs at even distances, all of
    which lie behind that.

    Parameters
    ----------
    curve : Curve
        Of any shape; one that is made of pieces is exact.
    pieces : float64 array, shape (n, 6)
        From `fit_curve`; changed.
    """
    if curve.shape is Shape.PIECES or not curve.x_min < curve.x_max:
        return
    starts = pieces[:, X0]
    ends = np.append(starts[1:], min(curve.x_max, FAR * curve.pieces[0, B]))
    candidates = np.flatnonzero((starts > 0.0) & (ends > WIDE * starts))
    for row in candidates.tolist():
        x0, y0, a, b, c, above = pieces[row].tolist()
        width = float(ends[row]) - x0
        rise = a * width / (b + c * width)
        if not rise > RISING * y0:
            continue
        for x in (x0 * (ends[row] / x0) ** PROBES).tolist():
            y = y0 + a * (x - x0) / (b + c * (x - x0))
            above = max(above, CAUTION * (curve(x) / y - 1.0))
        pieces[row, ABOVE] = above
    if candidates.size:
        np.maximum.accumulate(pieces[:, ABOVE], out=pieces[:, ABOVE])

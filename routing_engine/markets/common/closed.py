"""The float64 curve of a direction that takes no amount."""

from __future__ import annotations

import numpy as np

from routing_engine.curves.curve import Curve

CLOSED_PIECES = np.array([[0.0, 0.0, 0.0, 1.0, 0.0]])
"""As `Curve.pieces`: one flat piece."""

CLOSED_CURVE = Curve(pieces=CLOSED_PIECES, x_min=1.0, x_max=0.0)

"""Kernels that look at every index: a run under ``NUMBA_BOUNDSCHECK`` that had other kernels would prove nothing."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

FLAG, CACHE = "NUMBA_BOUNDSCHECK", "NUMBA_CACHE_DIR"
FOLDER = "bounds-checked"
"""Last part of the folder in which these kernels are kept: numba doesn't tell them from others in the same one."""


def require_checked_kernels() -> None:
    """End the run unless its kernels check their indices, and are kept where no other process takes them for others."""
    if Path(os.environ.get(CACHE, "")).name != FOLDER:
        pytest.exit(f"with {FLAG}, set {CACHE} to a folder named {FOLDER}: `make bounds` does", returncode=4)
    if not are_checked():
        pytest.exit(f"the kernels in {os.environ[CACHE]} don't check their indices; delete them", returncode=4)


def are_checked() -> bool:
    """Whether a kernel that is given fewer edges than amounts notices."""
    from routing_engine.curves.kernels.edge_curve import compute_amounts_out
    from routing_engine.kernels.arrays import EDGE

    edges, pieces = np.zeros(2, EDGE), np.zeros((2, 8))
    try:
        compute_amounts_out(edges[:1], pieces, np.ones(2))
    except IndexError:
        return True
    return False

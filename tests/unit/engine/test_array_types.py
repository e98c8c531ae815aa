"""Arrays have the types that numba gives them."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from numba.core.errors import NumbaError

from routing_engine.jit import decorators  # noqa: F401 (so that arrays are typed its way)
from routing_engine.kernels.arrays import EDGE


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.zeros(2), "Array(float64, 1, 'C', False, aligned=True)"),
        (np.zeros((2, 3), np.int32)[:, 1:], "Array(int32, 2, 'A', False, aligned=True)"),
        (np.zeros((2, 3), order="F"), "Array(float64, 2, 'F', False, aligned=True)"),
        (np.broadcast_to(np.bool_(True), 3), "Array(bool, 1, 'A', True, aligned=True)"),
    ],
)
def test_plain_arrays(array: Any, text: str) -> None:
    assert repr(numba.typeof(array)) == text  # type: ignore[no-untyped-call]


def test_records_and_arrays_that_are_not_plain() -> None:
    assert numba.typeof(np.zeros(1, EDGE)).dtype.size == EDGE.itemsize  # type: ignore[no-untyped-call]
    with pytest.raises((NumbaError, ValueError), match="MaskedArray"):
        numba.typeof(np.ma.zeros(3))  # type: ignore[no-untyped-call]

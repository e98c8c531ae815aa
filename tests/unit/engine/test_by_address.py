"""Named tuples of the engine's are handed from kernel to kernel by their address, and stay values all the same."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from routing_engine.jit.by_address import is_by_address
from routing_engine.jit.decorators import inner, kernel
from routing_engine.kernels.arrays import Inflow

ROUNDS = 5


class Others(NamedTuple):
    """As a program that uses numba beside this engine may have it."""

    first: npt.NDArray[np.float64]
    second: npt.NDArray[np.int32]


@inner
def _read(pair):  # type: ignore[no-untyped-def]
    return 10.0 * pair.most[0, 0] + pair.reached[0]


@inner
def _read_further(pair):  # type: ignore[no-untyped-def]
    return _read(pair) + 0.5


@inner
def _exchange(first, second, rounds):  # type: ignore[no-untyped-def]
    """Give each tuple the other's name by turns, and keep one of a round that is over while the next is made."""
    kept, total = first, 0.0
    for _ in range(rounds):
        first, second = second, first
        made = Inflow(second.most, first.reached)
        total = 3.0 * total + _read_further(first) - 2.0 * _read(kept) + 7.0 * _read(made)
        kept = made
    return total


@kernel
def _run(first, second, rounds):  # type: ignore[no-untyped-def]
    return _exchange(first, second, rounds) + _read_further(second)


def _make(most: float, reached: int) -> Inflow:
    return Inflow(np.full((2, 2), most), np.full(3, reached, np.int32))


def test_tuples_stay_values_where_names_are_given_anew() -> None:
    first, second = _make(3.0, 1), _make(8.0, 2)

    def read(pair: Inflow) -> float:
        return float(10.0 * pair.most[0, 0] + pair.reached[0])

    kept, total, one, other = first, 0.0, first, second
    for _ in range(ROUNDS):
        one, other = other, one
        made = Inflow(other.most, one.reached)
        total = 3.0 * total + (read(one) + 0.5) - 2.0 * read(kept) + 7.0 * read(made)
        kept = made
    assert _run(first, second, ROUNDS) == total + read(second) + 0.5


def test_tuples_of_others_are_handed_over_as_numba_does() -> None:
    values = np.zeros(1), np.zeros(1, np.int32)
    assert is_by_address(numba.typeof(_make(1.0, 1)))  # type: ignore[no-untyped-call]
    assert not is_by_address(numba.typeof(Others(*values)))  # type: ignore[no-untyped-call]

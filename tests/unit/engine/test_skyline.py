"""Linear systems within a skyline, against numpy's."""

from __future__ import annotations

import numpy as np

from routing_engine.kernels.skyline import Skyline, add_entry, factorise, solve
from tests.support.kernels import expose


def make_system(rng: np.random.Generator, size: int, ties: int) -> tuple[Skyline, np.ndarray]:
    """Return the matrix of a network of so many ties, each end joined to the ground a little; and the same, whole."""
    whole = np.diag(rng.uniform(1e-6, 1.0, size))
    ends = [tuple(sorted(map(int, rng.choice(size, 2, replace=False)))) for _ in range(ties)]
    first = np.arange(size)
    for low, high in ends:
        first[high] = min(first[high], low)
    place = np.cumsum(np.arange(size) - first + 1) - np.arange(size) - 1
    matrix = Skyline(first, place, np.zeros(int((np.arange(size) - first + 1).sum())), np.zeros(size))
    add = expose(add_entry)
    for i in range(size):
        add(matrix, i, i, whole[i, i])
    for low, high in ends:
        weight = 10 ** rng.uniform(-6, 6)
        for i, j, sign in ((low, low, 1.0), (high, high, 1.0), (low, high, -1.0)):
            add(matrix, i, j, sign * weight)
            whole[i, j] += sign * weight
        whole[high, low] -= weight
    return matrix, whole


def test_a_network_is_solved() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        size = int(rng.integers(2, 40))
        matrix, whole = make_system(rng, size, ties=2 * size)
        wanted = rng.uniform(-1.0, 1.0, size)
        found = wanted.copy()
        assert expose(factorise)(matrix)
        expose(solve)(matrix, found)
        np.testing.assert_allclose(whole @ found, wanted, rtol=1e-5, atol=1e-5)


def test_what_is_not_positive_definite_is_refused() -> None:
    matrix, _ = make_system(np.random.default_rng(2), size=5, ties=8)
    expose(add_entry)(matrix, 3, 3, -1e9)
    assert not expose(factorise)(matrix)

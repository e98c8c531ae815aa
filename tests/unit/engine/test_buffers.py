"""Copies in memory that was used before: what anybody still sees stays, and what is copied is right."""

from __future__ import annotations

import gc
import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_engine.graph.copy_on_write import Buffers
from routing_engine.kernels.arrays import EDGE


def test_memory_is_used_again_only_when_nobody_looks_at_it() -> None:
    buffers = Buffers()
    original = np.zeros(4, EDGE)
    first = buffers.copy_of(original, None)
    address = first.ctypes.data
    holders: list[object] = [first, first["a"], first[1], first[2:]]
    del first
    while holders:
        assert buffers.copy_of(original, None).ctypes.data != address
        holders.pop(0)
        gc.collect()
    again = [buffers.copy_of(original, None) for _ in range(9)]
    assert address in {each.ctypes.data for each in again}
    assert len({each.ctypes.data for each in again}) == 9
    again[0]["a"] = 7.0
    assert not any(each["a"].any() for each in again[1:])
    assert not original["a"].any()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32))
def test_a_copy_is_right_whatever_its_memory_held_before(seed: int) -> None:
    rng = random.Random(seed)
    buffers, held = Buffers(), [np.zeros(40, EDGE) for _ in range(2)]
    expected = [array.tobytes() for array in held]
    for step in range(60):
        place = rng.randrange(len(held))  # of the latest one mostly, but of any relative too
        source = len(held) - 1 if rng.random() < 0.7 else place
        rows = np.array(rng.sample(range(40), rng.randint(0, 12)), np.int64)
        is_told = rng.random() < 0.9
        copy = buffers.copy_of(held[source], rows if is_told else None)
        assert is_told or copy.tobytes() == expected[source]
        written = np.frombuffer(expected[source], EDGE).copy()
        for array in (copy, written):
            array[rows] = np.zeros(rows.size, EDGE)
            array["a"][rows] = step + 1.0
        held.append(copy)
        expected.append(written.tobytes())
        assert copy.tobytes() == expected[-1]
        while len(held) > rng.randint(2, 5):
            gone = rng.randrange(len(held))
            del held[gone], expected[gone]
        del copy
        assert [array.tobytes() for array in held] == expected

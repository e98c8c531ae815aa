"""Small helpers for the first entries of arrays, without temporary arrays."""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner


@inner
def copy_first(source, target, count):
    """Copy the first entries; a slice's assignment would allocate, and compile code for errors in shapes."""
    for i in range(count):
        target[i] = source[i]


@inner
def copy_rows(source, target, count):
    """Copy the first rows."""
    for row in range(count):
        copy_first(source[row], target[row], source.shape[1])


@inner
def add_up(values, count):
    """Return the sum of the first entries."""
    total = 0.0
    for i in range(count):
        total += values[i]
    return total


@inner
def scale_first(values, factor, count):
    """Multiply the first entries."""
    for i in range(count):
        values[i] *= factor


@inner
def find_least(values, count):
    """Return the least of the first entries."""
    least = np.inf
    for i in range(count):
        least = min(least, values[i])
    return least


@inner
def sort_by(keys, values, count):
    """Sort the first `count` values by rising keys, in place and stably: few enough for insertion."""
    for i in range(1, count):
        key, value = keys[i], values[i]
        j = i
        while j > 0 and keys[j - 1] > key:
            keys[j], values[j] = keys[j - 1], values[j - 1]
            j -= 1
        keys[j], values[j] = key, value

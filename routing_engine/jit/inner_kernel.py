"""Kernels that only kernels call: numba gets to know one when something that calls it is compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numba


class InnerKernel:
    """Stands for a kernel wherever others name it; numba asks what it is when it compiles one of those.

    Where kernels come from the cache nobody asks. To make numba's own object of each of 250 kernels takes an eighth of
    the time in which the engine's modules are imported.

    Parameters
    ----------
    function : callable
        What is compiled.
    options : mapping
        Of `numba.njit`.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self.py_func, self._options = function, options

    @cached_property
    def dispatcher(self) -> Any:
        """What compiles it, numba's own."""
        return numba.njit(**self._options)(self.py_func)

    @property
    def _numba_type_(self) -> Any:
        """By this name numba asks any object for its type."""
        return self.dispatcher._numba_type_


def stand_in(options: dict[str, Any]) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for kernels that only kernels call; where nothing is compiled, they stay plain functions."""
    is_plain = bool(vars(numba.config)["DISABLE_JIT"])
    return lambda function: function if is_plain else InnerKernel(function, options)

"""Kernels without numba's dispatcher, which works out the types of all arguments anew at every call."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from routing_engine.jit.ahead import compile_for


class Compiled:
    """A kernel that Python calls often, with arguments of the same types each time.

    The first call has the kernel compiled for its arguments, or loaded from the cache; all go straight to the machine
    code. That saves the 5 to 20 us in which the dispatcher types nested tuples of arrays. The
    machine code checks the arguments much less, so there must be no second signature that it could be called with:
    ``tests/unit/engine/test_kernels_compiled_once.py`` sees to that. Safe to use from many threads.

    Parameters
    ----------
    kernel : callable
        From `routing_engine.kernels`; a plain function where ``NUMBA_DISABLE_JIT`` is set.
    """

    __slots__ = ("_call", "kernel")

    def __init__(self, kernel: Callable[..., Any]) -> None:
        self.kernel: Any = kernel
        self._call: Callable[..., Any] = self._first_call

    def __call__(self, *arguments: Any) -> Any:
        """Run the kernel."""
        return self._call(*arguments)

    def _first_call(self, *arguments: Any) -> Any:
        is_plain = isinstance(self.kernel, FunctionType)
        self._call = self.kernel if is_plain else compile_for(self.kernel, *arguments)
        return self._call(*arguments)

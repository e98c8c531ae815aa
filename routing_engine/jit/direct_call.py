"""Kernels without numba's dispatcher, which works out the types of all arguments anew at every call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Compiled:
    """A kernel that Python calls often, with arguments of the same types each time.

    The first call goes through the dispatcher, which compiles the kernel or loads it from the cache; later ones go
    straight to the machine code. That saves the 5 to 20 us in which the dispatcher types nested tuples of arrays. The
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
        result = self.kernel(*arguments)
        signatures = getattr(self.kernel, "signatures", None)
        self._call = self.kernel.get_overload(signatures[0]) if signatures else self.kernel
        return result

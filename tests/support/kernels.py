"""Kernels that only kernels call, for tests that call them from Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from routing_engine.jit.decorators import kernel


@cache
def expose(inner: Any) -> Callable[..., Any]:
    """Compile a kernel once more, so that Python can call it; the same one each time, as even loading it takes long."""
    return kernel(inner.py_func)

"""Kernels compiled before they are called."""

from __future__ import annotations

from typing import Any

import numba


def compile_for(kernel: Any, *arguments: Any) -> None:
    """Compile a kernel for arguments of these types, or load it from the cache, without running it."""
    kernel.compile(tuple(numba.typeof(argument) for argument in arguments))  # type: ignore[no-untyped-call]

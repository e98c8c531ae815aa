"""Kernels compiled before they are called: all of them on two cores, for the first router on a machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event, Lock
from typing import Any

import numba

from routing_engine.jit.compilation import QUIET, announce
from routing_engine.jit.decorators import ENGINE, SOURCES
from routing_engine.jit.parts import find_compiler

PROGRAM = "routing_engine.warm_up"
"""What compiles all kernels; it is run as a program, as a library can't start processes in any other safe way."""

_UNDER_WAY = "ROUTING_ENGINE_COMPILING"
"""Environment variable of processes that compile already."""

_lock, _tried = Lock(), Event()


def compile_for(kernel: Any, *arguments: Any) -> Callable[..., Any]:
    """Compile a kernel for arguments of these types, or load it from the cache, without running it; return its code."""
    types = [numba.typeof(argument) for argument in arguments]  # type: ignore[no-untyped-call]
    compiler = find_compiler(kernel)
    code: Callable[..., Any] = compiler(tuple(types))
    return code


def begin_to_compile() -> None:
    """Say that this process and those that it starts compile by themselves."""
    os.environ[_UNDER_WAY] = "1"


def is_all_compiled() -> bool:
    """Whether there is a mark beside the kernels that all are compiled."""
    return _find_mark().exists()


def note_that_all_is_compiled() -> None:
    """Leave a mark beside the kernels."""
    mark = _find_mark()
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()


def compile_all_once() -> None:
    """Compile all kernels with `PROGRAM`, unless it has been done.

    Where that is not possible, or fails, this process compiles each kernel when it is called.
    """
    with _lock:
        if _is_needless() or is_all_compiled() or not _can_start_python():
            return
        import subprocess  # takes a tenth of the time of all imports of the engine, and is rarely used

        announce()
        output = subprocess.DEVNULL if os.environ.get(QUIET) else None
        path = os.pathsep.join([str(ENGINE.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
        subprocess.run(  # noqa: S603 (it is this interpreter, and a module of ours)
            [sys.executable, "-m", PROGRAM], env=os.environ | {"PYTHONPATH": path}, stdin=subprocess.DEVNULL,
            stdout=output, stderr=output, check=False,
        )  # fmt: skip
        _tried.set()


def _is_needless() -> bool:
    return bool(vars(numba.config)["DISABLE_JIT"]) or _tried.is_set() or bool(os.environ.get(_UNDER_WAY))


def _find_mark() -> Path:
    return Path(vars(numba.config)["CACHE_DIR"]) / f"all-compiled-{SOURCES}"


def _can_start_python() -> bool:
    """Whether this is Python itself, not a program that embeds it, and what is compiled can be kept."""
    try:
        _find_mark().parent.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    is_python = Path(sys.executable or "").name.startswith("python")
    return is_python and os.access(_find_mark().parent, os.W_OK)

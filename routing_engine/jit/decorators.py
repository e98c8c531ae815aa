"""How kernels are compiled, and where they are kept: on disk after the first compilation, released from the GIL."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numba
from numba.core.sigutils import normalize_signature

from routing_engine.jit import compilation  # noqa: F401 (it gives notice of the first compilation)
from routing_engine.jit.array_types import type_arrays_quickly
from routing_engine.jit.inner_kernel import stand_in
from routing_engine.jit.kernel_cache import KernelCache
from routing_engine.jit.link_once import LinkOnce, fits_numba
from routing_engine.jit.parts import Declarations

ENGINE = Path(__file__).parents[1]
_SOURCES = ("jit", "kernels", "curves")
"""Packages whose sources decide what is compiled."""


def _hash_sources() -> str:
    digest = hashlib.blake2b(digest_size=8)
    for source in sorted(source for package in _SOURCES for source in _list_sources(ENGINE / package)):
        digest.update(source.read_bytes())
    return digest.hexdigest()


def _list_sources(package: Path) -> Iterator[Path]:
    """List the sources of a package, without a look at the many files of caches."""
    for folder, folders, names in os.walk(package):
        folders[:] = [each for each in folders if each != "__pycache__"]
        yield from (Path(folder, name) for name in names if name.endswith(".py"))


SOURCES = _hash_sources()
"""Tells one state of the kernels' sources from another."""


def _use_cache_of_these_sources() -> None:
    """Keep compiled kernels in a folder named after the sources of all of them.

    numba notices that a file changed, but not that a kernel calls one in another file that did; a mixture of old and
    new kernels would then run. Set ``NUMBA_CACHE_DIR`` to keep them elsewhere.
    """
    if os.environ.get("NUMBA_CACHE_DIR"):
        return
    home = ENGINE / "kernels" / "__pycache__"
    if not os.access(home.parent, os.W_OK):
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "routing-engine"
    vars(numba.config)["CACHE_DIR"] = str(home / f"kernels-{SOURCES}")


_use_cache_of_these_sources()

_EVERY: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
if fits_numba():
    _EVERY["pipeline_class"] = LinkOnce
    type_arrays_quickly()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile what Python calls, with all that it calls. A division by zero gives an infinity, as in numpy."""
    dispatcher: Any = numba.njit(**_EVERY)(function)
    if dispatcher is function:  # where ``NUMBA_DISABLE_JIT`` is set
        return function
    if fits_numba():
        dispatcher._cache = KernelCache(function, SOURCES)
    else:
        dispatcher.enable_caching()
    return dispatcher


_CALLED_BY_KERNELS: dict[str, Any] = {**_EVERY, "no_cpython_wrapper": True}

allocating = stand_in(_CALLED_BY_KERNELS)
"""Compile what only kernels call, and what allocates arrays."""

_INNER: dict[str, Any] = {**_CALLED_BY_KERNELS, "_nrt": False}

inner = stand_in(_INNER)
"""Compile what only kernels call and what allocates nothing.

Without numba's runtime no references are counted: with it, each array handed to an inner function costs two atomic
additions, a third of all time.
"""

inlined = stand_in({**_INNER, "forceinline": True})
"""Compile into every caller what runs once for each edge: a call hands over every field of every array it is given."""


def part(returns: str, *, allocates: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """Compile a large part of kernels by itself, once for all that call it.

    Parameters
    ----------
    returns : str
        numba's name of the type of what it returns.
    allocates : bool
        Whether it makes arrays; if not, it is compiled as `inner` ones are.
    """
    options = _CALLED_BY_KERNELS if allocates else _INNER
    return lambda function: _compile_apart(function, normalize_signature(f"{returns}()")[1], options)


def _compile_apart(function: Callable[..., Any], returns: Any, options: dict[str, Any]) -> Any:
    declared: Any = numba.njit(**options)(function)
    if declared is function or not fits_numba():
        return declared
    whole: Any = numba.njit(**options)(function)
    whole._cache = KernelCache(function, SOURCES)
    declared._cache = Declarations(whole, returns)
    return declared

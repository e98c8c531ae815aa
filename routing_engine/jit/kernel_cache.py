"""Kernels from the cache, without what only the compiler needs: most of the time that a process took to start.

numba gets its compiler ready before it looks into the cache, and reads each kernel's code for linking beside the
machine code. Here both wait until something is compiled, or linked with the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from numba.core import compiler
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.runtime import nrt

from routing_engine.jit.parts import provide

_make_result: Any = compiler.CompileResult


class _LoadedLibrary(JITCodeLibrary):
    """Machine code of one kernel, with its code for linking, unread."""

    bitcode: bytes

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = llvm.parse_bitcode(self.bitcode)
            self._codegen._engine._load_defined_symbols(self._shared_module)
        return self._shared_module


def _load_library(codegen: Any, state: tuple[str, str, tuple[bytes, bytes]], names: set[str]) -> _LoadedLibrary:
    """Return a kernel whose functions of some names can be called."""
    name, _, (object_code, bitcode) = state
    library: Any = _LoadedLibrary(codegen, name)
    library.bitcode = bitcode
    library.enable_object_caching()
    library._set_compiled_object(object_code)
    library._finalize_final_module()
    codegen._engine._defined_symbols |= names
    return library  # type: ignore[no-any-return]


class _KernelFiles(CompileResultCacheImpl):
    def reduce(self, cres: Any) -> tuple[Any, ...]:
        """Return what the cache keeps: of what functions refer to in Python, only where there is something.

        Of all functions of numba's that a kernel calls, the modules would be imported with it.
        """
        *kept, others = cres._reduce()
        return (*kept, tuple([each for each in others if each.consts]), cres.library.parts)

    def rebuild(self, target_context: Any, payload: tuple[Any, ...]) -> Any:
        """Return a kernel of the cache; `CompileResult._reduce` says what there is of it."""
        state, fndesc, environment, signature, objectmode, lifted, annotation, reload_init, others, parts = payload
        provide(parts)
        names = {fndesc.llvm_func_name, fndesc.llvm_cpython_wrapper_name}
        library = _load_library(target_context.codegen(), state, names)
        for each in others:
            library.codegen.set_env(each.env_name, each)
        return _make_result(
            typing_context=target_context.typing_context,
            target_context=target_context,
            entry_point=target_context.get_executable(library, fndesc, environment),
            typing_error=None,
            type_annotation=annotation,
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            fndesc=fndesc,
            library=library,
            call_helper=None,
            environment=environment,
            metadata=None,
            reload_init=reload_init,
            referenced_envs=others,
        )


class KernelCache(FunctionCache):
    """numba's cache of one kernel, but for what it does beforehand.

    Parameters
    ----------
    function : callable
        The kernel.
    sources : str
        Tells one state of all kernels' sources from another: what is of another state is not found.
    """

    _impl_class = _KernelFiles

    def __init__(self, function: Callable[..., Any], sources: str) -> None:
        super().__init__(function)
        self._sources = sources

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        cache: Any = super()
        return (*cache._index_key(sig, codegen), self._sources)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a kernel from the cache, or None; numba gets its compiler ready itself before it compiles."""
        for name, address in vars(nrt)["_nrt"].c_helpers.items():  # what kernels call that allocate
            llvm.add_symbol(name if name.startswith("_") else f"NRT_{name}", address)
        cache: Any = super()
        return cache._load_overload(sig, target_context)

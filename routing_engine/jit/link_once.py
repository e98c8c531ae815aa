"""Kernels that only kernels call are not made into machine code of their own: it is done once, in what Python calls.

numba optimises each function with everything that it calls, and translates all of that to machine code; then the next
caller does so again, with that in it. The deeper the calls, the more often. Here an inner kernel ends as LLVM's code,
simplified by itself. A kernel that Python calls links all that it needs, and is optimised as a whole.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.codegen import CodeLibrary, JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, PassManager, register_pass
from numba.core.typed_passes import AnnotateTypes, NativeLowering

from routing_engine.jit.by_address import LowerByAddress, hand_over_by_address
from routing_engine.jit.parts import Declaration, Part, is_part, provide

TESTED = ("0.68.",)
"""How the versions of numba begin of which this is known to work: it takes the place of parts that are not public."""

_ENVIRONMENT = "_ZN08NumbaEnv"
"""How the names of variables begin in which numba keeps what a function refers to in Python."""


def fits_numba() -> bool:
    """Whether kernels can be linked once; by other versions of numba they are compiled its own way, which is slower."""
    return bool(numba.__version__.startswith(TESTED))


class _Library(JITCodeLibrary):
    """Code of one kernel, that knows of all kernels that it calls, at any depth: callees stand before callers."""

    def add_linking_library(self, library: CodeLibrary) -> None:
        """Link another kernel, or a function of numba's, and what it calls itself."""
        library._ensure_finalized()
        if isinstance(library, _InnerLibrary):
            self._linking_libraries.extend(library._linking_libraries)
        self._linking_libraries.append(library)


class _EntryLibrary(_Library):
    parts: tuple[Part, ...]

    def finalize(self) -> None:
        """Link everything, callers first, as LLVM leaves out what is not called yet; then optimise and translate."""
        libraries = list(dict.fromkeys(self._linking_libraries))[::-1]
        self.parts = tuple(each.part for each in libraries if isinstance(each, Declaration))
        self._linking_libraries = [each for each in libraries if not isinstance(each, Declaration)]
        provide(self.parts)
        super().finalize()

    def _optimize_final_module(self) -> None:
        """Tell LLVM that nobody else calls what is linked: it may find out what each function leaves as it is."""
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.linkonce_odr:
                function.linkage = llvm.Linkage.internal
        super()._optimize_final_module()


class _PartLibrary(_EntryLibrary):
    def serialize_using_object_code(self) -> tuple[str, str, tuple[bytes, bytes]]:
        """Return what the cache keeps: machine code alone, as nothing is linked with it."""
        return self.name, "object", (self._get_compiled_object(), b"")


class _InnerLibrary(_Library):
    def finalize(self) -> None:
        """Keep the code for linking. What is translated is the variable alone that numba fills for each function."""
        self._linking_libraries = list(dict.fromkeys(self._linking_libraries))
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == llvm.Linkage.external:
                function.linkage = "linkonce_odr"
        self._shared_module, variables = self._final_module, self._final_module.global_variables
        names = [each.name for each in variables if each.name.startswith(_ENVIRONMENT)]
        self._final_module = llvm.parse_assembly("\n".join(f'@"{name}" = common global ptr null' for name in names))
        self._finalize_final_module()


@register_pass(mutates_CFG=False, analysis_only=False)
class _ChooseLibrary(LoweringPass):
    _name = "choose_library"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        linked = _PartLibrary if is_part(state.func_id.func) else _InnerLibrary
        library = linked if state.flags.no_cpython_wrapper else _EntryLibrary
        state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        return True


class LinkOnce(CompilerBase):
    """numba's compiler, but for where the code of a kernel goes; given to `numba.njit` as `pipeline_class`."""

    def define_pipelines(self) -> list[PassManager]:
        """Return numba's passes, with one more before code is generated."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_ChooseLibrary, AnnotateTypes)
        passes.passes = [(LowerByAddress if each is NativeLowering else each, text) for each, text in passes.passes]
        passes.finalize()
        return [passes]


if fits_numba():
    hand_over_by_address()

"""Large parts of kernels, each compiled by itself, and called by its name.

What is linked into a kernel is optimised and translated with it: again in each kernel that links it, and not before all
of it is there. A part says what it returns, so its callers are compiled without it, also in another process. Its
machine code is loaded with the first kernel that needs it.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numba
from numba.core import compiler, itanium_mangler, types, typing
from numba.core.caching import FunctionCache
from numba.core.codegen import CodeLibrary
from numba.core.environment import Environment
from numba.core.funcdesc import PythonFunctionDescriptor

_make_result: Any = compiler.CompileResult
_make_function: Any = vars(numba)["_dynfunc"].make_function
_sign: Any = vars(typing)["signature"]
_describe: Any = PythonFunctionDescriptor
_name: Any = itanium_mangler.mangle
_make_environment: Any = Environment.from_fndesc
_generalise: Any = types.unliteral
_functions: set[Callable[..., Any]] = set()
_elsewhere: list[bool] = []


class Part(NamedTuple):
    """A part for arguments of some types."""

    module: str
    name: str
    arguments: tuple[Any, ...]

    @property
    def symbol(self) -> str:
        """What its machine code is called by, the same in every process."""
        digest = hashlib.blake2b(str(self.arguments).encode(), digest_size=8).hexdigest()
        name: str = _name(f"{self.module}.{self.name}.{digest}", ())
        return name

    def compile(self) -> None:
        """Have its machine code ready in this process: loaded from the cache, or compiled now."""
        getattr(import_module(self.module), self.name)._cache.compile(self.arguments)


class Declaration(CodeLibrary):
    """In the place of a part's code, for those who call it."""

    def __init__(self, codegen: Any, part: Part) -> None:
        super().__init__(codegen, part.symbol)
        self.part = part
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return no address: Python does not call it."""
        return 0

    def _nothing(self, *_: Any) -> None:
        """There is nothing to link."""

    add_ir_module = add_linking_library = finalize = get_function = get_llvm_str = get_asm_str = _nothing


class Declarations(FunctionCache):
    """In the place of numba's cache of a part: callers find what its machine code will be called by.

    Parameters
    ----------
    dispatcher : numba's dispatcher
        Of the same function, with a cache; it compiles.
    returns : numba's type
        Of what it returns.
    """

    def __init__(self, dispatcher: Any, returns: Any) -> None:
        function = dispatcher.py_func
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._dispatcher, self._returns = dispatcher, returns
        _functions.add(function)

    def compile(self, arguments: tuple[Any, ...]) -> Any:
        """Compile the part for arguments of these types, or load it; return its code."""
        return self._dispatcher.compile(_sign(self._returns, *arguments))

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a kernel without code."""
        arguments = tuple([_generalise(each) for each in getattr(sig, "args", sig)])
        function = self._dispatcher.py_func
        code = function.__code__
        description = _describe(
            native=True, modname=function.__module__, qualname=function.__qualname__, unique_name=function.__qualname__,
            doc="", typemap={}, restype=self._returns, calltypes={}, args=code.co_varnames[: code.co_argcount], kws=(),
            argtypes=arguments,
        )  # fmt: skip
        part = name_part(description)
        environment, library = _make_environment(description), Declaration(target_context.codegen(), part)
        return _make_result(
            typing_context=self._dispatcher.typingctx,
            target_context=target_context,
            entry_point=_make_function(import_module(part.module), part.name, "", 0, environment, (library,)),
            typing_error=None,
            type_annotation=None,
            signature=_sign(self._returns, *arguments),
            objectmode=False,
            lifted=(),
            fndesc=description,
            library=library,
            call_helper=None,
            environment=environment,
            metadata=None,
            reload_init=(),
            referenced_envs=(),
        )

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep nothing."""


def find_compiler(kernel: Any) -> Callable[..., Any]:
    """Return what compiles a kernel, or a part, for types."""
    compiler: Callable[..., Any] = (kernel._cache if is_part(kernel.py_func) else kernel).compile
    return compiler


def is_part(function: Callable[..., Any]) -> bool:
    """Whether a function is compiled by itself."""
    return function in _functions


def name_part(description: Any) -> Part:
    """Give a function that numba describes the name that its callers know."""
    part = Part(description.modname, description.qualname, description.argtypes)
    description.mangled_name = part.symbol
    return part


def leave_parts_to_others() -> None:
    """From now on, kernels are compiled without their parts, for the cache only: they can't be run in this process."""
    _elsewhere.append(True)


def provide(parts: Iterable[Part]) -> None:
    """Have the machine code of parts ready, before that of a caller is."""
    for part in parts:
        if _elsewhere:
            llvm.add_symbol(part.symbol, ctypes.cast(ctypes.pythonapi.Py_FatalError, ctypes.c_void_p).value)
        else:
            part.compile()

"""numba made quicker, in processes that only compile and then end: the same code, found with less work.

Which implementation an operation has for arguments of some types is looked for once; numba looks anew at each place
where it stands, and each time writes messages about those that do not fit.
"""

from __future__ import annotations

import gc
from typing import Any

from numba.core import compiler_lock, ir, types
from numba.core.codegen import CPUCodeLibrary
from numba.core.types.functions import BaseFunction

_PLAIN = types.Number, types.Boolean, types.Array, types.BaseTuple, types.Literal, types.NoneType

_PLACES: tuple[Any, ...] = BaseFunction, ir.Inst, CPUCodeLibrary, compiler_lock._CompilerLock
"""Whose methods are replaced."""

_find_call_type: Any = BaseFunction.get_call_type
_found: dict[Any, tuple[Any, Any]] = {}


def hurry() -> None:
    """From now on, do without what takes time and does not change what is compiled.

    Nothing looks for garbage, which took 6 % of the time, so this is for processes that end soon.
    """
    gc.disable()
    functions, instructions, libraries, lock = _PLACES
    functions.get_call_type, instructions._rec_list_vars = _remember_call_type, _list_variables
    libraries._optimize_functions = _optimise_functions
    lock.__enter__ = lock.acquire = lambda self: self._lock.acquire()  # without an event each time
    lock.release, lock.__exit__ = lambda self: self._lock.release(), lambda self, *_: self._lock.release()


def _remember_call_type(function: Any, context: Any, arguments: Any, named: Any) -> Any:
    """Return the signature of a function of numba's for arguments of these types."""
    if named or not all(isinstance(each, _PLAIN) for each in arguments):
        return _find_call_type(function, context, arguments, named)
    key = id(function), tuple(arguments)
    if key not in _found:
        _found[key] = _find_call_type(function, context, arguments, named), function  # kept, so that its id is too
    return _found[key][0]


def _list_variables(_: Any, value: Any) -> list[Any]:
    """List the variables in an instruction of numba's, or in what it holds."""
    return _collect(value.values() if isinstance(value, dict) else [value])


def _collect(values: Any) -> list[Any]:
    found: list[Any] = []
    each: Any
    for each in values:
        if isinstance(each, ir.Var):
            found.append(each)
        elif isinstance(each, ir.Inst):
            found += each.list_vars()  # type: ignore[no-untyped-call]
        elif isinstance(each, list | tuple):
            found += _collect(each)
        elif isinstance(each, dict):
            found += _collect(each.values())
    return found


def _optimise_functions(library: Any, module: Any) -> None:
    """Run LLVM's passes over single functions, but not over those that are only named: most of them."""
    module.data_layout = library._codegen._data_layout
    for function in module.functions:
        if not function.is_declaration:
            manager, builder = library._codegen._function_pass_manager()
            manager.run(function, builder)

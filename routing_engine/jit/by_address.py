"""The engine's named tuples, handed from kernel to kernel by their address.

numba hands a tuple over field by field: seven words for each array, two hundred for a request with its memory. To take
them apart before each call, and to put them together again in each function, was two thirds of all code that LLVM was
given. Here a caller writes the tuple to its stack, or hands on the address that it was given itself, and a function
reads the fields that it uses.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from llvmlite import ir as llvm_ir
from numba.core import ir, types
from numba.core.compiler_machinery import register_pass
from numba.core.datamodel.models import TupleModel, UniTupleModel
from numba.core.datamodel.registry import default_manager
from numba.core.imputils import impl_ret_borrowed
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering

from routing_engine.jit.parts import is_part, name_part

READ_ONLY = "noalias", "readonly", "captures(none)"
"""What LLVM is told of such an address: kernels write to arrays, never to the tuples that hold them."""

_INT = llvm_ir.IntType(32)


def is_by_address(fe_type: Any) -> bool:
    """Whether values of a numba type are handed over by their address."""
    return isinstance(default_manager.lookup(fe_type), _ByAddress)


class _ByAddress:
    """What the models of both kinds of named tuples have in common: of different fields, and of equal ones."""

    get_value_type: Any

    def get_argument_type(self) -> Any:
        """Return LLVM's type of an argument."""
        return self.get_value_type().as_pointer()

    def as_argument(self, builder: Any, value: Any) -> Any:
        """Return the address of a value: that from which it was read, if that is this function's argument."""
        given = _find_given_address(value)
        if given is not None:
            return given
        with builder.goto_entry_block():
            place = builder.alloca(value.type)
        builder.store(value, place)
        return place

    def from_argument(self, builder: Any, value: Any) -> Any:
        """Read the whole value."""
        for attribute in READ_ONLY:
            set.add(value.attributes, attribute)  # of llvmlite's own list of attributes, one is missing
        return builder.load(value)


class _Tuple(_ByAddress, TupleModel):
    """With a name for its type, as LLVM's text names the type of a value wherever it stands."""

    def get_value_type(self) -> Any:
        """Return LLVM's type."""
        if self._value_type is None:
            self._value_type = _name_type(self._fe_type, [each.get_value_type() for each in self._models])
        return self._value_type


class _EqualFields(_ByAddress, UniTupleModel):
    """An array for LLVM."""


def _find_given_address(value: Any) -> Any:
    """Return where a value was read, if it lies in one of the function's arguments; else None."""
    if not isinstance(value, llvm_ir.LoadInstr):
        return None
    place = origin = value.operands[0]
    while isinstance(origin, llvm_ir.GEPInstr):
        origin = origin.pointer
    is_given = isinstance(origin, llvm_ir.Argument) and READ_ONLY[1] in origin.attributes
    return place if is_given else None


_names: dict[Any, Any] = {}


def _name_type(fe_type: Any, members: list[Any]) -> Any:
    if fe_type not in _names:
        named = llvm_ir.global_context.get_identified_type(f"{fe_type.instance_class.__name__}.{len(_names)}")
        named.set_body(*members)
        _names[fe_type] = named
    return _names[fe_type]


def _model_tuple(manager: Any, fe_type: Any) -> Any:
    return (_Tuple if _holds_arrays(fe_type) else TupleModel)(manager, fe_type)


def _model_equal_fields(manager: Any, fe_type: Any) -> Any:
    return (_EqualFields if _holds_arrays(fe_type) else UniTupleModel)(manager, fe_type)


def _holds_arrays(fe_type: Any) -> bool:
    """Whether it is a tuple of ours that is worth it: a few numbers are handed over in registers."""
    is_ours = fe_type.instance_class.__module__.startswith("routing_engine.")
    return is_ours and any(isinstance(each, types.Array | types.BaseNamedTuple) for each in fe_type.types)


class _Lower(Lower):
    """numba's, but for tuples in arguments: they are not copied; what is asked of them is read where it lies."""

    def __init__(self, context: Any, library: Any, description: Any, func_ir: Any, metadata: Any = None) -> None:
        if is_part(func_ir.func_id.func):
            name_part(description)
        super().__init__(context, library, description, func_ir, metadata)

    def init(self) -> None:
        """Find the variables that stand for an argument of ours, or for a tuple in one."""
        super().init()
        self._addresses: dict[str, Any] = {}
        assigned = [each for _, block in sorted(self.blocks.items()) for each in block.find_insts(ir.Assign)]
        counts = Counter(each.target.name for each in assigned)
        self._given: set[str] = set()
        for each in assigned:
            name = each.target.name
            if counts[name] == 1 and is_by_address(self.typeof(name)) and self._is_given(each.value):
                self._given.add(name)

    def _is_given(self, value: Any) -> bool:
        if isinstance(value, ir.Arg):
            return True
        if isinstance(value, ir.Var):
            return value.name in self._given
        return isinstance(value, ir.Expr) and value.op == "getattr" and value.value.name in self._given

    def lower_assign(self, ty: Any, inst: Any) -> Any:
        """Note where the value lies, if that is in an argument."""
        name, value = inst.target.name, inst.value
        if name not in self._given:
            return super().lower_assign(ty, inst)
        if isinstance(value, ir.Arg):
            self._addresses[name] = self.fnargs[value.index].operands[0]
        elif isinstance(value, ir.Var):
            self._addresses[name] = self._addresses[value.name]
        else:
            self._addresses[name] = self._find_field(value)
        return None

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Read a single field of a tuple in an argument."""
        if expr.op != "getattr" or expr.value.name not in self._given:
            return super().lower_expr(resty, expr)
        field = self.builder.load(self._find_field(expr))
        return impl_ret_borrowed(self.context, self.builder, resty, field)

    def _find_field(self, expr: Any) -> Any:
        """Return the address of a field, found at the function's beginning, so that it is known everywhere."""
        place = self.typeof(expr.value.name).fields.index(expr.attr)
        with self.builder.goto_entry_block():
            indices = [llvm_ir.Constant(_INT, 0), llvm_ir.Constant(_INT, place)]
            return self.builder.gep(self._addresses[expr.value.name], indices, inbounds=True)

    def _alloca_var(self, name: str, fetype: Any) -> None:
        if name not in self._given:
            super()._alloca_var(name, fetype)

    def loadvar(self, name: str) -> Any:
        """Read a variable."""
        return self.builder.load(self._addresses[name]) if name in self._given else super().loadvar(name)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:
        """Write a variable, unless it is known where its value lies."""
        if name not in self._given:
            super().storevar(value, name, argidx)

    def delvar(self, name: str) -> None:
        """Give a variable up; who called holds what lies in arguments."""
        if name not in self._given:
            super().delvar(name)


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerByAddress(NativeLowering):
    """numba's pass that makes LLVM's code."""

    _name = "lower_by_address"

    @property
    def lowering_class(self) -> Any:
        """What it is made by."""
        return _Lower


def hand_over_by_address() -> None:
    """From now on, models of the engine's own named tuples are those above."""
    default_manager.register(types.NamedTuple, _model_tuple)
    default_manager.register(types.NamedUniTuple, _model_equal_fields)

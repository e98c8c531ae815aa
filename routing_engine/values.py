"""What makes a value of a class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, is_dataclass
from functools import update_wrapper
from sys import modules
from typing import Any, NoReturn, TypeVar

C = TypeVar("C", bound=type)


def seal(kind: C) -> C:
    """Refuse every assignment and deletion, as a frozen dataclass does, and fill new instances faster than it.

    For frozen dataclasses with slots too: of properties and unknown names they say otherwise that `super` got a wrong
    type.
    """
    if is_dataclass(kind):
        kind.__init__ = _write_init(kind)  # type: ignore[method-assign]
    kind.__setattr__ = _refuse_assignment  # type: ignore[assignment]
    kind.__delattr__ = _refuse_deletion  # type: ignore[assignment]
    return kind


def settle_late(name: str, settled: type, settle: Callable[[Any], Any]) -> Callable[[C], C]:
    """Let a field of a class with slots hold what its value is found from, and find it when it is first read.

    Parameters
    ----------
    name : str
        The field.
    settled : type
        Of its values; what is of another type is given to `settle` first.
    settle : callable
        Finds the value; the same one if threads read it at once.
    """

    def put_in_place(kind: C) -> C:
        setattr(kind, name, _Late(vars(kind)[name], settled, settle))
        return kind

    return put_in_place


class _Late:
    """Stands before a slot."""

    def __init__(self, slot: Any, settled: type, settle: Callable[[Any], Any]) -> None:
        self._slot, self._settled, self._settle = slot, settled, settle

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        if instance is None:
            return self
        value = self._slot.__get__(instance)
        if not isinstance(value, self._settled):
            value = self._settle(value)
            self._slot.__set__(instance, value)
        return value

    def __set__(self, instance: object, value: object) -> None:
        self._slot.__set__(instance, value)


def _write_init(kind: type) -> Callable[..., None]:
    """Write a constructor of the same arguments: an instance takes assignments until all its fields are there.

    Meanwhile it belongs to a class of the same slots that is not sealed. A frozen dataclass calls a function for each
    field instead, which takes two to three times as long; answers are made of dozens of such values.
    """
    given: Any = vars(kind)["__init__"]
    code = given.__code__
    count, most = code.co_argcount, code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[1:most]
    arguments = [*code.co_varnames[:count], *["*"] * (count < most), *code.co_varnames[count:most]]
    lines = [
        "def write(open_up, opened, sealed):",
        f" def __init__({', '.join(arguments)}):",
        "  open_up(self, '__class__', opened)",
        *[f"  self.{name} = {name}" for name in names],
        "  self.__class__ = sealed",
        *["  self.__post_init__()"] * hasattr(kind, "__post_init__"),
        " return __init__",
    ]
    opened = type(kind.__name__, kind.__bases__, {"__slots__": vars(kind)["__slots__"]})
    scope: dict[str, Any] = {}
    exec("\n".join(lines), vars(modules[kind.__module__]), scope)  # noqa: S102 (names of fields, as dataclasses do it)
    written: Any = update_wrapper(scope["write"](object.__setattr__, opened, kind), given)
    written.__defaults__, written.__kwdefaults__ = given.__defaults__, given.__kwdefaults__
    del written.__wrapped__
    init: Callable[..., None] = written
    return init


def _refuse_assignment(_: object, name: str, __: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")

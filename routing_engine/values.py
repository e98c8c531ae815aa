"""What makes a value of a class."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import NoReturn, TypeVar

C = TypeVar("C", bound=type)


def seal(kind: C) -> C:
    """Refuse every assignment and deletion, as a frozen dataclass does.

    For frozen dataclasses with slots too: of properties and unknown names they say otherwise that `super` got a wrong
    type.
    """
    kind.__setattr__ = _refuse_assignment  # type: ignore[assignment]
    kind.__delattr__ = _refuse_deletion  # type: ignore[assignment]
    return kind


def _refuse_assignment(_: object, name: str, __: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_deletion(_: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")

"""What constructors of markets take is public, and a module that imports late still says what it has."""

from __future__ import annotations

from enum import Enum
from typing import get_args, get_type_hints

import routing_engine.markets
from routing_engine.markets import installed_kinds


def test_the_module_lists_its_names() -> None:
    assert {*routing_engine.markets.__all__} <= {*dir(routing_engine.markets)}
    for name in routing_engine.markets.__all__:
        assert getattr(routing_engine.markets, name).__name__ == name


def test_types_of_fields_are_public() -> None:
    public = {getattr(routing_engine.markets, name) for name in routing_engine.markets.__all__}
    for kind in installed_kinds().values():
        for hint in get_type_hints(kind.market).values():
            for part in (hint, *get_args(hint)):
                if isinstance(part, type) and (issubclass(part, Enum) or hasattr(part, "_fields")):
                    assert part in public, f"{kind.market.__name__} takes a {part.__name__}; export it"

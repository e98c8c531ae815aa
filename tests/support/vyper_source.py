"""Contracts of our own, for what no package has: written in Vyper, compiled when a test needs them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any


@cache
def compiled(name: str) -> dict[str, Any]:
    """Return ``abi`` and ``bytecode`` of a contract in this folder."""
    import vyper  # here, since it takes half a second

    source = Path(__file__).with_name(f"{name}.vy").read_text()
    made = vyper.compile_code(source, output_formats=["abi", "bytecode"])
    return {"abi": made["abi"], "bytecode": made["bytecode"]}

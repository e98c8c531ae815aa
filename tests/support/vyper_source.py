"""Contracts of our own, for what no package has: written in Vyper, compiled when a test first needs them."""

from __future__ import annotations

from decimal import localcontext
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.support.kept import keep
from tests.support.npm import CACHE

COMPILED = CACHE.parent / "vyper"
"""What was compiled before, by any process: the compiler is loaded in half a second, and busy for up to eight."""


@cache
def compiled(name: str) -> dict[str, Any]:
    """Return ``abi`` and ``bytecode`` of a contract in this folder."""
    return compile_source(Path(__file__).with_name(f"{name}.vy").read_text())


def compile_source(source: str) -> dict[str, Any]:
    """Return ``abi`` and ``bytecode`` of a contract."""
    return keep(COMPILED, f"{version('vyper')}\n{source}", lambda: _compile(source))


def _compile(source: str) -> dict[str, Any]:
    import vyper  # here, since it takes half a second

    with localcontext(prec=78):  # what vyper sets when it is imported, and others may have changed since
        made = vyper.compile_code(source, output_formats=["abi", "bytecode"])
    return {"abi": made["abi"], "bytecode": made["bytecode"]}

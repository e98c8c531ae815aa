"""The source tree, read without running it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("routing_engine", "adapters", "api")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One file of Python.

    Parameters
    ----------
    name : str
        Dotted; a package is named by its folder.
    path : Path
        The file.
    """

    name: str
    path: Path

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    def functions(self) -> Iterator[Function]:
        """Yield every function and method, nested ones too."""
        for node in ast.walk(self.tree):
            if isinstance(node, Function):
                yield node

    def imports(self) -> Iterator[tuple[str, str]]:
        """Yield pairs of an imported module and the name that is taken from it, which is empty for ``import x``.

        Imports inside functions and imports for types only count: whoever reads the file has to follow them.
        """
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                assert node.module, f"{self.path}: write imports in full"
                assert not node.level, f"{self.path}: write imports in full"
                yield from ((node.module, alias.name) for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names)


@cache
def read_modules(root: Path = ROOT) -> dict[str, Module]:
    """Return the modules of the three packages under `root`, by name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            name = ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
            found[name] = Module(name, path)
    return found

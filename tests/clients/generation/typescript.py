"""What of the TypeScript client is generated, and how it is compiled: with tools that the tests bring along."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.support.npm_tools import BIN, install_tools, name_environment

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "clients" / "typescript"
TOOLS = ROOT / "tests" / "support" / "typescript"
MADE = ("schema.ts", "shapes.ts")
SOURCES = ("package.json", "tsconfig.json", "README.md", "LICENSE", "src")


def write_typescript(document: dict[str, Any]) -> dict[Path, str]:
    """Return the generated modules, by file."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        link_tools(folder)
        shutil.copy(PACKAGE / "scripts" / "generate.mjs", folder)
        (folder / "openapi.json").write_text(json.dumps(document))
        run_node(folder / "generate.mjs", folder / "openapi.json", folder, cwd=folder)
        return {PACKAGE / "src" / name: (folder / name).read_text() for name in MADE}


def build_package(folder: Path) -> None:
    """Compile the package in `folder`, a copy without what is not part of it."""
    link_tools(folder)
    for name in SOURCES:
        copy = shutil.copytree if (PACKAGE / name).is_dir() else shutil.copy
        copy(PACKAGE / name, folder / name)
    compile_project(folder)


def compile_project(folder: Path) -> None:
    """Run the compiler on a folder with a `tsconfig.json`."""
    run_node("node_modules/typescript/bin/tsc", "-p", ".", cwd=folder)


def link_tools(folder: Path) -> None:
    """Make compiler and generator known to programs in `folder`."""
    (folder / "node_modules").symlink_to(install_tools(TOOLS) / "node_modules", target_is_directory=True)


def run_node(*arguments: str | Path, cwd: Path, **settings: str) -> str:
    """Run node and return what it prints.

    Raises
    ------
    AssertionError
        If it fails, with what it said.
    """
    node = shutil.which("node", path=str(BIN)) or "node"
    environment = name_environment() | settings
    done = subprocess.run([node, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-6000:]}{done.stderr[-3000:]}"
    return done.stdout

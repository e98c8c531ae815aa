"""What of the Python client is generated."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from tests.clients.generation.python_models import write_models
from tests.clients.generation.python_sync import AWAITED, write_sync
from tests.support.npm_tools import BIN

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "clients" / "python" / "src" / "crosschain_checkout_client"


def write_python(document: dict[str, Any]) -> dict[Path, str]:
    """Return the generated modules, by file."""
    made = {PACKAGE / "models.py": write_models(document)}
    for name in AWAITED:
        made[PACKAGE / f"{name.removeprefix('async_')}.py"] = write_sync((PACKAGE / f"{name}.py").read_text(), name)
    return {path: _tidy(path, text) for path, text in made.items()}


def _tidy(path: Path, text: str) -> str:
    """Return text as the formatter lays it out, its imports sorted."""
    for command in (("check", "--fix", "--unsafe-fixes", "--quiet", "--select", "I,UP028"), ("format", "--quiet")):
        arguments = [BIN / "ruff", *command, "--stdin-filename", path, "-"]
        done = subprocess.run(arguments, cwd=ROOT, input=text, capture_output=True, text=True, check=True)
        text = done.stdout
    return text

"""The commands with which the tutorial for quants begins install the engine, as they stand there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

from tests.support.console import read_blocks

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "notebooks" / "first-route.md").read_text(encoding="utf-8")
BUILT_FROM = (
    "setup.cfg",
    "pyproject.toml",
    "build_backend.py",
    "LICENSE",
    "routing_engine",
    "benchmarks",
    "docs/routing_engine.md",
)
IMPORT = """
import matplotlib, pandas, pyarrow, rich
import routing_engine
print(routing_engine.__file__, routing_engine.Snapshot.sandbox())
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """What a wheel is built from, without what tests and earlier runs left."""
    for name in BUILT_FROM:
        source, target = ROOT / name, tmp_path / "tree" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    return tmp_path / "tree"


def test_the_commands_of_the_tutorial_install_the_engine(tree: Path) -> None:
    """Nothing is fetched: what the engine needs is found among what the tests have installed."""
    (block,) = read_blocks(TEXT)
    commands = [command for command, _ in block.commands]
    assert [command.split()[0] for command in commands] == ["pip", "python3", "pip"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "VIRTUAL_ENV"))}
    environment |= {
        "PATH": f"{sysconfig.get_path('scripts')}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": sysconfig.get_path("purelib"),
        "PIP_NO_INDEX": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # which means that there is none
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    script = "\n".join(["set -e", *commands, "cd /", f"python -P -c '{IMPORT}'"])
    done = subprocess.run(
        ["bash", "-c", script], cwd=tree, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    *_, shown = done.stdout.splitlines()
    assert shown.startswith(str(tree / "play"))
    printed = re.search(r"^snapshot\n```\n\n```text\n(.*?)\n```", TEXT, re.MULTILINE)
    assert printed
    assert shown.endswith(printed[1]), "the market of the first cell"

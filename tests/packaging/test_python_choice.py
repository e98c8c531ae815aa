"""Which Python the Makefile makes its environment with."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
THIS = f"Python {platform.python_version()}"
WITHOUT_ENSUREPIP = "import sys; sys.modules['ensurepip'] = None; del sys.argv[1]; exec(sys.argv.pop(1))"


def write_program(path: Path, line: str) -> str:
    """Write a program of one line of the shell; return where it is."""
    path.write_text(f"#!/bin/sh\n{line}\n")
    path.chmod(0o755)
    return str(path)


def choose(folder: Path, system: str, version: str, **variables: str) -> str:
    """Return what is chosen beside the system's Python if the one of the path says that it has this version."""
    write_program(folder / "python3", f"echo {version}")
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHON", "MAKEFLAGS"}}
    asked = "make", "-s", "--eval", "shown: ; @echo $(PYTHON)", "shown", f"SYSTEM_PYTHON={system}"
    path = f"{folder}:{environment['PATH']}"
    return subprocess.check_output(asked, cwd=ROOT, env=environment | variables | {"PATH": path}, text=True).strip()


@pytest.mark.parametrize(
    ("version", "is_systems"), [(THIS, True), (THIS.rpartition(".")[0] + ".99", True), ("Python 3.99.0", False)]
)
def test_the_systems_is_chosen_of_two_that_are_as_new(tmp_path: Path, version: str, is_systems: bool) -> None:
    assert choose(tmp_path, sys.executable, version) == (sys.executable if is_systems else "python3")


def test_one_that_makes_no_environments_is_left(tmp_path: Path) -> None:
    system = write_program(tmp_path / "system", f'exec {sys.executable} -c "{WITHOUT_ENSUREPIP}" "$@"')
    assert choose(tmp_path, system, THIS) == "python3"
    assert choose(tmp_path, str(tmp_path / "none"), THIS) == "python3"


def test_another_can_be_named(tmp_path: Path) -> None:
    assert choose(tmp_path, sys.executable, THIS, PYTHON="pypy") == "pypy"


def test_half_an_environment_is_made_whole(tmp_path: Path) -> None:
    """Without Debian's package python3-venv one is begun that has a Python and no pip; the next run has the package."""
    begun, made = tmp_path / "venv" / "bin", tmp_path / "made"
    begun.mkdir(parents=True)
    write_program(begun / "python", "exit 0")
    python = write_program(tmp_path / "python", f'echo "$@" > {made}; exit 1')
    target = f"{tmp_path}/venv/.serve-ready"
    asked = "make", "-s", target, f"VENV={tmp_path}/venv", f"PYTHON={python}"
    assert subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False).returncode != 0
    assert made.read_text().split() == ["-m", "venv", f"{tmp_path}/venv"]

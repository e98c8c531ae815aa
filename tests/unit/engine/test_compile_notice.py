"""Whoever has to wait for the compiler is told at once, and only then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

COMPILE_ONE = "from routing_engine.kernels.split.flow_network import create_network; create_network(1, 4)"
TELL_OF_IT = f"""
from routing_engine.jit.compilation import report_progress
report_progress(lambda kernel, seconds: print(kernel, seconds > 0.0))
{COMPILE_ONE}
"""


def run(code: str, cache: Path, **environment: str) -> tuple[str, str]:
    """Run a program whose kernels are kept in a folder; return what it wrote to stdout and to stderr."""
    given = {"ROUTING_ENGINE_QUIET": ""} | environment
    result = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | given | {"NUMBA_CACHE_DIR": str(cache)}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    return result.stdout, result.stderr


def test_the_first_compilation_is_told_and_a_cache_is_silent(tmp_path: Path) -> None:
    out, told = run(COMPILE_ONE, tmp_path)
    assert out == ""
    assert told.count("compiling the routing kernels") == 1
    assert "`routing-engine warm`" in told
    assert "ROUTING_ENGINE_QUIET=1" in told
    assert run(COMPILE_ONE, tmp_path) == ("", "")


def test_the_notice_can_be_silenced(tmp_path: Path) -> None:
    assert run(COMPILE_ONE, tmp_path, ROUTING_ENGINE_QUIET="1") == ("", "")


def test_progress_takes_the_place_of_the_notice(tmp_path: Path) -> None:
    out, told = run(TELL_OF_IT, tmp_path)
    assert "create_network True" in out.splitlines()
    assert told == ""

"""Whoever has to wait for the compiler is told at once, and only then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import routing_engine.router  # noqa: F401 (so that its kernels are imported)
from routing_engine.jit.compilation import QUIET, Watch, count_kernels

COMPILE_ONE = """
import numpy as np
from routing_engine.kernels.split.flow_network import create_network
create_network(1, 4, np.zeros(1, np.int64))
"""
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


def test_another_numba_compiles_its_own_way(tmp_path: Path) -> None:
    another = "import numba; numba.__version__ = '9.9.9'"
    out, _ = run(
        f"{another}\n{COMPILE_ONE}\nfrom routing_engine.jit.link_once import fits_numba; print(fits_numba())", tmp_path
    )
    assert out.split() == ["False"]


def test_progress_takes_the_place_of_the_notice(tmp_path: Path) -> None:
    out, told = run(TELL_OF_IT, tmp_path)
    assert "create_network True" in out.splitlines()
    assert told == ""


def compile_slowly(watch: Watch, count: int) -> None:
    """Have a watch hear of some kernels of the engine, and of a strange one before them."""
    homes = ["elsewhere", *["routing_engine.kernels.arrays"] * count]
    for home in homes:
        kernel = SimpleNamespace(__module__=home, __name__="kernel")
        event: Any = SimpleNamespace(data={"dispatcher": Dispatcher(kernel)})
        watch.on_start(event)
        watch.on_end(event)


class Dispatcher:
    """What numba's events carry."""

    def __init__(self, kernel: object) -> None:
        self.py_func = kernel


def test_the_number_of_kernels_is_shown_now_and_then(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(QUIET, raising=False)
    times = iter(range(0, 1000, 3))
    compile_slowly(Watch(clock=lambda: float(next(times))), 8)
    notice, remedy, *told = capsys.readouterr().err.splitlines()
    assert "compiling the routing kernels" in notice
    assert remedy.startswith("`routing-engine warm`")
    most = count_kernels()
    assert most > 100
    assert told == [
        f"routing_engine: {done} of at most {most} kernels are compiled ({seconds} s)"
        for done, seconds in ((3, 15), (5, 27), (7, 39))
    ]


def test_the_number_is_silenced_with_the_notice(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(QUIET, "1")
    times = iter(range(0, 1000, 3))
    compile_slowly(Watch(clock=lambda: float(next(times))), 8)
    assert capsys.readouterr().err == ""

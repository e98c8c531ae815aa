"""A run that asks for kernels that look at every index gets no others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.bounds_checked import CACHE, FLAG, FOLDER, are_checked


def test_kernels_look_in_a_run_that_asks_for_it_alone() -> None:
    assert are_checked() is (os.environ.get(FLAG, "0") == "1")


def test_a_run_with_kernels_that_others_may_take_for_theirs_is_refused(tmp_path: Path) -> None:
    environment = os.environ | {FLAG: "1", CACHE: str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", __file__, "--collect-only"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 4
    assert f"set {CACHE} to a folder named {FOLDER}" in run.stdout + run.stderr


@pytest.mark.parametrize("flag", ["0", "1"])
def test_what_is_compiled_with_the_flag_looks(flag: str, tmp_path: Path) -> None:
    code = "from tests.support.bounds_checked import are_checked; print(are_checked())"
    environment = os.environ | {FLAG: flag, CACHE: str(tmp_path / FOLDER)}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(flag == "1")

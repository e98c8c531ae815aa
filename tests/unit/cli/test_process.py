"""The command as a process of its own: what is imported, streams, and how it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.support.terminal import run_in_terminal

MAIN = "from routing_engine.cli import main; main()"
HEAVY = ("numpy", "numba", "networkx", "rich")


def _run(*arguments: object, code: str = MAIN, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", env=os.environ | environment, check=False
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["route", "--help"],
        ["batch", "--help"],
        ["warm", "--help"],
        ["snapshot", "--help"],
        ["snapshot", "import", "--help"],
        ["snapshot", "capture", "--help"],
        ["backtest", "--help"],
        ["analyse", "execution", "--help"],
        [],
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    told = "import atexit, sys; atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr)); "
    result = _run(*arguments, code=told + MAIN)
    modules = set(result.stderr.split())
    assert "routing_engine.cli.app" in modules
    assert not modules & set(HEAVY)
    assert "Usage: routing-engine" in result.stdout + result.stderr or arguments == ["--version"]


def test_version() -> None:
    assert _run("--version").stdout == f"routing-engine, version {version('crosschain-checkout')}\n"


def test_a_route_ends_with_code_zero_and_clean_streams() -> None:
    result = _run("route", "--from", "WETH@1", "--to", "USDC@1", "--amount", "1", "--format", "json")
    assert (result.returncode, result.stderr) == (0, "")
    assert int(json.loads(result.stdout)["amount_out"]) > 0


def test_warming_up_says_when_it_is_done() -> None:
    result = _run("warm")
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr.splitlines()[-1].startswith("routing kernels are ready (")


def test_wrong_usage_and_a_bad_file_end_with_code_two(tmp_path: Path) -> None:
    for arguments in (["route"], ["nothing"], ["route", "--order", "best"], ["snapshot", "info", tmp_path / "absent"]):
        result = _run(*arguments)
        assert (result.returncode, result.stdout) == (2, "")
        assert "Traceback" not in result.stderr


def test_a_reader_that_leaves_early_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        command = [sys.executable, "-c", MAIN, "snapshot", "info"]
        result = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode != 0
    assert result.stderr == ""


@pytest.mark.parametrize("output_format", ["table", "json"])
def test_a_full_disk_is_told_in_one_line(output_format: str) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-c", MAIN, "snapshot", "info", "--format", output_format]
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr == "Error: the output cannot be written (No space left on device)\n"


def test_an_old_terminal_gets_question_marks() -> None:
    arguments = ("route", "--from", "WETH@1", "--to", "USDC@1", "--amount", "1")
    result = _run(*arguments, PYTHONIOENCODING="ascii")
    assert result.returncode == 0
    assert "WETH@1 ? USDC@1" in result.stdout


def test_the_interrupt_key_ends_with_its_own_code() -> None:
    interrupt = "import signal, threading; from routing_engine import Snapshot; "
    # Whoever runs the tests in the background may have them ignore the key.
    interrupt += "signal.signal(signal.SIGINT, signal.default_int_handler); "
    # The interpreter may take a moment to see the signal, so there is something to interrupt.
    interrupt += "pressed = lambda cls: (signal.raise_signal(signal.SIGINT), threading.Event().wait(60)); "
    interrupt += "Snapshot.sandbox = classmethod(pressed); "
    result = _run("snapshot", "info", code=interrupt + MAIN)
    assert (result.returncode, result.stderr.strip()) == (130, "interrupted")


@pytest.mark.parametrize("name", ["click", "rich"])
def test_what_to_install_is_said(name: str) -> None:
    result = _run("--help", code=f"import sys; sys.modules[{name!r}] = None; {MAIN}")
    assert result.returncode == 2
    assert result.stderr == f"Error: {name} missing; run: pip install {name}\n"


def test_a_terminal_sees_a_spinner_and_stdout_does_not() -> None:
    shown, stdout = run_in_terminal([sys.executable, "-c", MAIN, "snapshot", "info", "--format", "json"])
    assert "Loading the sandbox market" in shown
    assert json.loads(stdout)["markets"] > 0

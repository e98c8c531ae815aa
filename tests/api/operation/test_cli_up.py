"""The whole service as `checkout up` starts it, watches over its parts, and ends it."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import requests

from api.config import Config
from api.context import build_resources
from tests.support.running import find_free_port


def up(port: int, data_dir: Path, **settings: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "api.cli", "up", "--port", str(port), "--data-dir", str(data_dir)]
    environment = {name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "BASE_URL"}}
    return subprocess.Popen(
        command, env=environment | settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def printed_key(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"sk_test_\S+", line):
            return found[0]
    raise AssertionError(process.communicate()[1])


def test_up_starts_everything_and_ends_it(tmp_path: Path) -> None:
    """By SIGTERM; `tests/docs/test_readme_service.py` ends it by Ctrl-C."""
    port = find_free_port()
    process = up(port, tmp_path)
    try:
        key = printed_key(process)
        assert requests.get(f"http://127.0.0.1:{port}/readyz", timeout=10).status_code == 200
        wrong = requests.get(f"http://127.0.0.1:{port}/v1/x", headers={"X-Api-Key": key + "x"}, timeout=10)
        assert wrong.status_code == 401
        right = requests.get(f"http://127.0.0.1:{port}/v1/x", headers={"X-Api-Key": key}, timeout=10)
        assert right.status_code == 404
        second = up(port, tmp_path)
        _, said = second.communicate(timeout=60)
        assert second.returncode == 1
        assert f"Port {port}" in said
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    assert "Traceback" not in said
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))


def test_up_says_that_nothing_can_be_offered_and_starts_nothing(tmp_path: Path) -> None:
    chains = Path(__file__).parents[1] / "operator_chains" / "bnb_and_avalanche.json"
    wrong = json.loads(chains.read_text())
    wrong["chains"][0]["sandbox"]["venues"] = {"v5": "x"}
    (tmp_path / "chains.json").write_text(json.dumps(wrong))
    (tmp_path / "market.json").write_text("{")
    for name, file, said in (
        ("CHAINS_FILE", "chains.json", "chains[0].sandbox.venues.v5: is no venue"),
        ("MARKET_FILE", "market.json", "The market can't be loaded: "),
    ):
        process = up(find_free_port(), tmp_path, **{name: str(tmp_path / file)})
        told, wrote = process.communicate(timeout=60)
        assert process.returncode == 1, wrote
        assert said in wrote
        assert "Traceback" not in wrote
        assert "Payment page" not in told


def test_up_without_the_simulated_chains_has_no_page_to_show(tmp_path: Path) -> None:
    endpoints = "8453=http://127.0.0.1:9;84532=http://127.0.0.1:9"
    process = up(find_free_port(), tmp_path, TEST_RPC_URLS=endpoints, RPC_URL_99="http://me:SECRET@a")
    told, line = "", "."
    try:
        assert process.stdout is not None
        while line and "Ctrl-C" not in told:
            told += (line := process.stdout.readline())
        assert "sk_test_" in told
        assert "Payment page:  none: " in told
    finally:
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 0, said
    warned = [json.loads(line) for line in said.splitlines() if "_not_known" in line]
    assert [(each["setting"], each["remedy"]) for each in warned] == [
        ("RPC_URL_99", "write RPC_URLS if that is meant"),
        ("TEST_RPC_URLS", "correct the number, or describe the chain in CHAINS_FILE"),
    ]
    assert "SECRET" not in said


PART = """
import signal, sys, threading
from api.startup.parts import fork_part
signal.signal(signal.SIGTERM, lambda *_: None)
part = fork_part("part", threading.Event().wait)
part.terminate()
part.join(20)
print(part.exitcode)
part.kill()
"""


def test_a_part_that_is_ended_as_it_begins_ends() -> None:
    """It had what its parent does at a signal, and was killed a quarter of a minute later."""
    done = subprocess.run([sys.executable, "-c", PART], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == f"{-signal.SIGTERM}\n"


def children_of(process: subprocess.Popen[str], command: str) -> list[int]:
    found = []
    for each in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            if Path(f"/proc/{each}/cmdline").read_text().startswith(f"checkout {command}\0"):
                found.append(int(each))
    return found


def test_up_replaces_a_worker_that_is_killed_and_ends_when_the_api_ends(tmp_path: Path) -> None:
    process = up(find_free_port(), tmp_path)
    try:
        printed_key(process)
        workers = children_of(process, "worker")
        assert len(workers) == 2
        os.kill(workers[0], signal.SIGKILL)
        deadline = time.monotonic() + 60
        while len(present := children_of(process, "worker")) < 2 or workers[0] in present:
            assert time.monotonic() < deadline
            threading.Event().wait(0.05)
        assert process.poll() is None
        (serve,) = children_of(process, "serve")
        os.kill(serve, signal.SIGKILL)
    except BaseException:
        process.send_signal(signal.SIGTERM)
        raise
    finally:
        _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "`checkout worker` was killed by signal 9; it is started again." in said
    assert "`checkout serve` ended with status -9" in said


def test_a_process_takes_the_system_clock(config: Config) -> None:
    built = build_resources(config)
    built.database.engine.connect().close()
    built.database.close()
    assert built.clock.now().utcoffset() is not None

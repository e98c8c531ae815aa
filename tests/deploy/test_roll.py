"""`roll.sh` takes no process out where nobody would take over, and leaves none out by mistake."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.deploy.files import DEPLOY
from tests.support.running import find_free_port
from tests.support.servers import wait_until


class Ready(BaseHTTPRequestHandler):
    """Answers that it is ready."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def ready() -> Iterator[list[int]]:
    """Return the ports of two processes that are ready."""
    servers = [HTTPServer(("127.0.0.1", 0), Ready) for _ in range(2)]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield [server.server_port for server in servers]
    for server in servers:
        server.shutdown()
        server.server_close()


def start(folder: Path, upstream: str, ports: Sequence[int], drain_s: str = "0") -> subprocess.Popen[str]:
    """Roll with restarts that are only written down, and with what the upstream was at each reload."""
    file = folder / "upstream.conf"
    file.write_text(upstream)
    (folder / "reload.sh").write_text(f"cat {file} >> {folder}/seen\necho -- >> {folder}/seen\n")
    settings = {
        "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "UPSTREAM": str(file), "RELOAD": f"sh {folder}/reload.sh",
        "RESTART": f"sh {folder}/restart.sh", "DRAIN_S": drain_s,
    }  # fmt: skip
    (folder / "restart.sh").write_text(f'echo "$1" >> {folder}/restarted\n')
    # A shell can't trap what is ignored when it starts, as SIGHUP is under `nohup`.
    command = ["env", "--default-signal=HUP", "sh", DEPLOY / "systemd" / "roll.sh", *map(str, ports)]
    return subprocess.Popen(command, env=settings, stderr=subprocess.PIPE, text=True)


def roll(folder: Path, upstream: str, ports: Sequence[int]) -> tuple[int, str]:
    process = start(folder, upstream, ports)
    _, said = process.communicate(timeout=30)
    return process.returncode, said


def write_upstream(*servers: str) -> str:
    return "upstream checkout {\n" + "".join(f"    server 127.0.0.1:{each};\n" for each in servers) + "}\n"


def read(folder: Path, name: str) -> str:
    file = folder / name
    return file.read_text() if file.exists() else ""


def test_each_is_taken_out_restarted_and_put_back(ready: list[int], tmp_path: Path) -> None:
    first, second = ready
    upstream = write_upstream(f"{first} weight=2 max_fails=0", str(second))
    assert roll(tmp_path, upstream, ready) == (0, "")
    assert read(tmp_path, "restarted") == f"checkout-serve@{first}\ncheckout-serve@{second}\n"
    states = read(tmp_path, "seen").split("--\n")[:-1]
    out = [[line for line in state.splitlines() if " down" in line] for state in states]
    assert [len(lines) for lines in out] == [1, 0, 1, 0]
    assert out[0] == [f"    server 127.0.0.1:{first} down weight=2 max_fails=0;"]
    assert read(tmp_path, "upstream.conf") == upstream


def test_the_only_one_that_serves_stays(ready: list[int], tmp_path: Path) -> None:
    first, second = ready
    silent = find_free_port()
    cases = {
        write_upstream(str(first)): f"Port {first} is the only one",
        write_upstream(str(first), f"{second} down"): f"port {second} is out of the upstream",
        write_upstream(str(first), str(silent)): f"port {silent} is not ready",
        write_upstream(str(second), str(silent)): f"Port {first} is not in ",
    }
    for upstream, reason in cases.items():
        status, said = roll(tmp_path, upstream, [first])
        assert (status, reason in said) == (1, True), said
        assert read(tmp_path, "upstream.conf") == upstream
    assert read(tmp_path, "restarted") == read(tmp_path, "seen") == ""


def test_what_was_left_out_is_put_back(ready: list[int], tmp_path: Path) -> None:
    first, second = ready
    assert roll(tmp_path, write_upstream(f"{first} down", str(second)), [first]) == (0, "")
    assert read(tmp_path, "upstream.conf") == write_upstream(str(first), str(second))


@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_who_is_interrupted_leaves_nothing_out(ready: list[int], tmp_path: Path, by: signal.Signals) -> None:
    """Found: a connection that broke while a port was out left it out."""
    first, second = ready
    upstream = write_upstream(str(first), str(second))
    with start(tmp_path, upstream, [first], drain_s="1") as process:
        wait_until(lambda: " down;" in read(tmp_path, "upstream.conf"), "one is taken out")
        process.send_signal(by)
        assert process.wait(30) == 130
    assert read(tmp_path, "upstream.conf") == upstream
    assert read(tmp_path, "restarted") == ""


def test_two_who_roll_at_once_take_turns_or_leave(ready: list[int], tmp_path: Path) -> None:
    """Found: each saw that the other port was in, and then both were out at once."""
    first, second = ready
    upstream = write_upstream(str(first), str(second))
    with start(tmp_path, upstream, [first], drain_s="1") as process:
        wait_until(lambda: " down;" in read(tmp_path, "upstream.conf"), "one is taken out")
        is_out = read(tmp_path, "upstream.conf")
        status, said = roll(tmp_path, is_out.replace(" down", ""), [second])  # as it was when the other one looked
        assert (status, "somebody else is rolling" in said) == (1, True), said
        assert process.wait(30) == 0
    assert read(tmp_path, "restarted") == f"checkout-serve@{first}\n"

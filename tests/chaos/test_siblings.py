"""HTTP processes that share one port: what one is told the others know, and they come and go unnoticed."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from api.counting.shared_metrics import PREFIX, share_metrics
from tests.support.running import RunningService, find_free_port, run_service
from tests.support.servers import answers, wait_until
from tests.support.shop import LINK

LIMIT = 400
TOKEN = "s3cret"
REQUESTS = 'checkout_http_requests_total{method="GET",route="/healthz",status="200"}'


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """The whole service with two HTTP processes, on SQLite."""
    settings = {"WEB_WORKERS": "2", "RATE_LIMIT_KEY": str(LIMIT), "METRICS_TOKEN": TOKEN, "REDIS_URL": ""}
    with run_service(tmp_path_factory.mktemp("siblings"), **settings) as running:
        yield running


@pytest.fixture
def parent(service: RunningService) -> psutil.Process:
    """The process that the others are forked from."""
    (up,) = (each for each in psutil.Process().children() if str(service.data_dir) in each.cmdline())
    (serve,) = (each for each in up.children() if each.cmdline()[0] == "checkout serve")
    return serve


@contextmanager
def serving(environment: Mapping[str, str]) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Serve with two processes on a port of their own until the block ends, however it ends."""
    port = find_free_port()
    command = [sys.executable, "-m", "api.cli", "serve", "--port", str(port)]
    with subprocess.Popen(command, env={**environment, "WEB_WORKERS": "2"}) as serve:
        try:
            wait_until(lambda: answers(f"http://127.0.0.1:{port}/readyz/api"), "it is ready")
            yield serve, port
        finally:
            serve.kill()


def get_metrics_folder(process: psutil.Process) -> Path:
    """Return where a process and its children count together: the folder whose lock it holds."""
    (lock,) = (Path(each.path) for each in process.open_files() if Path(each.path).parent.name.startswith(PREFIX))
    return lock.parent


class Line:
    """A connection that one of the processes has taken."""

    def __init__(self, service: RunningService) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(service.url).netloc, timeout=30)
        self.ask("/healthz")

    def ask(self, path: str, body: object = None, **headers: str) -> tuple[int, Any]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        sent = None if body is None else json.dumps(body)
        kind = {} if body is None else {"Content-Type": "application/json"}
        self._connection.request("GET" if body is None else "POST", path, sent, kind | named)
        answer = self._connection.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if answer.headers["Content-Type"] == "application/json" else text

    def is_of(self, process: psutil.Process) -> bool:
        port = self._connection.sock.getsockname()[1]
        return any(each.raddr and each.raddr[1] == port for each in process.net_connections("tcp"))

    def close(self) -> None:
        self._connection.close()


@contextmanager
def connecting(service: RunningService, parent: psutil.Process) -> Iterator[list[Line]]:
    """Give a connection to each process; an idle one is closed by the service after some seconds."""
    opened: list[Line] = []
    found: dict[int, Line] = {}
    while len(found) < 2:
        assert len(opened) < 500, "one process takes all connections"
        opened.append(line := Line(service))
        found |= {each.pid: line for each in parent.children() if line.is_of(each)}
    try:
        yield list(found.values())
    finally:
        for line in opened:
            line.close()


@pytest.fixture
def lines(service: RunningService, parent: psutil.Process) -> Iterator[list[Line]]:
    """A connection to each process."""
    with connecting(service, parent) as found:
        yield found


def test_a_limit_is_for_all_of_them_together(service: RunningService, lines: list[Line]) -> None:
    asked = [lines[number % 2].ask("/v1/tokens?limit=1", X_Api_Key=service.key)[0] for number in range(LIMIT + 10)]
    assert sorted(asked) == [200] * LIMIT + [429] * 10
    assert asked[-10:] == [429] * 10


def test_what_one_writes_the_other_reads_and_a_revoked_key_is_nobodys(
    service: RunningService, parent: psutil.Process
) -> None:
    key = json.loads(service.run("vendors", "create", "Siblings", "--json").stdout)["test_key"]
    with connecting(service, parent) as (one, other):
        status, order = one.ask("/api/v1/payment_link", LINK, X_Api_Key=key)
        path = f"/api/v1/payment/{order['payment_order_id']}"
        assert (status, other.ask(path, X_Api_Key=key)[0]) == (200, 200)
        assert other.ask(f"{path}/simulate", {"action": "pay"}, X_Api_Key=key)[0] == 200
        wait_until(lambda: "success" in str(one.ask(path, X_Api_Key=key)[1]), "the other's payment is seen")
    listed = map(json.loads, service.run("keys", "list", "Siblings", "--json").stdout.splitlines())
    (key_id,) = (each["key_id"] for each in listed if each["env_mode"] == "test")
    assert service.run("keys", "revoke", "Siblings", key_id).returncode == 0
    with connecting(service, parent) as found:
        assert [each.ask(path, X_Api_Key=key)[0] for each in found] == [401, 401]


def test_each_tells_what_all_have_counted(lines: list[Line]) -> None:
    def count(line: Line) -> float:
        _, text = line.ask("/metrics", Authorization=f"Bearer {TOKEN}")
        (found,) = (row for row in text.decode().splitlines() if row.startswith(REQUESTS))
        return float(found.split()[-1])

    before = count(lines[0])
    for _ in range(5):
        lines[1].ask("/healthz")
    assert count(lines[0]) == before + 5


def test_one_that_is_killed_is_back_while_the_other_goes_on(
    service: RunningService, parent: psutil.Process, lines: list[Line]
) -> None:
    killed, spared = parent.children()
    (line,) = (each for each in lines if each.is_of(spared))
    killed.send_signal(signal.SIGKILL)
    assert [line.ask("/readyz")[0] for _ in range(5)] == [200] * 5
    wait_until(lambda: len(set(parent.children()) - {killed, spared}) == 1, "another takes its place")
    for _ in range(20):
        Line(service).close()
    assert spared in parent.children()


def test_what_is_told_while_one_is_replaced_is_heard(service: RunningService) -> None:
    """Libraries have threads of their own, and the system may give a signal to any of them."""
    with serving(service.environment) as (serve, _):
        parent = psutil.Process(serve.pid)
        assert parent.num_threads() > 1
        first = set(parent.children())
        parent.children()[0].kill()
        wait_until(lambda: set(parent.children()) - first, "another takes its place")
        (new,) = set(parent.children()) - first
        new.kill()
        wait_until(lambda: new not in parent.children(), "its end is seen, and the next one has to wait")
        serve.terminate()
        assert serve.wait(30) == 0


def test_one_that_hangs_is_replaced_while_the_other_goes_on(service: RunningService, parent: psutil.Process) -> None:
    hung, spared = parent.children()
    hung.send_signal(signal.SIGSTOP)
    wait_until(lambda: len(set(parent.children()) - {hung, spared}) == 1, "another takes its place")
    assert not hung.is_running()
    assert spared in parent.children()


def test_what_killed_processes_left_is_removed_by_the_next_and_what_is_in_use_stays(
    service: RunningService, parent: psutil.Process
) -> None:
    """Other services of this machine begin and end meanwhile, and each of them is such a next one too."""
    used = get_metrics_folder(parent)
    with serving(service.environment) as (serve, _):
        killed = psutil.Process(serve.pid)
        children, left = killed.children(), get_metrics_folder(killed)
        with share_metrics(2):
            assert left.exists()
    psutil.wait_procs(children, 30)
    with share_metrics(2):
        assert not left.exists()
        assert used.exists()


def test_everything_ends_when_what_started_it_is_killed(tmp_path: Path) -> None:
    port = find_free_port()
    command = [sys.executable, "-m", "api.cli", "up", "--port", str(port), "--data-dir", str(tmp_path)]
    with subprocess.Popen(command, env=os.environ | {"WEB_WORKERS": "2"}, stdout=subprocess.DEVNULL) as up:
        try:
            wait_until(lambda: answers(f"http://127.0.0.1:{port}/readyz/api"), "it is ready")
            started = psutil.Process(up.pid).children(recursive=True)
        finally:
            up.kill()
    _, left = psutil.wait_procs(started, 60)
    assert (len(started), left) == (5, [])


def test_they_end_with_the_one_they_come_from(service: RunningService) -> None:
    with serving(service.environment) as (serve, port):
        children = psutil.Process(serve.pid).children()
    _, left = psutil.wait_procs(children, 30)
    assert (len(children), left) == (2, [])
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))

"""Solvers behind HTTP: the example of the documents, judged side by side; and services that do what they should not."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.cli import bench
from benchmarks.examples import http_solver
from benchmarks.harness.http import HttpSolver, write_request
from benchmarks.harness.judge import Judge
from benchmarks.harness.process import SolverProcess
from benchmarks.harness.replay import BrokenAnswer, Fault
from benchmarks.harness.solver import Unsupported
from benchmarks.reports.document import read_run
from routing_engine import Snapshot
from tests.support.bench_solvers import OURS, make_arena, make_market

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "benchmarks" / "examples" / "http_solver.py"
FEW_LINES = 40


@contextmanager
def serving(server: HTTPServer) -> Iterator[str]:
    """Run a service on this machine."""
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def answering(act: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """Run a service that takes every market, and answers a request as it likes."""

    class Handler(BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            send(self, b"{}")

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            act(self)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with serving(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as url:
        yield url


def send(handler: BaseHTTPRequestHandler, body: bytes, status: int = 200, length: int | None = None) -> None:
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.send_header("Location", "http://127.0.0.1:9/")
    handler.end_headers()
    with suppress(OSError):  # who asked may have heard enough
        handler.wfile.write(body)


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return make_market()


def test_the_example_has_few_lines_and_stands_in_the_documents() -> None:
    text = EXAMPLE.read_text()
    assert sum(bool(line.strip()) for line in text.splitlines()) <= FEW_LINES
    document = (ROOT / "docs" / "benchmarks.md").read_text()
    assert text in re.findall(r"```python\n(.*?)```", document, re.DOTALL)


def test_the_example_is_judged_side_by_side(snapshot: Snapshot, tmp_path: Path) -> None:
    arena = make_arena(snapshot)
    folder = tmp_path / "mine"
    folder.mkdir()
    snapshot.save(folder / "generated.json.gz")
    rows = [case.document() | {"amount_raw": "1"} for case in arena.groups[0].cases]
    lines = [json.dumps({name: row[name] for name in ("token_in", "token_out", "amount", "side")}) for row in rows]
    (folder / "requests.jsonl").write_text("\n".join([*lines, '{"token_in": "NONE@1"}']))
    with serving(HTTPServer(("127.0.0.1", 0), http_solver.Handler)) as url:
        command = ["run", "--suite", folder, "--solver", url, "--solver", OURS, "--runs", tmp_path / "runs"]
        done = CliRunner().invoke(bench, [str(each) for each in (*command, "--gas-price-gwei", "1")])
    assert done.exit_code == 0, done.output
    run = read_run(str(tmp_path / "runs"))
    (group,) = run["groups"]
    assert (group["name"], group["left_out"], len(group["requests"])) == ("generated", 1, len(rows))
    assert run["markets"][0]["hash"] == snapshot.id
    theirs, ours = ({(row["solver"], row["name"]): row["value"] for row in run["figures"]}, OURS)
    assert theirs[url, "coverage"] > 0
    assert theirs[url, "claim off by max"] == 0
    assert theirs[url, "failures"] == 0
    assert theirs[url, "gap p50"] >= theirs[ours, "gap p50"]
    assert (url, "memory") not in theirs
    assert (url, "cpu, warm p50") not in theirs
    assert "| two pools |" in done.output


def test_what_is_sent_is_documented(snapshot: Snapshot) -> None:
    case = make_arena(snapshot).groups[0].cases[0]
    sent = {"market": snapshot.id, **write_request(case.request, Judge(snapshot).value_gas(case.request))}
    document = (ROOT / "docs" / "benchmarks.md").read_text()
    (shown,) = (json.loads(text) for text in re.findall(r"POST /solve\n(\{.*?\n\})", document, re.DOTALL))
    assert shown.keys() == sent.keys()
    assert {name: type(value) for name, value in shown.items()} == {name: type(value) for name, value in sent.items()}


ACTS: dict[str, tuple[Callable[[Any], None], Fault]] = {
    "garbage": (lambda handler: send(handler, b"<html>"), Fault.BAD_ANSWER),
    "deep": (lambda handler: send(handler, b"[" * 10_000), Fault.BAD_ANSWER),
    "huge": (lambda handler: send(handler, b" " * (1 << 20) + b"{}"), Fault.TOO_LARGE),
    "endless": (lambda handler: send(handler, b" " * (2 << 20), length=1 << 40), Fault.TOO_LARGE),
    "refused": (lambda handler: send(handler, b"no", 500), Fault.ERROR),
    "elsewhere": (lambda handler: send(handler, b"", 302), Fault.ERROR),
    "cut short": (lambda handler: send(handler, b"{}", length=99), Fault.BAD_ANSWER),
    "gone": (lambda handler: handler.connection.shutdown(socket.SHUT_RDWR), Fault.ERROR),
}


@pytest.mark.parametrize("act", ACTS)
def test_a_service_that_misbehaves_fails_by_name(act: str, snapshot: Snapshot) -> None:
    request = make_arena(snapshot).groups[0].cases[0].request
    with answering(ACTS[act][0]) as url:
        solver = HttpSolver(url)
        solver.load(snapshot)
        with pytest.raises(BrokenAnswer) as caught:
            solver.solve(request, {})
        solver.close()
    assert caught.value.fault is ACTS[act][1]


def test_a_service_that_hangs_is_given_up(snapshot: Snapshot, tmp_path: Path) -> None:
    """Also one that sends a byte now and then: the time of the whole answer counts."""
    over = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        send(handler, b" ", length=1_000)
        while not over.wait(0.1):
            try:
                handler.wfile.write(b" ")
            except OSError:
                return

    snapshot.save(tmp_path / "market.json")
    case = make_arena(snapshot).groups[0].cases[0]
    with answering(drip) as url:
        process = SolverProcess(url, tmp_path / "market.json", 60)
        with pytest.raises(BrokenAnswer) as caught:
            process.ask({**case.document(), "gas_values": {}, "repeat": False}, 1)
        over.set()
    assert caught.value.fault is Fault.TIMEOUT
    assert not process.is_alive
    process.close()


def test_addresses_are_checked(snapshot: Snapshot) -> None:
    for wrong in ("http://", "http://host/?a=b", "https:///x"):
        with pytest.raises(Unsupported):
            HttpSolver(wrong)
    with pytest.raises(BrokenAnswer, match="fails"):
        HttpSolver("http://127.0.0.1:1").load(snapshot)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (None, "is no folder"), ({}, "no market files"), ({"a.json": ""}, "not valid JSON"),
        ({"a.json": None}, "no requests for a"), ({"a.json": None, "requests.jsonl": "{}"}, "has no request that can"),
    ],
)  # fmt: skip
def test_a_folder_that_is_no_suite_says_what_to_do(
    files: dict[str, str | None] | None, said: str, snapshot: Snapshot, tmp_path: Path
) -> None:
    folder = tmp_path / "suite"
    for name, content in (files or {}).items():
        folder.mkdir(exist_ok=True)
        if content is None:
            snapshot.save(folder / name)
        else:
            (folder / name).write_text(content)
    if files == {}:
        folder.mkdir()
    done = CliRunner().invoke(bench, ["run", "--suite", str(folder), "--solver", OURS, "--runs", str(tmp_path / "r")])
    assert done.exit_code == 2, done.output
    assert said in " ".join(done.output.split())
    assert "Traceback" not in done.output


def test_without_its_extra_the_command_says_what_to_install() -> None:
    code = """
import sys
sys.modules["clarabel"] = None
from importlib.machinery import PathFinder
class Hidden(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        return None if name in ("clarabel", "cvxpy") else super().find_spec(name, path, target)
sys.modules.pop("clarabel"); sys.meta_path[:] = [each for each in sys.meta_path if each is not PathFinder] + [Hidden]
from benchmarks.cli import bench
bench(["solvers"])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == "Error: clarabel, cvxpy missing; run: pip install 'routing-engine[bench]'\n"

"""What a server has spent, as `benchmarks.load` reads it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil

from benchmarks.load.processes import Server, find_port, serving

SPENT_S = 0.2
PARENT = f"""
import os, time
if os.fork() == 0:
    while time.process_time() < {SPENT_S}:
        pass
    os._exit(0)
os.wait()
print("ended", flush=True)
input()
"""

TITLED = """
import os, signal, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from setproctitle import setproctitle
child = os.fork()
if child == 0:
    setproctitle("checkout serve")
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
    HTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
try:
    os.wait()
except KeyboardInterrupt:
    os.kill(child, signal.SIGKILL)
    os.wait()
"""


def test_processes_that_ended_count() -> None:
    """One that was replaced took what it had spent with it, and an answer seemed to cost less than nothing."""
    with subprocess.Popen([sys.executable, "-c", PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as parent:
        if parent.stdin is None or parent.stdout is None:
            raise TypeError("the process has no input and output")
        assert parent.stdout.readline() == b"ended\n"
        server = Server(url="", log=Path(), process=psutil.Process(parent.pid))
        assert server.read_seconds() >= SPENT_S * 0.9  # the system counts in hundredths
        parent.stdin.write(b"\n")
        parent.stdin.close()


def test_the_part_that_answers_is_found_by_its_title(tmp_path: Path) -> None:
    """The workers beside it counted too, since a process with a title has its words in one piece."""
    port = find_port()
    command = [sys.executable, "-c", TITLED, str(port)]
    with serving(command, port, {}, tmp_path / "log", part="serve") as server:
        assert server.process.cmdline()[0] == "checkout serve"

"""What a server has spent, as `benchmarks.load` reads it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil

from benchmarks.load.processes import Server

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

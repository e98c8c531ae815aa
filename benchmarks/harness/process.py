"""A solver's process as its parent sees it: started, asked with a limit of time, and killed where it is spent."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.harness import worker
from benchmarks.harness.answer import MOST_BYTES
from benchmarks.harness.replay import BrokenAnswer, Fault
from routing_engine.nesting import refuse_deep

CHUNK = 1 << 16
MOST_LINE = 2 * MOST_BYTES
TAIL = 300
END_S = 2.0


class SolverProcess:
    """One solver on one market, in a process of its own.

    Parameters
    ----------
    solver : str
        Its name.
    market : Path
        Market file.
    timeout_s : float
        For the start.

    Raises
    ------
    BrokenAnswer
        If it does not start in time.
    """

    def __init__(self, solver: str, market: Path, timeout_s: float) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
        started = time.perf_counter()
        # Not the folder that this runs in comes first, but what this process imports from.
        path = os.pathsep.join([*filter(None, sys.path), str(Path.cwd())])
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", worker.__name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._errors, env={**os.environ, "PYTHONPATH": path, "ROUTING_ENGINE_QUIET": "1"}, bufsize=0,
            start_new_session=True,
        )  # fmt: skip
        self._left = b""
        try:
            self.about = self.ask({"solver": solver, "market": str(market)}, timeout_s)
        except BaseException:
            self.close()
            raise
        self.start_s = time.perf_counter() - started - self.about.get("read_s", 0.0)

    def ask(self, document: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        """Send one line and return the answer's.

        Raises
        ------
        BrokenAnswer
            With the solver's fault; where it took too long or ended, it is not alive any more.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(document).encode() + b"\n")
        except OSError as error:
            raise self._describe_end() from error
        line = self._read_line(time.monotonic() + timeout_s, timeout_s)
        try:
            refuse_deep(line)
            found = json.loads(line)
        except ValueError as error:
            self._kill()
            raise BrokenAnswer(Fault.BAD_ANSWER, f"the process wrote what is no answer: {error}") from error
        if "fault" in found:
            raise BrokenAnswer(Fault(found["fault"]), str(found["detail"]))
        return dict(found)

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process and all that it started."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
            self._process.wait(END_S)
        except (OSError, subprocess.TimeoutExpired):
            self._kill()
        self._process.stdout.close()
        self._errors.close()

    def _kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, 9)
        self._process.wait()

    def _read_line(self, deadline: float, timeout_s: float) -> bytes:
        assert self._process.stdout is not None
        while b"\n" not in self._left:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                self._kill()
                raise BrokenAnswer(Fault.TIMEOUT, f"no answer within {timeout_s:g} s")
            chunk = os.read(self._process.stdout.fileno(), CHUNK)
            if not chunk:
                raise self._describe_end()
            self._left += chunk
            if len(self._left) > MOST_LINE:
                self._kill()
                raise BrokenAnswer(Fault.TOO_LARGE, f"an answer of more than {MOST_BYTES:,} bytes")
        line, _, self._left = self._left.partition(b"\n")
        return line

    def _describe_end(self) -> BrokenAnswer:
        """Return what the process's end was: its code, and the last that it wrote."""
        self._kill()
        size = self._errors.seek(0, os.SEEK_END)
        self._errors.seek(max(0, size - TAIL))
        tail = self._errors.read().decode(errors="replace").strip().splitlines()
        return BrokenAnswer(
            Fault.CRASHED, f"the process ended with {self._process.returncode}: {tail[-1] if tail else 'no word'}"
        )

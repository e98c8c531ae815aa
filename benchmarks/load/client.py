"""wrk as the client: it spends little of the machine that it measures."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.load.processes import Server

CLIENTS = 16
_UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """What is asked again and again: one address, or several in turn."""

    path: str
    others: tuple[str, ...] = ()
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a server did.

    Parameters
    ----------
    rate : float
        Answers in a second.
    p99_ms : float
        Within which 99 of 100 came.
    cpu_ms : float
        Processor time of the answering process for each.
    refused : int
        Answers that were none of 2xx and 3xx.
    """

    rate: float
    p99_ms: float
    cpu_ms: float
    refused: int


def require_wrk() -> None:
    """Refuse to go on without the client.

    Raises
    ------
    RuntimeError
        With the remedy.
    """
    if shutil.which("wrk") is None:
        raise RuntimeError("wrk is not installed: `apt-get install wrk`, or `brew install wrk`")


def measure(server: Server, ask: Ask, seconds: int, folder: Path) -> Measured:
    """Send a request over 16 connections for some seconds."""
    script = folder / "request.lua"
    script.write_text(_write_script(ask))
    before = server.read_seconds()
    command = ["wrk", "-t1", f"-c{CLIENTS}", f"-d{seconds}s", "--latency", "-s", str(script), server.url + ask.path]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    spent = server.read_seconds() - before
    count = int(_find(r"(\d+) requests in", output)[1])
    slow = _find(r"99%\s+([\d.]+)(\w+)", output)
    refused = re.search(r"Non-2xx or 3xx responses: (\d+)", output)
    return Measured(
        rate=float(_find(r"Requests/sec:\s+([\d.]+)", output)[1]),
        p99_ms=float(slow[1]) * _UNITS[slow[2]],
        cpu_ms=spent * 1000 / max(1, count),
        refused=int(refused[1]) if refused else 0,
    )


def _find(pattern: str, output: str) -> re.Match[str]:
    found = re.search(pattern, output)
    if found is None:
        raise RuntimeError(f"wrk said something else than {pattern}: {output}")
    return found


def _write_script(ask: Ask) -> str:
    lines = [f"wrk.headers[{json.dumps(name)}] = {json.dumps(value)}" for name, value in ask.headers.items()]
    if ask.body is not None:
        lines += ['wrk.method = "POST"', 'wrk.headers["Content-Type"] = "application/json"']
        lines.append(f"wrk.body = [[{json.dumps(ask.body)}]]")
    if ask.others:
        lines.append(f"local paths = {{{', '.join(map(json.dumps, (ask.path, *ask.others)))}}}")
        lines.append("local number = 0")
        lines.append("request = function() number = number % #paths + 1; return wrk.format(nil, paths[number]) end")
    return "\n".join(lines)

"""The process in which one solver works on one market: lines of JSON in, lines of JSON out.

What a solver prints goes to stderr, so that it can't be taken for an answer. Both clocks are read here, around the
call alone.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from benchmarks.harness.answer import MOST_BYTES, Answer
from benchmarks.harness.replay import BrokenAnswer, Fault
from benchmarks.harness.solver import Solver, Unsupported, make_solver
from benchmarks.measure import PATIENT_MS
from routing_engine import RouteRequest, Snapshot
from routing_engine.extensions import describe_error

REPEAT_FOR_S, MOST_CALLS = 0.05, 5
"""A request is asked again for so long, so often at most; the fastest call is the warm one."""

KIB = 1024 if sys.platform != "darwin" else 1
SHOWN = 300

Clock = Callable[[], float]


def main() -> None:
    """Serve the requests on stdin; a solver that fails says so in an answer."""
    channel = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    begin = json.loads(sys.stdin.readline())
    try:
        solver, about = _start(begin["solver"], begin["market"])
    except Unsupported as error:
        _write(channel, {"unsupported": str(error)[:SHOWN]})
        return
    except BrokenAnswer as broken:
        _write(channel, {"fault": broken.fault, "detail": broken.detail[:SHOWN]})
        return
    except Exception as error:
        _write(channel, {"fault": Fault.ERROR, "detail": describe_error(error)[:SHOWN]})
        return
    snapshot = about.pop("snapshot")
    _write(channel, about)
    for line in sys.stdin:
        _write(channel, {**_answer(solver, snapshot, json.loads(line)), "peak_bytes": _read_peak(solver)})
    getattr(solver, "close", lambda: None)()


def _start(name: str, market: str) -> tuple[Solver, dict[str, Any]]:
    """Make a solver and let it take the market; reading the file is the harness's own time."""
    started = time.perf_counter()
    snapshot = Snapshot.load(market)
    assert snapshot.id
    read_s = time.perf_counter() - started
    solver = make_solver(name)
    solver.load(snapshot)
    named = {field: str(getattr(solver, field, ""))[:SHOWN] for field in ("name", "version")}
    return solver, {**named, "remote": _is_remote(solver), "read_s": read_s, "snapshot": snapshot}


def _answer(solver: Solver, snapshot: Snapshot, row: Mapping[str, Any]) -> dict[str, Any]:
    """Ask once, and again while that is quick; only the first answer counts."""
    request = RouteRequest(
        token_in=snapshot.token(row["token_in"]), token_out=snapshot.token(row["token_out"]),
        amount=int(row["amount"]), side=row["side"], max_hops=row["max_hops"], time_budget_ms=PATIENT_MS,
        gas_prices={int(chain): int(price) for chain, price in row["gas_prices"].items()},
    )  # fmt: skip
    gas_values = {int(chain): float(value) for chain, value in row["gas_values"].items()}
    read_cpu: Clock = getattr(solver, "cpu_clock", time.process_time)
    walls: list[float] = []
    cpus: list[float] = []
    first: Any = None
    try:
        while not walls or (row["repeat"] and len(walls) < MOST_CALLS and sum(walls) < REPEAT_FOR_S):
            cpu, wall = read_cpu(), time.perf_counter()
            found = solver.solve(request, gas_values)
            walls.append(time.perf_counter() - wall)
            cpus.append(read_cpu() - cpu)
            first = found if len(walls) == 1 else first
    except BrokenAnswer as broken:
        return {"fault": broken.fault, "detail": broken.detail[:SHOWN]}
    except Exception as error:
        return {"fault": Fault.ERROR, "detail": describe_error(error)[:SHOWN]}
    document = first.document() if isinstance(first, Answer) else first
    times = {"wall_s": walls[0], "warm_wall_s": min(walls)}
    if not _is_remote(solver):
        times |= {"cpu_s": cpus[0], "warm_cpu_s": min(cpus)}
    return {"answer": document, **times}


def _is_remote(solver: Solver) -> bool:
    return bool(getattr(solver, "remote", False))


def _read_peak(solver: Solver) -> int | None:
    """Return the most bytes that this process and those that it started have had; None where another works for it."""
    if _is_remote(solver):
        return None
    children = getattr(solver, "peak_bytes", lambda: 0)()
    return read_peak("self") + int(children)


def read_peak(process: int | str) -> int:
    """Return the most bytes that a process has had in memory, since it began to run its program.

    What `resource` says begins with the memory of the process that started this one.
    """
    status = Path(f"/proc/{process}/status")
    if status.exists():
        found = re.search(r"^VmHWM:\s+(\d+) kB", status.read_text(), re.MULTILINE)
        return int(found[1]) * 1024 if found else 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB if process == "self" else 0


def _write(channel: IO[bytes], document: Mapping[str, Any]) -> None:
    try:
        text = json.dumps(document).encode()
    except (TypeError, ValueError, RecursionError) as error:
        text = json.dumps({"fault": Fault.BAD_ANSWER, "detail": f"the answer is no JSON: {error}"[:SHOWN]}).encode()
    if len(text) > MOST_BYTES:
        text = json.dumps({"fault": Fault.TOO_LARGE, "detail": f"an answer of more than {MOST_BYTES:,} bytes"}).encode()
    channel.write(text + b"\n")


if __name__ == "__main__":
    main()

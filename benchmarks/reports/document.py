"""A run as one JSON document: what was asked, on what, what came of it, and the figures; kept one a line in a file."""

from __future__ import annotations

import gzip
import json
import os
import platform
import subprocess
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.harness.session import Limits, Round
from benchmarks.reports.figures import list_figures
from routing_engine import __version__

SCHEMA = "routing-engine-bench/1"
LIBRARIES = ("numpy", "numba", "networkx", "rustworkx", "clarabel", "cvxpy")

Run = dict[str, Any]
"""As ``run.schema.json`` describes it."""


class NoRun(Exception):
    """A file has no such run; the text has the remedy."""


def make_run(suite: str, rounds: Sequence[Round], limits: Limits, started: datetime) -> Run:
    """Return the document of a run."""
    parts = [part for played in rounds for part in played.parts]
    return {
        "schema": SCHEMA,
        "suite": suite,
        "started": started.astimezone(UTC).isoformat(timespec="seconds"),
        "facts": find_facts(),
        "limits": {"start": limits.start_s, "answer": limits.answer_s, "unit": "s"},
        "markets": [_describe_market(played) for played in rounds],
        "groups": [_describe_group(played, number) for played in rounds for number in range(len(played.arena.groups))],
        "solvers": [*{part.solver: _describe_solver(part) for part in reversed(parts)}.values()][::-1],
        "unsupported": [
            {"solver": part.solver, "market": played.arena.name, "reason": part.unsupported}
            for played in rounds
            for part in played.parts
            if part.unsupported
        ],
        "figures": [
            {key: value for key, value in asdict(each).items() if value != ""} for each in list_figures(rounds)
        ],
        "answers": [
            {"solver": part.solver, "group": group, "outcomes": [outcome.document() for outcome in outcomes]}
            for part in parts
            for group, outcomes in part.outcomes.items()
        ],
    }


def _describe_market(played: Round) -> dict[str, Any]:
    arena = played.arena
    return {
        "name": arena.name, "source": arena.source, "hash": arena.snapshot.id, "markets": len(arena.snapshot.markets),
        "tokens": len(arena.snapshot.tokens), "grows": arena.grows,
    }  # fmt: skip


def _describe_group(played: Round, number: int) -> dict[str, Any]:
    group = played.arena.groups[number]
    bounds = [
        {"scope": bound.scope} if bound.value is None else {"value": bound.value, "scope": bound.scope}
        for bound in played.bounds[group.name]
    ]
    return {
        "name": group.name, "market": played.arena.name, "hash": group.hash, "left_out": group.left_out,
        "requests": [
            {**case.document(), "bound": bound} for case, bound in zip(group.cases, bounds, strict=True)
        ],
    }  # fmt: skip


def _describe_solver(part: Any) -> dict[str, Any]:
    return {"solver": part.solver, "name": part.name, "version": part.version, "remote": part.remote}


def find_facts() -> dict[str, str]:
    """Return what a run was made with: versions, commit, machine and its load."""
    return {
        "routing_engine": __version__,
        "commit": _find_commit(),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": _find_processor(),
        "cores": str(os.cpu_count()),
        "load": ", ".join(f"{load:.1f}" for load in os.getloadavg()),
        "libraries": ", ".join(f"{name} {version}" for name in LIBRARIES if (version := _find_version(name))),
    }


def _find_version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _find_commit() -> str:
    """Return the commit of the tree that this is, with a plus where files differ from it; empty outside of one."""
    here = Path(__file__).parent
    answers = []
    for command in (["rev-parse", "--short=12", "HEAD"], ["status", "--porcelain", "--untracked-files=no"]):
        try:
            done = subprocess.run(["git", "-C", here, *command], capture_output=True, text=True, check=False)
        except OSError:
            return ""
        answers.append(done.stdout.strip() if done.returncode == 0 else "")
    return answers[0] + ("+" if answers[0] and answers[1] else "")


def _find_processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def append_run(path: Path, run: Run) -> None:
    """Add a run at the end of a file, which is made where it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(run, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n")


def read_runs(path: Path) -> list[Run]:
    """Return all runs of a file, oldest first; it may be packed, ``.gz``.

    Raises
    ------
    NoRun
        If it cannot be read, or a line is no run.
    """
    try:
        content = path.read_bytes()
        lines = (gzip.decompress(content) if path.suffix == ".gz" else content).decode().splitlines()
    except (OSError, EOFError, ValueError, zlib.error) as error:
        remedy = "`routing-engine bench run` writes one"
        raise NoRun(f"{path} cannot be read ({getattr(error, 'strerror', None) or error}); {remedy}") from error
    runs = []
    for number, line in enumerate(lines, 1):
        try:
            run = json.loads(line)
        except ValueError as error:
            raise NoRun(f"{path}, line {number}: is no run ({error})") from error
        if not isinstance(run, Mapping) or run.get("schema") != SCHEMA:
            raise NoRun(f"{path}, line {number}: is no run of {SCHEMA}; measure again with this version")
        runs.append(dict(run))
    return runs


def read_run(name: str) -> Run:
    """Read ``FILE``, its last run, or ``FILE#2``, its second; ``FILE#-2`` is the last but one.

    Raises
    ------
    NoRun
        If there is no such run.
    """
    file, _, number = name.partition("#")
    runs = read_runs(Path(file))
    try:
        place = int(number or -1)
        return runs[place - 1 if place > 0 else place]
    except (IndexError, ValueError):
        raise NoRun(f"{file} has {len(runs)} runs; there is no run {number or 'at all'}") from None


def read_told(name: str) -> tuple[Run, list[Run]]:
    """Read a run as `read_run`, and all of its suite in the same file, oldest first.

    Raises
    ------
    NoRun
        If there is no such run.
    """
    run = read_run(name)
    return run, [each for each in read_runs(Path(name.partition("#")[0])) if each["suite"] == run["suite"]]

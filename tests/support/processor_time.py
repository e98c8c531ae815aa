"""Processor time of every test, its fixtures and the processes that it starts: what it costs, whatever else is running.

`pytest -p tests.support.processor_time` with `PROCESSOR_TIMES=FILE` adds a line for each phase of a test to the file;
`python -m tests.support.processor_time FILE` says what each folder takes, and which tests and fixtures take most.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

FILE = "PROCESSOR_TIMES"
"""Variable that names the file."""
SUBREAPER = 36
"""Linux's prctl option by which a daemon's new parent is this process: PostgreSQL's server is one."""
TICKS = os.sysconf("SC_CLK_TCK")
SHOWN = 60


def pytest_configure() -> None:
    """Keep sight of daemons that tests start."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Measure the fixtures that this test is the first to need."""
    yield from _measure(item, "setup")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Measure the test."""
    yield from _measure(item, "call")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Measure the end of the fixtures that this test is the last to need."""
    yield from _measure(item, "teardown")


def _measure(item: pytest.Item, phase: str) -> Iterator[None]:
    begun = measure_all()
    try:
        return (yield)
    finally:
        with Path(os.environ[FILE]).open("a") as told:
            told.write(f"{measure_all() - begun:.4f}\t{phase}\t{item.nodeid}\n")


def measure_all() -> float:
    """Return the processor seconds of this process and of all that descend from it, ended or not."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = sum(_measure_living(child) for child in _find_children(os.getpid()))
    return time.process_time() + ended.ru_utime + ended.ru_stime + living


def _measure_living(process: int) -> float:
    """Return the seconds of a process, of those of its children that it has waited for, and of the others."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        return 0
    own = sum(map(int, fields[11:15])) / TICKS
    return own + sum(_measure_living(child) for child in _find_children(process))


def _find_children(process: int) -> Iterator[int]:
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            yield from map(int, children.read_text().split())
        except (FileNotFoundError, ProcessLookupError):
            continue


def read(file: Path) -> Mapping[tuple[str, str], float]:
    """Return seconds by test and phase."""
    lines = (line.split("\t") for line in file.read_text().splitlines())
    return {(test, phase): float(seconds) for seconds, phase, test in lines}


def show(taken: Mapping[tuple[str, str], float]) -> Iterator[str]:
    """Say what each folder takes, then each file and each test of those that take most."""
    folders, files = Counter[str](), Counter[str]()
    for (test, _), seconds in taken.items():
        path = Path(test.partition("::")[0])
        folders[str(path.parent)] += seconds
        files[str(path)] += seconds
    for totals in (folders, files, Counter({f"{phase:8} {test}": s for (test, phase), s in taken.items()})):
        yield from (f"{seconds:8.1f}  {name}" for name, seconds in totals.most_common(SHOWN))
        yield ""
    yield f"{sum(taken.values()):8.1f}  in all"


if __name__ == "__main__":
    print("\n".join(show(read(Path(sys.argv[1])))))

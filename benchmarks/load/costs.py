"""``python -m benchmarks.load.costs``: what each thing that the service does costs, on PostgreSQL, one after the other.

Processor time of this process and of the database's, statements, what is written to the log, and what stays on disk.
Nothing else is measured meanwhile, so the figures add up; how much of it fits into a second is `make soak`'s to say.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
from sqlalchemy import event

from api.config import Config
from api.context import build_resources
from api.logs import configure_logging
from api.secrets.keys import make_key
from api.services.resources import Resources
from api.storage.migrations import upgrade
from benchmarks.load.work import Work, run_receiver
from tests.support.machines import Machine, make_machine_folder

STORED = """
SELECT sum(pg_total_relation_size(oid)) FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
"""
WRITTEN = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What one of its kind costs; times in ms, sizes in bytes."""

    name: str
    service_ms: float
    database_ms: float
    statements: float
    logged: float
    stored: float


class Meter:
    """Measures actions on one database."""

    def __init__(self, machine: Machine, resources: Resources) -> None:
        self._machine = machine
        self._statements = 0
        self._database = psycopg.connect(machine.place, autocommit=True)
        event.listen(resources.database.engine, "before_cursor_execute", self._count)

    def measure(self, name: str, act: Callable[[], object], times: int, *, each: int = 1) -> Cost:
        """Do something so many times, once before to warm up; return what one of it costs.

        Parameters
        ----------
        each : int
            How many of its kind are done each time.
        """
        act()
        before = self._read()
        for _ in range(times):
            act()
        after = self._read()
        service, database, statements, logged, stored = (
            (new - old) / times / each for new, old in zip(after, before, strict=True)
        )
        return Cost(
            name=name,
            service_ms=service * 1000,
            database_ms=database * 1000,
            statements=statements,
            logged=logged,
            stored=stored,
        )

    def close(self) -> None:
        """Close the connection of its own."""
        self._database.close()

    def _read(self) -> tuple[float, ...]:
        logged, stored = (float((self._database.execute(text).fetchone() or (0,))[0]) for text in (WRITTEN, STORED))
        database = sum(sum(process.cpu_times()[:2]) for process in self._machine.list_processes())
        return time.process_time(), database, self._statements, logged, stored

    def _count(self, *_: Any) -> None:
        self._statements += 1


def measure_all(machine: Machine, folder: Path, times: int) -> list[Cost]:
    """Measure everything on a database of its own."""
    config = Config(
        data_dir=folder,
        database_url=machine.url,
        secret_keys=(make_key(),),
        allow_local_webhooks=True,
        **dict.fromkeys(("rate_limit_key", "rate_limit_page", "rate_limit_routing", "rate_limit_keyless"), 10**6),
    )
    resources = build_resources(config)
    upgrade(resources.database.engine)
    meter = Meter(machine, resources)
    with run_receiver() as hook:
        work = Work(resources, hook)
        found = [
            meter.measure("an order", work.create, times),
            meter.measure("a read", work.read, times),
            meter.measure("the page", work.show, times),
            meter.measure("a quote", work.quote, times),
            meter.measure("an order that is paid", work.pay, max(1, times // 20)),
            meter.measure("a webhook", lambda: work.tell(50), max(1, times // 50), each=50),
            meter.measure("a look at an idle chain", work.look, times),
        ]
        work.end()
    meter.close()
    resources.database.close()
    return found


def main() -> None:
    """Measure and print a table in Markdown."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load.costs", description=__doc__)
    parser.add_argument("--times", type=int, default=400, help="how often each thing is done")
    given = parser.parse_args()
    configure_logging("ERROR")
    short = make_machine_folder()
    machine = Machine(short, "data")
    try:
        machine.make()
        machine.start("autovacuum=off")
        with tempfile.TemporaryDirectory() as folder:
            costs = measure_all(machine, Path(folder), given.times)
    finally:
        machine.stop()
        shutil.rmtree(short, ignore_errors=True)
    print("| | service, ms | database, ms | statements | bytes logged | bytes stored |\n|---|---|---|---|---|---|")
    for cost in costs:
        print(
            f"| {cost.name} | {cost.service_ms:.1f} | {cost.database_ms:.1f} | {cost.statements:.0f} "
            f"| {cost.logged:,.0f} | {cost.stored:,.0f} |"
        )
    print(f"memory of this process: {psutil.Process().memory_info().rss / 1e6:.0f} MB")


if __name__ == "__main__":
    main()

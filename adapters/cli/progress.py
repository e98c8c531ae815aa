"""The progress of captures, on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from adapters.cli.capture import Progress
from routing_engine.reference.chains import CHAINS


@contextmanager
def show_progress() -> Iterator[Progress]:
    """Yield what to tell progress: a bar for each chain on stderr if that is a terminal, else nothing is shown."""
    if not sys.stderr.isatty():
        yield lambda chain_id, done, asked: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("calls"))
    with Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True)) as bars:
        tasks: dict[int, TaskID] = {}

        def show(chain_id: int, done: int, asked: int) -> None:
            if chain_id not in tasks:
                name = CHAINS[chain_id].name if chain_id in CHAINS else f"chain {chain_id}"
                tasks[chain_id] = bars.add_task(name, total=None)
            # What will be asked next is not known yet: the total grows.
            bars.update(tasks[chain_id], completed=done, total=asked)

        yield show

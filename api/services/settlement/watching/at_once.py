"""Runs several things at the same time, and waits for none of them forever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait


def run_at_once(tasks: Sequence[Callable[[], None]], timeout_s: float) -> None:
    """Run tasks side by side; those that take longer than `timeout_s` go on by themselves.

    A single one runs in the caller's thread. What a task raises that has ended is raised here.
    """
    if len(tasks) == 1:
        tasks[0]()
    elif tasks:
        pool = ThreadPoolExecutor(len(tasks), thread_name_prefix="at-once")
        ended, _ = wait([pool.submit(task) for task in tasks], timeout=timeout_s)
        pool.shutdown(wait=False)
        for each in ended:
            each.result()

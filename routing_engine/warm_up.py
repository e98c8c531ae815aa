"""Compile all kernels into their cache, at installation or at the start of a process.

Run it by ``routing-engine warm``, or where that is not installed by ``python -m routing_engine.warm_up --formulas``.
"""

from __future__ import annotations

import sys
import time
from multiprocessing import get_context
from typing import Any

from routing_engine.batch.rehearsal import rehearse
from routing_engine.jit.ahead import begin_to_compile, compile_for, is_all_compiled, note_that_all_is_compiled
from routing_engine.jit.compilation import report_progress
from routing_engine.jit.link_once import fits_numba
from routing_engine.jit.parts import leave_parts_to_others
from routing_engine.jit.quicker import hurry
from routing_engine.router import Router
from routing_engine.warm_up_kernels import list_kernels

FORMULAS = "--formulas"
"""Option of the program: whether formulas of pools are compiled too."""

SHOWN_S = 2.0
"""Kernels that take less time are not shown."""


def warm_up() -> None:
    """Run every kernel once, so that no request ever waits for a compiler; from the cache it takes a second or less."""
    rehearse(Router)


def main(*, with_formulas: bool = False) -> None:
    """Warm up on two cores, and show on stderr what is compiled and how long it took.

    Formulas are for who prepares a machine for whatever pools may come: a router compiles those that it meets.
    """
    started = time.perf_counter()
    begin_to_compile()
    report_progress(_show)
    if with_formulas or not is_all_compiled():
        _compile_on_two_cores(with_formulas=with_formulas)
    warm_up()
    note_that_all_is_compiled()
    print(f"routing kernels are ready ({time.perf_counter() - started:.1f} s)", file=sys.stderr)


def _compile_on_two_cores(*, with_formulas: bool) -> None:
    """Have two processes compile what Python calls, and large parts of it, each from another end of the list."""
    # Where it is safe, processes begin as copies of this one, so that they need not import all of this anew.
    context: Any = get_context("fork" if sys.platform == "linux" else "spawn")
    try:
        taken = context.Value("i", 0)
    except OSError as error:
        print(f"Processes can share no memory ({error.strerror}): one compiles; see to /dev/shm", file=sys.stderr)
        for kernel, arguments in list_kernels(with_formulas=with_formulas):
            compile_for(kernel, *arguments)
        return
    helpers = [
        context.Process(target=_compile_share, args=(taken, is_first, with_formulas)) for is_first in (True, False)
    ]
    for each in helpers:
        each.start()
    for each in helpers:
        each.join()


def _show(kernel: str, seconds: float) -> None:
    if seconds >= SHOWN_S:
        print(f"compiled {kernel} ({seconds:.1f} s)", file=sys.stderr, flush=True)


def _compile_share(taken: Any, is_first: bool, with_formulas: bool) -> None:
    """Compile one kernel after the other, until all are taken by this process or by the other."""
    report_progress(_show)
    leave_parts_to_others()
    if fits_numba():
        hurry()
    kernels = list_kernels(with_formulas=with_formulas)
    for kernel, arguments in kernels if is_first else reversed(kernels):
        with taken.get_lock():
            if taken.value == len(kernels):
                return
            taken.value += 1
        compile_for(kernel, *arguments)


if __name__ == "__main__":
    main(with_formulas=FORMULAS in sys.argv)

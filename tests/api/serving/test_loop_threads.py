"""Threads that work for an event loop: each result and error comes to who waits, and few calls wake the loop."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from typing import Any

import pytest

from api.serving.loop_threads import LoopThreads, NoThread

COUNT = 200


def fail() -> None:
    raise LookupError("nothing there")


def test_each_result_comes_to_who_waits_for_it() -> None:
    threads, seen = LoopThreads(3, "few"), set()

    def work(number: int) -> int:
        seen.add(threading.current_thread().name)
        return number

    async def ask() -> list[int]:
        return await asyncio.gather(*[threads.run(lambda each=number: work(each), COUNT) for number in range(COUNT)])

    for _ in range(2):  # of two loops, one after the other
        assert asyncio.run(ask()) == list(range(COUNT))
    assert seen <= {"few_1", "few_2", "few_3"}


def test_no_more_threads_begin_than_tasks_are_under_way() -> None:
    threads = LoopThreads(8, "needed")

    async def ask() -> None:
        for _ in range(20):
            await threads.run(time.monotonic, 1)

    asyncio.run(ask())
    assert [each.name for each in threading.enumerate() if each.name.startswith("needed")] == ["needed_1"]


def test_an_error_comes_to_who_waits_and_the_thread_goes_on() -> None:
    threads = LoopThreads(1, "one")

    async def ask() -> Any:
        with pytest.raises(LookupError, match="nothing there"):
            await threads.run(fail, 1)
        return await threads.run(lambda: "well", 1)

    assert asyncio.run(ask()) == "well"


def test_who_waits_no_longer_is_not_told() -> None:
    threads, may_end = LoopThreads(1, "left"), threading.Event()

    async def ask() -> Any:
        left = threads.run(lambda: may_end.wait(20), 1)
        left.cancel()
        may_end.set()
        return await threads.run(lambda: "next", 1)

    assert asyncio.run(ask()) == "next"


def test_the_loop_is_called_once_for_all_that_is_done_when_it_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, calls = LoopThreads(1, "once"), []

    async def ask() -> list[int]:
        loop = asyncio.get_running_loop()
        call = loop.call_soon_threadsafe
        monkeypatch.setattr(loop, "call_soon_threadsafe", lambda act: (calls.append(1), call(act))[1])
        asked = [threads.run(lambda each=number: each, 1) for number in range(5)]
        while len(threads._news._done) < len(asked):  # type: ignore[union-attr]
            time.sleep(0)  # the loop does not look meanwhile
        return await asyncio.gather(*asked)

    assert asyncio.run(ask()) == [0, 1, 2, 3, 4]
    assert len(calls) == 1


def test_threads_end_with_what_they_belong_to() -> None:
    async def ask(threads: LoopThreads) -> None:
        await asyncio.gather(*[threads.run(time.monotonic, 2) for _ in range(2)])

    asyncio.run(ask(LoopThreads(2, "ending")))
    gc.collect()
    deadline = time.monotonic() + 20
    while any(each.name.startswith("ending") for each in threading.enumerate()):
        assert time.monotonic() < deadline


class Shortage:
    """A system that lets some threads begin and then none, until there is `room`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        self.room, self._start = room, threading.Thread.start
        monkeypatch.setattr(threading.Thread, "start", lambda thread: self.start(thread))

    def start(self, thread: threading.Thread) -> None:
        if self.room == 0:
            raise RuntimeError("can't start new thread")
        self.room -= 1
        self._start(thread)


def test_a_system_without_threads_is_asked_again_by_each_task(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, shortage = LoopThreads(2, "short"), Shortage(monkeypatch, room=0)

    async def ask() -> Any:
        for _ in range(3):  # more than there may be threads
            with pytest.raises(NoThread, match="can't start"):
                threads.run(lambda: "lost", 1)
        shortage.room = 1
        return await asyncio.wait_for(threads.run(lambda: "well", 2), 20)

    assert asyncio.run(ask()) == "well"


def test_where_no_more_threads_begin_those_that_are_there_do_all(monkeypatch: pytest.MonkeyPatch) -> None:
    threads = LoopThreads(8, "few_only")
    Shortage(monkeypatch, room=1)

    async def ask() -> list[int]:
        tasks = [threads.run(lambda each=number: each, 8) for number in range(8)]
        return await asyncio.wait_for(asyncio.gather(*tasks), 20)

    assert asyncio.run(ask()) == list(range(8))

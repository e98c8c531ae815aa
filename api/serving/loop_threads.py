"""Threads that work for an event loop.

`run_in_executor` makes two futures for each request, with a lock, a condition and callbacks, and wakes the loop for
each answer. Here a request is put into a queue, and the loop is woken once for all answers that are there when it looks
(ADR 141).
"""

from __future__ import annotations

import threading
import weakref
from asyncio import AbstractEventLoop, Future, get_running_loop
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any, TypeVar

R = TypeVar("R")
Task = tuple["Future[Any]", Callable[[], Any], "_News"]
"""Who waits, what is to be done, and who is told."""


class NoThread(Exception):
    """The system lets no thread begin, and there is none yet."""


class LoopThreads:
    """Threads that begin as they are needed, and end with this object or with the process.

    Parameters
    ----------
    most : int
        How many.
    name : str
        What they are called in a debugger.
    """

    def __init__(self, most: int, name: str) -> None:
        self._most, self._name, self._begun = most, name, 0
        self._tasks: SimpleQueue[Task | None] = SimpleQueue()
        self._news: _News | None = None
        self._end = weakref.finalize(self, self._tasks.put, None)

    def run(self, act: Callable[[], R], under_way: int) -> Future[R]:
        """Have `act` called by the next thread that is free; called on the loop that waits for it.

        Parameters
        ----------
        under_way : int
            How many tasks are not done yet, this one included: so many threads are needed.

        Raises
        ------
        NoThread
            If there is none to do it, and none can begin.
        """
        loop = get_running_loop()
        if self._news is None or self._news.loop is not loop:
            self._news = _News(loop)
        if self._begun < min(under_way, self._most):
            self._begin()
        future: Future[R] = loop.create_future()
        self._tasks.put((future, act, self._news))
        return future

    def _begin(self) -> None:
        """Have one more thread; where the system has none, those that are there do, and the next task tries anew.

        Only what has begun is counted: otherwise tasks would be put into a queue that nobody reads.
        """
        name = f"{self._name}_{self._begun + 1}"
        try:
            threading.Thread(target=_work, args=(self._tasks,), name=name, daemon=True).start()
        except RuntimeError as error:
            if self._begun == 0:
                raise NoThread(str(error)) from error
        else:
            self._begun += 1


class _News:
    """Tells a loop what has been done."""

    def __init__(self, loop: AbstractEventLoop) -> None:
        self.loop = loop
        self._done: deque[tuple[Future[Any], Any, BaseException | None]] = deque()
        self._is_called = False

    def add(self, future: Future[Any], result: Any, error: BaseException | None) -> None:
        """Have the loop told; by any thread.

        What is added before `_tell` looks is told by it, so it is called once for all of that. Two threads that find it
        not called may both call it, which does no harm.
        """
        self._done.append((future, result, error))
        if not self._is_called:
            self._is_called = True
            with suppress(RuntimeError):  # the loop has ended, and whoever waited with it
                self.loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        self._is_called = False  # first: who adds something from now on calls again
        while self._done:
            future, result, error = self._done.popleft()
            if future.done():  # nobody waits for it any more
                continue
            if error is None:
                future.set_result(result)
            else:
                future.set_exception(error)


def _work(tasks: SimpleQueue[Task | None]) -> None:
    while (task := tasks.get()) is not None:
        future, act, news = task
        result, error = None, None
        try:
            result = act()
        except BaseException as raised:  # whatever it is, it is the caller's
            error = raised
        news.add(future, result, error)
        del task, future, act, news, result, error  # nothing of a request is kept while the next one is waited for
    tasks.put(None)  # for the next thread

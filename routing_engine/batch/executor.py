"""Many requests side by side: over threads, or over any executor of `concurrent.futures`."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import cast

from routing_engine.batch.rehearsal import rehearse
from routing_engine.batch.searcher import BuildSearcher, Searcher
from routing_engine.errors import InvalidRequest
from routing_engine.request import RouteRequest
from routing_engine.result import RouteResult
from routing_engine.snapshot.snapshot import Snapshot

CHUNK = 8
"""Requests that are handed over together."""

AHEAD = 2
"""Chunks that wait for each worker, so that none of them ever waits for the caller."""

REMEMBERED = 4
"""Searchers that a process keeps for those who send it requests."""

Progress = Callable[[int, int], None]
"""Told the number of requests that are answered, and of all."""

Chunk = Sequence[RouteRequest]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedResult:
    """A result and the time that its search took.

    Parameters
    ----------
    result : RouteResult
        As `Router.find_routes` returns it.
    elapsed_ms : float
        From the search's start to its end where it ran; waiting for other searches of that process counts.
    """

    result: RouteResult
    elapsed_ms: float

    @property
    def gap_bps(self) -> float | None:
        """How far the best route can be from the best there is; None where nothing is proven."""
        certificate = self.result.certificate
        return certificate.gap_bps if certificate else None


def answer_requests(
    searcher: Searcher,
    requests: Sequence[RouteRequest],
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Iterator[TimedResult]:
    """Answer requests side by side; yield in their order, each as soon as it and all before it are there.

    Parameters
    ----------
    searcher : Searcher
        On whose snapshot to search.
    requests : sequence of RouteRequest
        What to answer.
    executor : concurrent.futures.Executor, optional
        Where to search; threads of this process without one. Unless it is a `ThreadPoolExecutor`, the snapshot is sent
        to each of its processes that does not have it yet, and they keep a searcher of the same class on it. The
        executor is not shut down.
    workers : int, optional
        How many threads to use, or how many of the executor's workers to keep busy; by default one for each processor.
    progress : callable, optional
        Told after each answer, in the caller's thread.

    Raises
    ------
    InvalidRequest
        If `workers` is no int of at least 1, or `executor` is none.
    """
    if workers is not None and (not isinstance(workers, int) or workers < 1):
        raise InvalidRequest("workers", f"must be an int of at least 1, not {workers!r}")
    require_executor(executor)
    workers = workers or os.cpu_count() or 1
    if executor is None:
        with ThreadPoolExecutor(workers, "quotes") as threads:
            yield from answer_requests(searcher, requests, executor=threads, workers=workers, progress=progress)
        return
    shared = isinstance(executor, ThreadPoolExecutor)
    send = _send_to_threads(searcher, executor) if shared else _send_to_processes(searcher, executor)
    done = 0
    for chunk in _yield_in_order(send, searcher.snapshot, _cut_into_chunks(requests), workers):
        for answer in chunk:
            done += 1
            if progress:
                progress(done, len(requests))
            yield answer


def require_executor(executor: object) -> None:
    """Refuse what is no executor.

    Raises
    ------
    InvalidRequest
        With the remedy.
    """
    if not isinstance(executor, Executor | None):
        remedy = "leave it out for threads of this process, or give one, such as ProcessPoolExecutor()"
        raise InvalidRequest("executor", f"must be an Executor of concurrent.futures, not {executor!r}; {remedy}")


def _cut_into_chunks(requests: Sequence[RouteRequest]) -> Iterator[Chunk]:
    for start in range(0, len(requests), CHUNK):
        yield requests[start : start + CHUNK]


Reply = list[TimedResult] | None
"""None from a process that needs the snapshot first."""

Waiting = deque[tuple[Chunk, "Future[Reply]"]]
"""Chunks that were handed over, in their order."""

Send = Callable[[Chunk, Snapshot | None], "Future[Reply]"]
"""Hand over a chunk, with the snapshot for a process that lacks it."""


def _send_to_threads(searcher: Searcher, executor: Executor) -> Send:
    return lambda chunk, snapshot: executor.submit(_answer_chunk, searcher, chunk)


def _send_to_processes(searcher: Searcher, executor: Executor) -> Send:
    build, snapshot_id = cast(BuildSearcher, type(searcher)), searcher.snapshot.id
    return lambda chunk, snapshot: executor.submit(_answer_in_process, build, snapshot_id, snapshot, chunk)


def _yield_in_order(
    send: Send, snapshot: Snapshot, chunks: Iterator[Chunk], workers: int
) -> Iterator[list[TimedResult]]:
    """Keep all workers busy; what has not begun when the caller stops is withdrawn."""
    waiting: Waiting = deque()
    try:
        for chunk in chunks:
            waiting.append((chunk, send(chunk, None)))
            if len(waiting) > workers * AHEAD:
                yield _await_first(waiting, send, snapshot, workers)
        while waiting:
            yield _await_first(waiting, send, snapshot, workers)
    finally:
        for _, future in waiting:
            future.cancel()


def _await_first(waiting: Waiting, send: Send, snapshot: Snapshot, workers: int) -> list[TimedResult]:
    """Return the reply to the first chunk; where processes ask for the snapshot, send it as often as there are some."""
    while (reply := waiting[0][1].result()) is None:
        sent = 0
        for place, (chunk, future) in enumerate(waiting):
            if future.done() and future.result() is None:
                waiting[place] = (chunk, send(chunk, snapshot if sent < workers else None))
                sent += 1
    waiting.popleft()
    return reply


def _answer_chunk(searcher: Searcher, chunk: Chunk) -> list[TimedResult]:
    found = []
    for request in chunk:
        started = searcher.clock()
        result = searcher.find_routes(request)
        found.append(TimedResult(result=result, elapsed_ms=(searcher.clock() - started) * 1e3))
    return found


_SEARCHERS: dict[tuple[BuildSearcher, str], Searcher] = {}
_SEARCHERS_LOCK = threading.Lock()


def _answer_in_process(build: BuildSearcher, snapshot_id: str, snapshot: Snapshot | None, chunk: Chunk) -> Reply:
    """Search in a process that keeps its own searchers, by snapshot; None where this one is missing."""
    with _SEARCHERS_LOCK:
        searcher = _SEARCHERS.pop((build, snapshot_id), None)
        if searcher is None and snapshot is not None:
            rehearse(build)
            searcher = build(snapshot)
        if searcher is None:
            return None
        _SEARCHERS[build, snapshot_id] = searcher
        while len(_SEARCHERS) > REMEMBERED:
            del _SEARCHERS[next(iter(_SEARCHERS))]
    return _answer_chunk(searcher, chunk)

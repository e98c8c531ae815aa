"""Many requests side by side: over threads, or over any executor of `concurrent.futures`."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from routing_engine.errors import InvalidRequest
from routing_engine.request import RouteRequest, RouteResult

if TYPE_CHECKING:
    from routing_engine.router import Router
    from routing_engine.snapshot.snapshot import Snapshot

CHUNK = 8
"""Requests that are handed over together."""

AHEAD = 2
"""Chunks that wait for each worker, so that none of them ever waits for the caller."""

REMEMBERED = 4
"""Routers that a process keeps for those who send it requests."""

Progress = Callable[[int, int], None]
"""Told the number of requests that are answered, and of all."""

Chunk = Sequence[RouteRequest]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
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


def answers(
    router: Router,
    requests: Sequence[RouteRequest],
    *,
    executor: Executor | None = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Answer]:
    """Answer requests side by side; yield in their order, each as soon as it and all before it are there.

    Parameters
    ----------
    router : Router
        On whose snapshot to search.
    requests : sequence of RouteRequest
        What to answer.
    executor : concurrent.futures.Executor, optional
        Where to search; threads of this process without one. Unless it is a `ThreadPoolExecutor`, the snapshot is sent
        to each of its processes that does not have it yet, and they keep a router on it. It is not shut down.
    workers : int, optional
        How many threads to use, or how many of the executor's workers to keep busy; by default one for each processor.
    progress : callable, optional
        Told after each answer, in the caller's thread.

    Raises
    ------
    InvalidRequest
        If `workers` is less than 1.
    """
    if workers is not None and workers < 1:
        raise InvalidRequest("workers", f"must be at least 1, not {workers}")
    workers = workers or os.cpu_count() or 1
    if executor is None:
        with ThreadPoolExecutor(workers, "quotes") as threads:
            yield from answers(router, requests, executor=threads, workers=workers, progress=progress)
        return
    shared = isinstance(executor, ThreadPoolExecutor)
    send = _to_threads(router, executor) if shared else _to_processes(router.snapshot.id, executor)
    done = 0
    for chunk in _in_order(send, router.snapshot, _chunks(requests), workers):
        for answer in chunk:
            done += 1
            if progress:
                progress(done, len(requests))
            yield answer


def _chunks(requests: Sequence[RouteRequest]) -> Iterator[Chunk]:
    for start in range(0, len(requests), CHUNK):
        yield requests[start : start + CHUNK]


Reply = list[Answer] | None
"""None from a process that needs the snapshot first."""

Send = Callable[[Chunk, "Snapshot | None"], "Future[Reply]"]
"""Hand over a chunk, with the snapshot for a process that lacks it."""


def _to_threads(router: Router, executor: Executor) -> Send:
    return lambda chunk, snapshot: executor.submit(_search, router, chunk)


def _to_processes(snapshot_id: str, executor: Executor) -> Send:
    return lambda chunk, snapshot: executor.submit(_search_there, snapshot_id, snapshot, chunk)


def _in_order(send: Send, snapshot: Snapshot, chunks: Iterator[Chunk], workers: int) -> Iterator[list[Answer]]:
    """Keep all workers busy; what has not begun when the caller stops is withdrawn."""
    waiting: deque[tuple[Chunk, Future[Reply]]] = deque()
    try:
        for chunk in chunks:
            waiting.append((chunk, send(chunk, None)))
            if len(waiting) > workers * AHEAD:
                yield _first(waiting, send, snapshot, workers)
        while waiting:
            yield _first(waiting, send, snapshot, workers)
    finally:
        for _, future in waiting:
            future.cancel()


def _first(waiting: deque[tuple[Chunk, Future[Reply]]], send: Send, snapshot: Snapshot, workers: int) -> list[Answer]:
    """Return the reply to the first chunk; where processes ask for the snapshot, send it as often as there are some."""
    while (reply := waiting[0][1].result()) is None:
        sent = 0
        for place, (chunk, future) in enumerate(waiting):
            if future.done() and future.result() is None:
                waiting[place] = (chunk, send(chunk, snapshot if sent < workers else None))
                sent += 1
    waiting.popleft()
    return reply


def _search(router: Router, chunk: Chunk) -> list[Answer]:
    found = []
    for request in chunk:
        started = router.clock()
        result = router.find_routes(request)
        found.append(Answer(result=result, elapsed_ms=(router.clock() - started) * 1e3))
    return found


_ROUTERS: dict[str, Router] = {}
_ROUTERS_LOCK = threading.Lock()


def _search_there(snapshot_id: str, snapshot: Snapshot | None, chunk: Chunk) -> Reply:
    """Search in a process that holds its own routers, by snapshot; None where this one is missing."""
    with _ROUTERS_LOCK:
        router = _ROUTERS.pop(snapshot_id, None)
        if router is None and snapshot is not None:
            router = _ready(snapshot)
        if router is None:
            return None
        _ROUTERS[snapshot_id] = router
        while len(_ROUTERS) > REMEMBERED:
            del _ROUTERS[next(iter(_ROUTERS))]
    return _search(router, chunk)


def _ready(snapshot: Snapshot) -> Router:
    from routing_engine.batch.warm_up import warm_up
    from routing_engine.router import Router

    warm_up()
    return Router(snapshot)

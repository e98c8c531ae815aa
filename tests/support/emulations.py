"""Two ways in which routers divide a trade, written anew: chunks along best paths, and a few disjoint paths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from routing_engine import Router, RouteRequest
from tests.support.layered import Floats, Ints, Pools, best_path
from tests.support.peer_routes import Division

CHUNKS = 16
DISJOINT = 4


class Emulations:
    """Both emulations on one market of constant-product pools.

    Parameters
    ----------
    router : Router
        Whose market to use, and nothing else of it.
    max_hops : int
        Pools in series.
    """

    def __init__(self, router: Router, max_hops: int = 3) -> None:
        self._graph, self._pools, self._max_hops = router.graph, Pools.of(router), max_hops

    def chunked(self, request: RouteRequest, chunks: int = CHUNKS) -> Division:
        """Send equal chunks, each down the path that is best after those before it; pools may be used again."""
        flow, closed = np.zeros(self._pools.other.size), np.zeros(self._pools.other.size, np.bool_)
        sizes: dict[tuple[int, ...], int] = {}
        for number in range(chunks):
            chunk = request.amount * (number + 1) // chunks - request.amount * number // chunks
            path = self._best(request, float(chunk), flow, closed)
            if not path.size:
                break
            amount = float(chunk)
            for row in path:
                flow[row], amount = flow[row] + amount, self._gain(row, flow[row], amount)
                closed |= (self._pools.pool == self._pools.pool[row]) & (np.arange(closed.size) != row)
            key = tuple(path.tolist())
            sizes[key] = sizes.get(key, 0) + chunk
        if sum(sizes.values()) != request.amount:
            return Division(paths=())
        return Division(paths=tuple((size, self._ids(path)) for path, size in sizes.items()))

    def disjoint(self, request: RouteRequest, count: int = DISJOINT) -> Division:
        """Take the best path, ban its pools, repeat; then divide so that marginal prices are equal."""
        closed = np.zeros(self._pools.other.size, np.bool_)
        paths = []
        for _ in range(count):
            path = self._best(request, request.amount / count, np.zeros(closed.size), closed)
            if not path.size:
                break
            paths.append(path)
            closed |= np.isin(self._pools.pool, self._pools.pool[path])
        parts = _divide([self._composed(path) for path in paths], request.amount) if paths else []
        kept = [(part, self._ids(path.tolist())) for part, path in zip(parts, paths, strict=True) if part]
        return Division(paths=tuple(kept))

    def _best(self, request: RouteRequest, amount: float, flow: Floats, closed: np.ndarray) -> Ints:
        index = self._graph.index
        ends = index[request.token_in], index[request.token_out]
        return best_path(self._pools, flow, closed, amount, ends, self._max_hops)

    def _gain(self, row: int, before: float, amount: float) -> float:
        p = self._pools

        def out(x: float) -> float:
            return p.reserve_out[row] * p.kept[row] * x / (p.reserve_in[row] + p.kept[row] * x)

        return out(before + amount) - out(before)

    def _composed(self, path: Ints) -> tuple[float, float, float]:
        """Pools in series are again a x / (b + c x)."""
        a, b, c = 1.0, 1.0, 0.0
        for row in path:
            reserve_in, reserve_out, kept = (
                float(column[row]) for column in (self._pools.reserve_in, self._pools.reserve_out, self._pools.kept)
            )
            a, b, c = reserve_out * kept * a, reserve_in * b, reserve_in * c + kept * a
            a, b, c = a / b, 1.0, c / b
        return a, b, c

    def _ids(self, path: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._graph.markets[self._pools.pool[row]].id for row in path)


def _divide(curves: list[tuple[float, float, float]], amount: int) -> list[int]:
    """Divide over a x / (b + c x) so that marginal prices a b / (b + c x)² are equal where anything flows."""
    open_ = sorted(range(len(curves)), key=lambda i: -curves[i][0] / curves[i][1])
    for used in range(len(open_), 0, -1):
        rows = [curves[i] for i in open_[:used]]
        root = (amount + sum(b / c for _, b, c in rows)) / sum((a * b) ** 0.5 / c for a, b, c in rows)
        parts = [((a * b) ** 0.5 * root - b) / c for a, b, c in rows]
        if min(parts) > 0:
            break
    whole = [0] * len(curves)
    for i, part in zip(open_[:used], parts, strict=True):
        whole[i] = int(part)
    whole[open_[0]] += amount - sum(whole)
    return whole

"""A plain search that carries amounts, for emulations of other routers: numba, one label a token and hop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from routing_engine import Router
from routing_engine.markets import ConstantProductPool

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Pools(NamedTuple):
    """Constant-product pools as arrays, one row for each direction, sorted by token sold.

    Parameters
    ----------
    first : int64 array, shape (tokens + 1,)
        Where each token's rows begin.
    other, pool : int64 array, shape (rows,)
        Token bought and pool number.
    reserve_in, reserve_out, kept : float64 array, shape (rows,)
        State in smallest units; `kept` is what the fee leaves.
    """

    first: Ints
    other: Ints
    pool: Ints
    reserve_in: Floats
    reserve_out: Floats
    kept: Floats

    @classmethod
    def of(cls, router: Router) -> Pools:
        """Lay out the pools of a router's graph, with its numbers of tokens and markets."""
        rows = []
        for number, pool in enumerate(router.graph.markets):
            assert isinstance(pool, ConstantProductPool)
            a, b = router.graph.index[pool.token0], router.graph.index[pool.token1]
            kept = 1 - pool.fee_pips / 1e6
            rows += [
                (a, b, number, pool.reserve0, pool.reserve1, kept),
                (b, a, number, pool.reserve1, pool.reserve0, kept),
            ]
        rows.sort(key=lambda row: row[0])
        source, other, number, reserve_in, reserve_out, kept = (
            np.array(column, float) for column in zip(*rows, strict=True)
        )
        first = np.searchsorted(source, np.arange(len(router.graph.tokens) + 1))
        return cls(first, other.astype(np.int64), number.astype(np.int64), reserve_in, reserve_out, kept)


@njit(cache=True)
def best_path(
    pools: Pools, flow: Floats, closed: npt.NDArray[np.bool_], amount: float, ends: tuple[int, int], max_hops: int
) -> Ints:
    """Return the rows of the path that gives most for `amount` on top of what flows already; empty if there is none.

    `flow` is what each row has taken so far, `closed` the rows that may not be used.
    """
    first, other, pool, reserve_in, reserve_out, kept = pools
    source, target = ends
    tokens = first.size - 1
    best = np.zeros((max_hops + 1, tokens))
    came = np.full((max_hops + 1, tokens), -1, np.int64)
    via = np.full((max_hops + 1, tokens), -1, np.int64)
    best[0, source] = amount
    for hop in range(max_hops):
        for token in range(tokens):
            have = best[hop, token]
            if have <= 0 or token == target:
                continue
            for row in range(first[token], first[token + 1]):
                if closed[row]:
                    continue
                before = kept[row] * flow[row]
                after = kept[row] * (flow[row] + have)
                gain = reserve_out[row] * (after / (reserve_in[row] + after) - before / (reserve_in[row] + before))
                head = other[row]
                if gain <= best[hop + 1, head]:
                    continue
                met, at, seen = head == source, token, hop
                while seen > 0 and not met:
                    met = at == head or pool[via[seen, at]] == pool[row]
                    at, seen = came[seen, at], seen - 1
                if not met:
                    best[hop + 1, head], came[hop + 1, head], via[hop + 1, head] = gain, token, row
    hops = 0
    for hop in range(1, max_hops + 1):
        if best[hop, target] > best[hops, target]:
            hops = hop
    path = np.empty(hops, np.int64)
    at = target
    for hop in range(hops, 0, -1):
        path[hop - 1] = via[hop, at]
        at = came[hop, at]
    return path

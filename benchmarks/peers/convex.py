"""The convex oracle: CVXPY with Clarabel, for markets of constant-product pools without gas and without a hop limit."""

from __future__ import annotations

import contextlib
import time
import warnings
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from routing_engine import Router, RouteRequest
from routing_engine.markets import ConstantProductPool

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TOLERANCE = 1e-6
"""By how much of the output a value may be off the optimum where Clarabel can't reach its usual 1e-8."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """What no flow of any kind can exceed by more than `TOLERANCE`.

    Parameters
    ----------
    amount_out : float
        Smallest units of the token bought.
    seconds : float
        Time of the solver alone.
    solved : bool
        Whether the solver says that it converged.
    """

    amount_out: float
    seconds: float
    solved: bool


def optimum(router: Router, request: RouteRequest) -> Optimum:
    """Return the most that any flow through the pools gives: loops, any number of hops and of paths are allowed.

    With the fee's part taken off, a pool of depth r (input after fees) gives κ (d - d² / (r + d)) for an input d. Each
    direction has its own d and e ≥ d² / (r + d); written with E = r e this is the rotated cone E (1 + d / r) ≥ d², all
    of whose terms are as large as the trade however deep the pool is. Amounts are scaled by the tokens' reference
    prices and by the size of the trade, or of the pool where that is smaller. Both directions of a pool at once never
    pay, because both take fees.
    """
    graph = router.graph
    source, target = graph.index[request.token_in], graph.index[request.token_out]
    unit = graph.prices / (request.amount * graph.prices[source])
    ends, reserve_in, rate = _directions(router, unit)
    count, tokens = reserve_in.size, len(graph.tokens)

    sent, lost = cp.Variable(count, nonneg=True), cp.Variable(count, nonneg=True)
    size = np.minimum(1.0, reserve_in)
    room = 1 + cp.multiply(size / reserve_in, sent)
    cone = cp.SOC(lost + room, cp.vstack([2 * sent, lost - room]), axis=0)
    given = cp.multiply(rate * size, sent - cp.multiply(size / reserve_in, lost))
    leaves, arrives = (sp.csr_array((np.ones(count), (side, np.arange(count))), (tokens, count)) for side in ends)
    balance = arrives @ given - leaves @ cp.multiply(size, sent)
    supply = np.zeros(tokens)
    supply[source] = 1.0
    others = np.flatnonzero(np.arange(tokens) != target)
    problem = cp.Problem(cp.Maximize(balance[target]), [cone, balance[others] + supply[others] >= 0])
    started = time.perf_counter()
    with warnings.catch_warnings(), contextlib.suppress(cp.SolverError):
        warnings.simplefilter("ignore", UserWarning)  # short of 1e-8, but within the tolerance above
        problem.solve(
            solver=cp.CLARABEL, equilibrate_max_iter=50, reduced_tol_gap_abs=TOLERANCE, reduced_tol_gap_rel=TOLERANCE,
            reduced_tol_feas=TOLERANCE,
        )  # fmt: skip
    seconds = time.perf_counter() - started
    if problem.solver_stats is not None and problem.solver_stats.solve_time:
        seconds = problem.solver_stats.solve_time
    found = problem.status in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE) and problem.value is not None
    value = float(problem.value) / unit[target] if found else float("nan")
    return Optimum(amount_out=value, seconds=float(seconds), solved=found)


def _directions(router: Router, unit: Floats) -> tuple[Ints, Floats, Floats]:
    """Token numbers, shape (2, directions), depths after fees and spot rates after fees, in scaled units."""
    ends, reserve_in, rate = [], [], []
    for pool in router.graph.markets:
        assert isinstance(pool, ConstantProductPool)
        a, b = router.graph.index[pool.token0], router.graph.index[pool.token1]
        kept = 1 - pool.fee_pips / 1e6
        for u, v, into, out in ((a, b, pool.reserve0, pool.reserve1), (b, a, pool.reserve1, pool.reserve0)):
            ends.append((u, v))
            reserve_in.append(into * unit[u] / kept)
            rate.append(kept * out * unit[v] / (into * unit[u]))
    return np.array(ends).T, np.array(reserve_in), np.array(rate)

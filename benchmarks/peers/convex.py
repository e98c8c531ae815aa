"""The convex oracle: CVXPY with Clarabel, for markets of constant-product pools without gas and without a hop limit."""

from __future__ import annotations

import contextlib
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from routing_engine import Router, RouteRequest
from routing_engine.markets import ConstantProductPool

if TYPE_CHECKING:
    import cvxpy as cp  # loading it takes longer than most tests of which it is no part

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
    flows : dict of (int, int, int) to float
        Smallest units sold, by market, token sold and token bought, as the router's graph numbers them.
    """

    amount_out: float
    seconds: float
    solved: bool
    flows: dict[tuple[int, int, int], float]


def optimum(router: Router, request: RouteRequest, *, layered: bool = False) -> Optimum:
    """Return the most that any flow through the pools gives.

    With the fee's part taken off, a pool of depth r (input after fees) gives κ (d - d² / (r + d)) for an input d. Each
    direction has its own d and e ≥ d² / (r + d); written with E = r e this is the rotated cone E (1 + d / r) ≥ d², all
    of whose terms are as large as the trade however deep the pool is. Amounts are scaled by the tokens' reference
    prices and by the size of the trade, or of the pool where that is smaller. Both directions of a pool at once never
    pay, because both take fees.

    Parameters
    ----------
    router : Router
        Over constant-product pools only; its market is used, not its search.
    request : RouteRequest
        Exact-in; gas counts as free.
    layered : bool
        Bound routes of the request's `max_hops` only, instead of flows of any length: pools are shared by the first
        hops of all paths, their second hops and so on. Loops that have nothing to do with the trade give nothing then.
    """
    import cvxpy as cp

    graph = router.graph
    source, target = graph.index[request.token_in], graph.index[request.token_out]
    unit = graph.prices / (request.amount * graph.prices[source])
    ends, reserve_in, rate = _directions(router, unit)
    size = np.minimum(1.0, reserve_in)
    count = reserve_in.size
    sent, lost = cp.Variable(count, nonneg=True), cp.Variable(count, nonneg=True)
    room = 1 + cp.multiply(size / reserve_in, sent)
    cone = cp.SOC(lost + room, cp.vstack([2 * sent, lost - room]), axis=0)
    given = cp.multiply(rate * size, sent - cp.multiply(size / reserve_in, lost))
    network = _Network(ends, len(graph.tokens), source, target)
    inputs = cp.multiply(size, sent)
    gives, rules = network.layers(inputs, given, request.max_hops) if layered else network.flows(inputs, given)
    problem = cp.Problem(cp.Maximize(gives), [cone, *rules])
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
    flows = _read_flows(inputs.value, ends, unit) if found else {}
    return Optimum(amount_out=value, seconds=float(seconds), solved=found, flows=flows)


def _read_flows(inputs: Floats, ends: Ints, unit: Floats) -> dict[tuple[int, int, int], float]:
    """Return what is sold; each pool has two directions, one after the other."""
    return {
        (number // 2, int(source), int(target)): float(amount / unit[source])
        for number, (amount, source, target) in enumerate(zip(inputs, *ends, strict=True))
    }


@dataclass(frozen=True, slots=True, eq=False)
class _Network:
    """Tokens as nodes, directions of pools as edges, shape (2, directions)."""

    ends: Ints
    tokens: int
    source: int
    target: int

    def flows(self, sent: cp.Expression, given: cp.Expression) -> tuple[cp.Expression, list[cp.Constraint]]:
        """Return what arrives, and that nothing is made of nothing at any other token."""
        leaves, arrives = (self._at(side, np.arange(sent.size)) for side in (0, 1))
        balance = arrives @ given - leaves @ sent + self._unit(self.source)
        others = np.flatnonzero(np.arange(self.tokens) != self.target)
        return balance[self.target], [balance[others] >= 0]

    def layers(self, sent: cp.Expression, given: cp.Expression, hops: int) -> tuple[cp.Expression, list[cp.Constraint]]:
        """Return the same for paths of so many hops, none of which comes back to the source or leaves the target."""
        import cvxpy as cp

        open_ = np.flatnonzero((self.ends[0] != self.target) & (self.ends[1] != self.source))
        leaves, arrives = (self._at(side, open_) for side in (0, 1))
        into = [cp.Variable(open_.size, nonneg=True) for _ in range(hops)]
        out = [cp.Variable(open_.size, nonneg=True) for _ in range(hops)]
        shut = np.setdiff1d(np.arange(sent.size), open_)
        rules = [sum(into) == sent[open_], sum(out) <= given[open_]]
        rules += [sent[shut] == 0] if shut.size else []
        have: cp.Expression = self._unit(self.source)
        others = np.flatnonzero(np.arange(self.tokens) != self.target)
        for step_in, step_out in zip(into, out, strict=True):
            rules.append((have - leaves @ step_in)[others] >= 0)
            have = arrives @ step_out
        return sum((arrives @ step)[self.target] for step in out), rules

    def _at(self, side: int, chosen: Ints) -> sp.csr_array:
        rows = self.ends[side][chosen]
        return sp.csr_array((np.ones(chosen.size), (rows, np.arange(chosen.size))), (self.tokens, chosen.size))

    def _unit(self, token: int) -> Floats:
        return (np.arange(self.tokens) == token).astype(np.float64)


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

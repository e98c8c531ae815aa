"""Clarabel through CVXPY: the optimum of all flows as a cone program, gas free, any number of hops and paths."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import metadata

from benchmarks.harness.answer import Answer
from benchmarks.harness.solver import Unsupported
from benchmarks.peers.convex import optimum
from benchmarks.peers.flows import answer_flows
from benchmarks.peers.rates import find_best_rates, refuse_loops
from routing_engine import Router, RouteRequest, Side, Snapshot
from routing_engine.markets import ConstantProductPool

MOST_POOLS = 2_000
"""Beyond these one request takes longer than anybody waits."""


class Clarabel:
    """An interior-point solver on constant-product pools. It does not know gas, and an output can't be asked for."""

    name, version = "clarabel", metadata.version("clarabel")

    def __init__(self) -> None:
        self._router: Router | None = None

    def load(self, snapshot: Snapshot) -> None:
        """Take pools, numbers and reference prices from a router, and nothing else of it."""
        if not all(isinstance(market, ConstantProductPool) for market in snapshot.markets.values()):
            raise Unsupported("only constant-product pools are cones here")
        if len(snapshot.markets) > MOST_POOLS:
            raise Unsupported(f"a request takes seconds where there are more than {MOST_POOLS:,} pools")
        refuse_loops(find_best_rates(snapshot))
        self._router = Router(snapshot)

    def solve(self, request: RouteRequest, gas_values: Mapping[int, float]) -> Answer | None:
        """Return the flows of the optimum; None where the solver does not converge."""
        assert self._router is not None
        if request.side == Side.EXACT_OUT:
            return None
        best = optimum(self._router, request)
        return answer_flows(self._router, request, best.flows) if best.solved else None

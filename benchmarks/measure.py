"""Clocks, percentiles and the questions that several sections ask."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from benchmarks.instances import POOL_GAS, Query
from routing_engine import Router, RouteRequest, RouteResult

REPEATS = 3
"""Each call is timed so often and the fastest kept: the rest is other programs' use of caches and cores."""

clock = time.thread_time
"""Processor time of the calling thread: what a call takes where it need not wait for a core."""

GAS_PER_POOL = 1e-4
"""What a pool costs in the gas-aware runs, as a part of the output."""

PATIENT_MS = 600_000
"""A time budget that is never spent: what is found may not depend on the machine."""

T = TypeVar("T")


def timed(call: Callable[[], T], repeats: int = REPEATS) -> tuple[T, float]:
    """Return what a call returns, and the seconds of its fastest run."""
    fastest = float("inf")
    for _ in range(repeats):
        started = clock()
        result = call()
        fastest = min(fastest, clock() - started)
    return result, fastest


def percentile(values: Sequence[float], rank: float) -> float:
    """Return the value that `rank` percent of the values do not exceed; nan where there are no values."""
    return float(np.percentile(values, rank, method="inverted_cdf")) if len(values) else float("nan")


def request_of(query: Query, **options: object) -> RouteRequest:
    """Return the request that a query stands for."""
    named = {"token_in": query.token_in, "token_out": query.token_out, "amount": query.amount}
    arguments = {**named, "time_budget_ms": PATIENT_MS, **options}
    return RouteRequest(**arguments)  # type: ignore[arg-type]


def gas_price(router: Router, query: Query) -> int:
    """Return the price in wei at which one pool costs `GAS_PER_POOL` of what the best path gives; at least 1."""
    best = router.find_routes(request_of(query, max_splits=1)).best()
    unit = float(router.graph.units[router.graph.index[query.token_out]])
    return max(1, round(GAS_PER_POOL * best.amount_out / (POOL_GAS * unit)))


def gap_of(result: RouteResult) -> float:
    """Return the proven gap in bps; infinite where nothing is proven."""
    certificate = result.certificate
    return float("inf") if certificate is None or certificate.gap_bps is None else certificate.gap_bps


def bps(ours: float, theirs: float) -> float:
    """Return by how much `ours` is above `theirs`."""
    return 1e4 * (ours / theirs - 1) if theirs > 0 else float("inf")

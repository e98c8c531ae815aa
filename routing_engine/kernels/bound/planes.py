"""Planes below a bound that is relaxed, and the markets whose multipliers they speak of; see `relaxation`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import allocating, inner
from routing_engine.kernels.bound.simplex import ROWS, LinearProgram, create_program
from routing_engine.kernels.marginal_price import find_arbitrage, value_base_gas, value_gas

PLANES = 1024
"""Planes of all nodes together, at most: each takes a search over the market."""

UNDECIDED, CLOSED, PAID = 0, 1, 2
"""What is decided about a market."""

UNLISTED = -1.0
"""Level of a relaxation whose contenders are not listed."""

LEAST_PART = 1e-4
"""Part of what is at its token that a market is taken to get at least where its gas is cancelled: a plane's slope there
is as steep as that."""


class Planes(NamedTuple):
    """Planes below the bound: `use[c, i]` is how the value of plane c falls with the multiplier of `row[c, i]`.

    `edge` is the path that it belongs to; `value` is that without any multipliers, -inf if the path is closed. Edges
    and rows are -1 past the end of a path.
    """

    edge: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]
    use: npt.NDArray[np.float64]
    value: npt.NDArray[np.float64]


class Rows(NamedTuple):
    """Markets of the program's rows: what each is allowed in any case, its gas, and what is decided about it.

    `may_be_paid` says where something is decided in any node. The first row stands for the amount; it is allowed what
    all markets together are in any case.
    """

    market: npt.NDArray[np.int64]
    kept: npt.NDArray[np.float64]
    gas: npt.NDArray[np.float64]
    decision: npt.NDArray[np.int64]
    may_be_paid: npt.NDArray[np.bool_]


class Relaxation(NamedTuple):
    """What is known of a relaxed problem.

    `size` is the number of rows and of planes; `total` is what the present multipliers add up to, less the gas that is
    paid for, and `added` what they are beyond what they are in any case. `level` is that down to which
    `state.contenders` are listed; `work` counts the edges that prices have gone through. `first` are the planes that
    lead a program to its optimum soon, -1 where there is none, and `share` is the part of each market's gas that is
    paid there.
    """

    planes: Planes
    rows: Rows
    size: npt.NDArray[np.int64]
    total: npt.NDArray[np.float64]
    added: npt.NDArray[np.float64]
    level: npt.NDArray[np.float64]
    work: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    share: npt.NDArray[np.float64]
    program: LinearProgram


@allocating
def create_relaxation(max_hops, kept):
    """Allocate; `kept` is what all markets together are allowed in any case."""
    edge, row = np.empty((PLANES, max_hops), np.int64), np.empty((PLANES, max_hops), np.int64)
    planes = Planes(edge, row, np.empty((PLANES, max_hops)), np.empty(PLANES))
    rows = Rows(np.full(ROWS, -1), np.zeros(ROWS), np.zeros(ROWS), np.zeros(ROWS, np.int64), np.zeros(ROWS, np.bool_))
    rows.kept[0] = kept
    first = np.full(ROWS, -1)
    return Relaxation(
        planes,
        rows,
        np.array([1, 0]),
        np.zeros(1),
        np.zeros(ROWS),
        np.full(1, UNLISTED),
        np.zeros(1, np.int64),
        first,
        np.zeros(ROWS),
        create_program(),
    )


@inner
def _find_tangent_input(edge, pieces, dual_price, rate, limit):
    """Return the input at which an edge's net average price is `rate`."""
    if edge["concave"] == 0:
        return min(limit, edge["x_max"])
    _, flow = find_arbitrage(edge, pieces, dual_price, rate, limit)
    return flow


@inner
def _find_row(edge, problem, state, relaxation):
    """Return the row of an edge's market, a new one where there is none; -1 where there is no room for one."""
    rows, size = relaxation.rows, relaxation.size
    for row in range(1, size[0]):
        if rows.market[row] == edge["market"]:
            return row
    row = size[0]
    if row == ROWS:
        return -1
    rows.market[row], rows.kept[row] = edge["market"], state.multiplier[edge["market"]]
    rows.gas[row] = value_base_gas(edge, problem.gas)
    size[0] += 1
    return row


@inner
def add_plane(path, dual_price, price, problem, state, relaxation):
    """Add the plane of the dearest path, where the start's price is `price`."""
    graph, chain, rate, planes = problem.graph, problem.amount, price, relaxation.planes
    c = relaxation.size[1]
    relaxation.size[1] += 1
    planes.value[c] = price * problem.amount
    for i in range(path.size, planes.edge.shape[1]):
        planes.edge[c, i] = planes.row[c, i] = -1
    for i in range(path.size):
        edge = graph.forward.edges[path[i]]
        flow = _find_tangent_input(edge, graph.pieces, dual_price[i], rate, state.limit[graph.source[path[i]]])
        flow = max(flow, LEAST_PART * chain)
        row = _find_row(edge, problem, state, relaxation)
        planes.edge[c, i], planes.row[c, i] = path[i], row
        multiplier = state.multiplier[edge["market"]]
        if row >= 0:
            planes.use[c, i] = chain / flow
            planes.value[c] += planes.use[c, i] * multiplier
        chain *= (rate * flow + value_gas(edge, graph.pieces, problem.gas, flow) + multiplier) / (dual_price[i] * flow)
        rate = dual_price[i]


@inner
def get_base_multiplier(rows, row):
    """Return a market's multiplier where the program allows it nothing: what cancels its gas if that is paid."""
    return rows.kept[row] - (rows.gas[row] if rows.decision[row] == PAID else 0.0)


@inner
def get_least_multiplier(rows, row):
    """Return a market's multiplier in the node where it is least."""
    return rows.kept[row] - (rows.gas[row] if rows.may_be_paid[row] else 0.0)


@inner
def drop_closed_planes(relaxation, state):
    """Take no more notice of planes whose paths are closed."""
    planes = relaxation.planes
    for c in range(relaxation.size[1]):
        for i in range(planes.edge.shape[1]):
            if planes.edge[c, i] >= 0 and state.closed[planes.edge[c, i]]:
                planes.value[c] = -np.inf


@inner
def clear_row_multipliers(relaxation, state):
    """Allow the rows' markets nothing again."""
    for row in range(1, relaxation.size[0]):
        state.multiplier[relaxation.rows.market[row]] = 0.0

"""Sets of decisions about markets, and which market to decide upon next; see `branching`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import allocating, inner
from routing_engine.kernels.bound.planes import CLOSED, PAID, UNDECIDED
from routing_engine.kernels.bound.simplex import ROWS
from routing_engine.kernels.vectors import copy_first

NODES = 384
"""Sets of decisions that are looked at, at most."""

UNSURE = 1e-6
"""How far from none and from all a share of a market's gas is at least that counts as a part."""

EVERY = 0
"""Row of what is known of the decisions about all markets."""

LITTLE = 1e-3
"""Part of what is at stake that a decision is taken to lower the bound by at least."""


class Nodes(NamedTuple):
    """Sets of decisions: that of its parent, and one more.

    A node that has children is no longer open: `row` is the market that they decide upon. `first` are the planes that
    they begin with, `share` the part of each market's gas that is paid in the node.
    """

    parent: npt.NDArray[np.int64]
    decision: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]
    bound: npt.NDArray[np.float64]
    is_open: npt.NDArray[np.bool_]
    first: npt.NDArray[np.int64]
    share: npt.NDArray[np.float64]


class Experience(NamedTuple):
    """By decision and row: which parts of the gas at stake bounds have fallen by in all, and how often."""

    fall: npt.NDArray[np.float64]
    times: npt.NDArray[np.int64]


@allocating
def create_nodes():
    """Allocate; the first node is open."""
    return Nodes(
        np.full(NODES, -1),
        np.zeros(NODES, np.int64),
        np.zeros(NODES, np.int64),
        np.zeros(NODES),
        np.ones(NODES, np.bool_),
        np.empty((NODES, ROWS), np.int64),
        np.empty((NODES, ROWS)),
    )


@allocating
def create_experience():
    """Allocate; nothing is known."""
    return Experience(np.zeros((PAID + 1, ROWS)), np.zeros((PAID + 1, ROWS), np.int64))


@inner
def decide(node, nodes, rows):
    """Put a node's decisions on the rows."""
    rows.decision[:] = UNDECIDED
    while nodes.parent[node] >= 0:
        rows.decision[nodes.row[nodes.parent[node]]] = nodes.decision[node]
        node = nodes.parent[node]


@inner
def keep_optimum(node, nodes, relaxation):
    """Keep what is known of the program's optimum in a node."""
    copy_first(relaxation.first, nodes.first[node], ROWS)
    copy_first(relaxation.share, nodes.share[node], ROWS)


@inner
def find_worst_node(nodes, count):
    """Return the open node of the largest bound."""
    worst, bound = 0, -np.inf
    for node in range(count):
        if nodes.is_open[node] and nodes.bound[node] > bound:
            worst, bound = node, nodes.bound[node]
    return worst


@inner
def is_doubtful(node, row, nodes, rows):
    """Whether nothing is decided about a market, and part of its gas is paid."""
    return rows.decision[row] == UNDECIDED and UNSURE < nodes.share[node, row] < 1.0 - UNSURE


@inner
def _measure_stake(decision, share, gas):
    """Return what gas a decision is about: to close a market, what it pays of it; to pay for it, the rest."""
    return gas * (share if decision == CLOSED else 1.0 - share)


@inner
def _expect_fall(decision, row, experience):
    """Return which part of what is at stake a decision lowers a bound by: as it did before, or others did."""
    known = row if experience.times[decision, row] > 0 else EVERY
    if experience.times[decision, known] == 0:
        return 1.0
    return max(LITTLE, experience.fall[decision, known] / experience.times[decision, known])


@inner
def choose_row(node, nodes, experience, relaxation):
    """Return the row of the doubtful market that promises to lower both bounds most; -1 if there is none."""
    rows, most, found = relaxation.rows, 0.0, -1
    for row in range(1, relaxation.size[0]):
        if not is_doubtful(node, row, nodes, rows):
            continue
        promise = 1.0
        for decision in (CLOSED, PAID):
            stake = _measure_stake(decision, nodes.share[node, row], rows.gas[row])
            promise *= stake * _expect_fall(decision, row, experience)
        if promise > most:
            most, found = promise, row
    return found


@inner
def learn(node, nodes, experience, floor, relaxation):
    """Note by how much a node's bound lies below its parent's."""
    parent, decision = nodes.parent[node], nodes.decision[node]
    row = nodes.row[parent]
    stake = _measure_stake(decision, nodes.share[parent, row], relaxation.rows.gas[row])
    fall = (nodes.bound[parent] - max(floor, nodes.bound[node])) / stake
    for known in (EVERY, row):
        experience.fall[decision, known] += fall
        experience.times[decision, known] += 1

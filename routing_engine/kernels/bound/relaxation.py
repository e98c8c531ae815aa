"""The relaxed problem of a certificate: parts of markets pay parts of their gas, but for those that are decided.

For given multipliers `dual_prices.compute_dual_prices` finds the least prices, and the bound is the start's price times
the amount, plus all multipliers (see `dual_bound`). It is a convex function of the multipliers. At those of each turn
the dearest path tells how the start's price falls when a market on it is allowed more: a market through which a unit of
the start sends ``chain`` units that share its multiplier among ``flow`` gives ``chain / flow`` for each unit allowed.
So each turn gives a plane that lies below the function, and the next multipliers are where the planes together are
lowest: Kelley's method of cutting planes (J. SIAM 8, 1960), whose dual is column generation. Its columns are paths that
carry parts of the amount, and each market's gas is shared by parts that add up to one: the best that allocations could
do if a part of a market paid a part of its gas.

A market may be decided upon: a closed one is not used, and one that is paid for is used whatever it earns, its gas
taken off the bound at once. Its multiplier may then be as low as what cancels its gas. Planes hold for all decisions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import allocating, inner
from routing_engine.kernels.bound.contenders import EDGES, list_contenders, price_contenders
from routing_engine.kernels.bound.dual_bound import CLOSE
from routing_engine.kernels.bound.dual_prices import clear_dual_prices, trace_dearest_path
from routing_engine.kernels.bound.open_edges import ROWS as LISTED
from routing_engine.kernels.bound.planes import (
    CLOSED,
    PAID,
    PLANES,
    UNLISTED,
    add_plane,
    get_base_multiplier,
    get_least_multiplier,
)
from routing_engine.kernels.bound.simplex import COLUMNS, ROWS, SMALL, add_row, clear_program, get_price, solve_with
from routing_engine.kernels.vectors import copy_first
from routing_engine.kernels.work import is_overdrawn, spend

SETTLED, EXACT = 0.2, 1e-3
"""Parts of the gap that may be left to what the planes promise: usually, and where that tells of no doubtful market."""

TURN = 20
"""Edges that take as long as a row of the program takes in a turn."""

WIDER = 2.0
"""How many times what multipliers and the gap add up to lies between the answer and the level below it down to which
edges may matter."""

INWARD, MANY, TINY = 0.5, 24, 1e-12
"""Part of the way that multipliers go from the best so far to where many planes are lowest: they would swing from one
turn to the next. Where that lifted what the planes promise by next to nothing, the next turn goes all of it."""


class Entered(NamedTuple):
    """Planes in a program: that of each column, whether each one is in it, and the number of columns."""

    plane: npt.NDArray[np.int64]
    has: npt.NDArray[np.bool_]
    size: npt.NDArray[np.int64]


@inner
def _measure_gain(c, relaxation, floor):
    """Return by how much plane c lies above the program's optimum, as a part of the floor; -inf if it is closed."""
    planes, rows, program = relaxation.planes, relaxation.rows, relaxation.program
    gain = planes.value[c] / floor - get_price(program, 0)
    for i in range(planes.row.shape[1]):
        row = planes.row[c, i]
        if row >= 0:
            if rows.decision[row] == CLOSED:
                return -np.inf
            gain -= planes.use[c, i] * (get_base_multiplier(rows, row) / floor + get_price(program, row))
    return gain


@inner
def _enter_plane(c, entered, relaxation, use, floor):
    """Enter plane c into the program; return the program's optimum."""
    planes, rows, gain = relaxation.planes, relaxation.rows, relaxation.planes.value[c]
    use[:] = 0.0
    use[0] = 1.0
    for i in range(planes.row.shape[1]):
        row = planes.row[c, i]
        if row >= 0:
            use[row] += planes.use[c, i]
            gain -= planes.use[c, i] * get_base_multiplier(rows, row)
    column = entered.size[0]
    entered.size[0] += 1
    entered.plane[column], entered.has[c] = c, True
    return solve_with(relaxation.program, relaxation.size[0], column, use, gain / floor)


@inner
def _enter_known_planes(entered, relaxation, use, floor):
    """Enter the planes of other nodes that lie above the optimum, the parent's first."""
    for i in range(relaxation.first.size):
        c = relaxation.first[i]
        if c >= 0 and _measure_gain(c, relaxation, floor) > SMALL:
            _enter_plane(c, entered, relaxation, use, floor)
    any_is = True
    while any_is:
        any_is = False
        for c in range(relaxation.size[1]):
            if entered.size[0] == COLUMNS:
                return
            if not entered.has[c] and _measure_gain(c, relaxation, floor) > SMALL:
                _enter_plane(c, entered, relaxation, use, floor)
                any_is = True


@inner
def _choose_multipliers(relaxation, best, part, floor):
    """Go a part of the way from the best multipliers to where the planes are lowest."""
    for row in range(1, relaxation.size[0]):
        lowest = max(0.0, get_price(relaxation.program, row)) * floor
        relaxation.added[row] = best[row] + part * (lowest - best[row])


@inner
def _set_multipliers(state, relaxation):
    """Set the multipliers of the rows' markets; return their sum beyond what they are in any case."""
    rows, total = relaxation.rows, 0.0
    for row in range(1, relaxation.size[0]):
        added, is_closed = relaxation.added[row], rows.decision[row] == CLOSED
        state.multiplier[rows.market[row]] = np.inf if is_closed else get_base_multiplier(rows, row) + added
        total += added
    return total


@inner
def _list_contenders(problem, state, workspace, relaxation, level):
    """List the edges that may matter at any multipliers of any node."""
    rows, relaxation.level[0] = relaxation.rows, level
    for row in range(1, relaxation.size[0]):
        state.multiplier[rows.market[row]] = get_least_multiplier(rows, row)
    list_contenders(problem, state, workspace, level)
    relaxation.work[0] += state.open_edges.sizes[LISTED]
    spend(problem.work, state.open_edges.sizes[LISTED])


@inner
def _price_start(problem, state, workspace, relaxation, constant, floor, bound):
    """Return the start's price at the program's multipliers, which are set, and what they add up to."""
    while True:
        total = constant + _set_multipliers(state, relaxation)
        if relaxation.level[0] == UNLISTED:
            level = max(0.0, floor - WIDER * (max(0.0, total) + bound - floor))
            _list_contenders(problem, state, workspace, relaxation, level)
            _set_multipliers(state, relaxation)
        level = relaxation.level[0]
        price = price_contenders(problem, state, workspace.duals, level)
        edges = TURN * relaxation.size[0] + state.contenders.sizes[EDGES]
        relaxation.work[0] += edges
        spend(problem.work, edges)
        if price * problem.amount > level or level + total <= floor * (1.0 + CLOSE) or level == 0.0:
            return price, total
        clear_dual_prices(workspace.duals)
        relaxation.level[0] = UNLISTED


@inner
def _add_up_constant(rows, count):
    """Return what multipliers sum up to in any case, less the gas that is paid for."""
    total = rows.kept[0]
    for row in range(1, count):
        if rows.decision[row] == PAID:
            total -= rows.gas[row]
        elif rows.decision[row] == CLOSED:
            total -= rows.kept[row]
    return total


@inner
def _note_optimum(entered, relaxation):
    """Note the planes of the program's optimum, and the share of each market's gas that they pay."""
    planes, program, share = relaxation.planes, relaxation.program, relaxation.share
    share[:] = 0.0
    for i in range(relaxation.size[0]):
        column = program.basis[i] - ROWS - 1
        relaxation.first[i] = -1
        if column >= 0:
            c = relaxation.first[i] = entered.plane[column]
            for k in range(planes.row.shape[1]):
                if planes.row[c, k] >= 0:
                    share[planes.row[c, k]] += program.tableau[i, ROWS] * planes.use[c, k]


@allocating
def solve_relaxation(problem, state, workspace, relaxation, floor, bound, settled):
    """Lower a bound of the net output of every allocation for which the decisions hold.

    Parameters
    ----------
    state : FlowState
        With limits filled for the amount.
    relaxation : Relaxation
        Planes are added to it.
    floor : float
        A net output that is known; a bound that is as good as this is not improved further.
    bound : float
        What is known.
    settled : float
        Part of the gap that may be left to what the planes promise.

    Returns
    -------
    bound, price : float, float
        As of `certify`; the price is 0 where the bound is no lower.
    """
    max_hops, duals, size = problem.max_hops, workspace.duals, relaxation.size
    path, dual_price, use = np.zeros(max_hops, np.int64), np.zeros(max_hops), np.zeros(ROWS)
    entered = Entered(np.zeros(COLUMNS, np.int64), np.zeros(PLANES, np.bool_), np.zeros(1, np.int64))
    for row in range(1, size[0]):
        add_row(relaxation.program, row)
    _enter_known_planes(entered, relaxation, use, floor)
    slope, constant = 0.0, _add_up_constant(relaxation.rows, size[0])
    least, lowest, part, best = np.inf, -np.inf, 1.0, np.zeros(ROWS)
    while True:
        _choose_multipliers(relaxation, best, part, floor)
        price, total = _price_start(problem, state, workspace, relaxation, constant, floor, bound)
        relaxation.total[0] = total
        if max(floor, price * problem.amount + total) < bound:
            bound, slope = max(floor, price * problem.amount + total), price
        if price * problem.amount + total < least:
            least = price * problem.amount + total
            copy_first(relaxation.added, best, ROWS)
        is_left = price <= problem.least_price  # what is left of the amount is worth as much as any path
        length = 0 if is_left else trace_dearest_path(duals, problem, path, dual_price)
        clear_dual_prices(duals)
        if bound <= floor * (1.0 + CLOSE) or size[1] == PLANES or entered.size[0] == COLUMNS:
            break
        if is_overdrawn(problem.work):
            break
        known = size[0]
        add_plane(path[:length], dual_price, price, problem, state, relaxation)
        for row in range(known, size[0]):
            add_row(relaxation.program, row)
        promised = constant + floor * _enter_plane(size[1] - 1, entered, relaxation, use, floor)
        part, lowest = (INWARD if entered.size[0] >= MANY and promised > lowest + TINY * floor else 1.0), promised
        if bound - promised <= settled * (bound - floor):
            break
    _note_optimum(entered, relaxation)
    clear_program(relaxation.program, size[0], entered.size[0])
    return bound, slope

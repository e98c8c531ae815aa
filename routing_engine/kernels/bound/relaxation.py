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
from routing_engine.kernels.bound.dual_bound import CLOSE, MANY_PATHS
from routing_engine.kernels.bound.dual_prices import (
    PricingRule,
    clear_dual_prices,
    compute_dual_prices,
    trace_dearest_path,
)
from routing_engine.kernels.bound.planes import CLOSED, PAID, PLANES, UNDECIDED, add_plane, get_base_multiplier
from routing_engine.kernels.bound.simplex import COLUMNS, ROWS, SMALL, add_row, create_program, solve_with

SETTLED = 0.2
"""Part of the gap that may be left to what the planes promise."""

UNSURE = 1e-6
"""How far from none and from all a share of a market's gas is at least that counts as a part."""


class Entered(NamedTuple):
    """Planes in a program: that of each column, whether each one is in it, and the number of columns."""

    plane: npt.NDArray[np.int64]
    has: npt.NDArray[np.bool_]
    size: npt.NDArray[np.int64]


@inner
def _measure_gain(c, prices, relaxation, floor):
    """Return by how much plane c lies above the program's optimum, as a part of the floor; -inf if it is closed."""
    planes, rows = relaxation.planes, relaxation.rows
    gain = planes.value[c] / floor - prices[0]
    for i in range(planes.row.shape[1]):
        row = planes.row[c, i]
        if row >= 0:
            if rows.decision[row] == CLOSED:
                return -np.inf
            gain -= planes.use[c, i] * (get_base_multiplier(rows, row) / floor + prices[row])
    return gain


@inner
def _enter_plane(c, entered, program, relaxation, use, floor):
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
    return solve_with(program, relaxation.size[0], column, use, gain / floor)


@inner
def _enter_known_planes(entered, program, relaxation, use, floor):
    """Enter the planes of other nodes that lie above the optimum."""
    prices, any_is = program.tableau[ROWS], True
    while any_is:
        any_is = False
        for c in range(relaxation.size[1]):
            if entered.size[0] == COLUMNS:
                return
            if not entered.has[c] and _measure_gain(c, prices, relaxation, floor) > SMALL:
                _enter_plane(c, entered, program, relaxation, use, floor)
                any_is = True


@inner
def _set_multipliers(state, relaxation, added):
    """Set the multipliers of the rows' markets; return their sum beyond what they are in any case."""
    rows, total = relaxation.rows, 0.0
    for row in range(1, relaxation.size[0]):
        is_closed = rows.decision[row] == CLOSED
        state.multiplier[rows.market[row]] = np.inf if is_closed else get_base_multiplier(rows, row) + added[row]
        total += added[row]
    return total


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
def _find_doubtful_row(program, entered, relaxation, use):
    """Return the row of the undecided market of whose gas parts are paid and most is at stake; -1 if there is none."""
    planes, rows, size = relaxation.planes, relaxation.rows, relaxation.size
    use[:] = 0.0
    for i in range(size[0]):
        column = program.basis[i] - ROWS
        if column >= 0:
            c = entered.plane[column]
            for k in range(planes.row.shape[1]):
                if planes.row[c, k] >= 0:
                    use[planes.row[c, k]] += program.tableau[i, -1] * planes.use[c, k]
    most, found = 0.0, -1
    for row in range(1, size[0]):
        stake = rows.gas[row] * min(use[row], 1.0 - use[row])
        if rows.decision[row] == UNDECIDED and UNSURE < use[row] < 1.0 - UNSURE and stake > most:
            most, found = stake, row
    return found


@allocating
def solve_relaxation(problem, state, workspace, relaxation, floor, bound):
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

    Returns
    -------
    bound, price : float, float
        As of `certify`; the price is 0 where the bound is no lower.
    row : int
        Of the market to decide upon next, or -1.
    """
    max_hops, duals, size = problem.max_hops, workspace.duals, relaxation.size
    path, dual_price, use = np.zeros(max_hops, np.int64), np.zeros(max_hops), np.zeros(ROWS)
    program, added = create_program(), np.zeros(ROWS)
    entered = Entered(np.zeros(COLUMNS, np.int64), np.zeros(PLANES, np.bool_), np.zeros(1, np.int64))
    for row in range(1, size[0]):
        add_row(program, row)
    _enter_known_planes(entered, program, relaxation, use, floor)
    slope, constant = 0.0, _add_up_constant(relaxation.rows, size[0])
    while True:
        for row in range(1, size[0]):
            added[row] = max(0.0, program.tableau[ROWS, row]) * floor
        total = constant + _set_multipliers(state, relaxation, added)
        price = compute_dual_prices(problem, state, workspace, PricingRule(max(0.0, floor - total), MANY_PATHS))
        relaxation.total[0] = total
        if price * problem.amount + total < bound:
            bound, slope = price * problem.amount + total, price
        is_left = price <= problem.least_price  # what is left of the amount is worth as much as any path
        length = 0 if is_left else trace_dearest_path(duals, problem, path, dual_price)
        clear_dual_prices(duals)
        if bound <= floor * (1.0 + CLOSE) or size[1] == PLANES or entered.size[0] == COLUMNS:
            break
        known = size[0]
        add_plane(path[:length], dual_price, price, problem, state, relaxation)
        for row in range(known, size[0]):
            add_row(program, row)
        best = _enter_plane(size[1] - 1, entered, program, relaxation, use, floor)
        promised = constant + floor * best
        if bound - promised <= SETTLED * (bound - floor):
            break
    return bound, slope, _find_doubtful_row(program, entered, relaxation, use)

"""How little any route costs that gives what is asked: the bounds of an exact-out answer."""

from __future__ import annotations

from routing_engine.certificate import Bounds
from routing_engine.search.allocations.allocation import Allocation
from routing_engine.search.splits.split import FEW, PROVEN, PROVEN_OF_FEW, Splitter

WIDE = 1e-2
"""Relative gap from which on an input is bounded in a second way, though at the same rate."""

GAS_ALONE = 0.5
"""Part of a cost that the least gas of any route must be for it to be a bound by itself."""


def bound_cost(splitter: Splitter, allocation: Allocation, gross: float) -> Bounds:
    """Return what no route that gives the request's output costs less than, gas valued in the input.

    Where an allocation's own bound is not close, it is judged anew at no more than the average rate: a unit left must
    not seem worth more than one that is sold. A loose bound may be closer at the marginal rate.

    Parameters
    ----------
    allocation : Allocation
        Of the answer.
    gross : float
        What it costs.
    """
    wanted, slope, known = float(splitter.request.amount), allocation.slope, allocation.least_input
    if splitter.least_gas > GAS_ALONE * gross:  # the input is next to nothing, and so is what bounds say of it
        known = known._replace(of_hops=max(known.of_hops, splitter.least_gas))
    average, is_few = wanted / gross, allocation.count <= FEW
    proven, rate = gross * (1.0 - (PROVEN_OF_FEW if is_few else PROVEN)), min(slope, average)
    if slope <= 0.0 or max(known) >= proven:
        return known
    if not _is_closed(allocation):
        amount = max(1.0, gross - splitter.least_gas)
        known = Bounds(*map(max, known, splitter.bound_input_at(rate, amount, allocation)))
    # As all of an input may be left, it proves no more than what is wanted at the rate.
    most = min(proven, wanted / slope * (1.0 - PROVEN_OF_FEW)) if slope > average else gross * (1.0 - WIDE)
    if max(known) >= most:
        return known
    return Bounds(*map(max, known, splitter.bound_input_at(slope, gross, allocation)))


def _is_closed(allocation: Allocation) -> bool:
    """Whether a single path was proven to be the best for an input, so that another look would prove no more."""
    is_judged = allocation.is_judged or not allocation.is_open(PROVEN_OF_FEW)
    return allocation.count == 1 and max(allocation.least_input) > 0.0 and is_judged

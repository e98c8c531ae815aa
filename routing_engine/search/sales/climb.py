"""An amount that is far more than its markets' depth, approached from a part of it.

More is never worth less: whatever a part of an amount gives, the whole gives too, as what is left can go over a path
that takes it. But a division that begins where prices have fallen to next to nothing goes astray: it uses markets in
directions, and tokens in an order, that keep better paths out. So parts of the amount are divided too, each beginning
with the widest paths of all flows, down to one that hardly moves prices. The part that nets most grows to the whole.
"""

from __future__ import annotations

from math import inf, prod

from routing_engine.search.allocations.allocation import Allocation, Part, choose_better
from routing_engine.search.paths.single import Single
from routing_engine.search.splits.flow_paths import list_flow_parts
from routing_engine.search.splits.split import Splitter

STRETCHED, OPEN = 0.5, 5e-3
"""Price impact of the best single path, and relative gap to the bound, from which on an amount is approached so."""

STEP = 2.0
"""How many times a part the next one is. The first is what halves the best single path's price."""

SETTLED, VAIN = 1e-2, 2
"""The part of the output that a step gains at least, and after how many in a row that gain less no part begins anew.
From there on each is so many times the last as the square of what that was."""

NOTHING = Allocation.from_parts([], 1, 1)


def climb(splitter: Splitter, found: Allocation, single: Single) -> Allocation:
    """Return an allocation that grew from a part of the amount, where so much is open and it is better.

    Parameters
    ----------
    single : Single
        The best single path of the amount.
    """
    if single.price_impact <= STRETCHED or not found.is_open(OPEN) or splitter.is_over:
        return found
    found = splitter.look_closer(found)
    if not found.is_open(OPEN):
        return found
    other = grow_from_part(splitter, single)
    if other.net <= found.net:
        return found
    return choose_better(found, other if other.max_hops == found.max_hops else splitter.look_closer(other))


def grow_from_part(splitter: Splitter, single: Single) -> Allocation:
    """Return an allocation of the amount that grew from a part of it; infeasible where none does."""
    amount = float(splitter.request.amount)
    price = prod(hop.spot_price for hop in single.route.hops)
    # Prices of hops are for information: without one it begins with the whole.
    kept = single.route.amount_out / (price * amount) if price > 0.0 else 1.0
    part, growth, vain = max(1.0, amount * min(1.0, kept)), STEP, 0
    here = _begin_with_flows(splitter, part, price)
    while part < amount:
        part = min(amount, part * growth)
        there = _enlarge(splitter, here.list_parts(), part, here.net) if here.net > -inf else here
        if vain < VAIN and not splitter.is_over:
            there = max(there, _begin_with_flows(splitter, part, price), key=_get_net)
        vain = 0 if there.net > here.net * (1.0 + SETTLED) else vain + 1
        growth = STEP if vain < VAIN else growth * growth
        here = there
    return here


def _begin_with_flows(splitter: Splitter, part: float, price: float) -> Allocation:
    """Return an allocation of a part of the amount that begins with the widest paths of all flows."""
    parts = list_flow_parts(splitter, part, price * part)
    return _enlarge(splitter, parts, part) if parts else NOTHING


def _enlarge(splitter: Splitter, parts: list[Part], amount: float, enough: float = -inf) -> Allocation:
    """Return an allocation of an amount that begins with paths of a part of it.

    All take as much more at first. Where that nets less than `enough`, one takes the rest beside the others as they
    were, whichever gives most so.
    """
    scale, rest = amount / sum(map(_get_input, parts)), amount - sum(map(_get_input, parts))
    best = splitter.improve([(edges, part * scale) for edges, part in parts], longer=True, is_judged=False)
    if best.net > -inf and best.net >= enough:
        return best
    fitted = NOTHING
    for place, (edges, part) in enumerate(parts):
        if splitter.is_over:
            break
        fitted = max(fitted, splitter.fit([*parts[:place], (edges, part + rest), *parts[place + 1 :]]), key=_get_net)
    if fitted.net == -inf:
        return best
    return max(best, splitter.improve(fitted.list_parts(), longer=True, is_judged=False), key=_get_net)


def _get_net(allocation: Allocation) -> float:
    return allocation.net


def _get_input(part: Part) -> float:
    return part[1]

"""What the markets that lead to a token can pay at most, whatever prices are: a bound for amounts beyond liquidity.

There the other bounds, which value the amount at marginal prices, leave much open. This one asks only how much can come
through: of the target no more arrives than all markets give for all that can be at the tokens before it. It looks back
from the target, so that only edges on the way there are evaluated.
"""

from __future__ import annotations

import numpy as np

from routing_engine.curves.kernels.edge_curve import compute_amount_out
from routing_engine.curves.shape import REFUSED
from routing_engine.jit.decorators import allocating, inner, kernel

RELAYS = 4
"""How many markets before the target are followed; each further one makes the bound closer, by less and less."""

ROUNDING = 1e-9
"""More than the relative error of such a sum."""


@inner
def _bound_output(edge, pieces, here):
    """Return what an edge gives at most for what is at its token; infinite where that is not known.

    A curve that is not concave lies below the line of its largest average price.
    """
    taken = min(here, edge["x_max"])
    given = taken * edge["max_average_price"]
    if edge["concave"] != 0:
        given, _ = compute_amount_out(edge, pieces, taken)
        if given == REFUSED:
            return np.inf
    given *= np.float32(1.0) + edge["above"]
    return np.inf if np.isnan(given) else given


@inner
def _mark_sources(problem, v, is_asked):
    """Mark the tokens from which edges lead to token v."""
    reverse = problem.graph.reverse
    for row in range(reverse.first[v], reverse.first[v + 1]):
        u = reverse.links[row]["other"]
        if u != problem.end and not is_asked[u] and problem.allowed[reverse.edges[row]["market"]]:
            is_asked[u] = True


@inner
def _add_up(problem, v, most):
    """Return what can arrive at token v, where `most` can be at the tokens before it."""
    graph, reverse = problem.graph, problem.graph.reverse
    total = 0.0
    for row in range(reverse.first[v], reverse.first[v + 1]):
        edge = reverse.edges[row]
        u = edge["other"]
        if problem.allowed[edge["market"]] and u != problem.end:
            total += _bound_output(edge, graph.pieces, most[u])
            if total == np.inf:
                break
    return total


@inner
def _pay(problem, most, best):
    """Return what all markets that lead to the target net, where `most` can be at the tokens before it.

    `best` is memory, for each market a 0.
    """
    graph, reverse, end, total = problem.graph, problem.graph.reverse, problem.end, 0.0
    for row in range(reverse.first[end], reverse.first[end + 1]):
        edge = reverse.edges[row]
        if problem.allowed[edge["market"]]:
            gas = edge["gas"] * problem.gas[edge["chain"]]
            net = _bound_output(edge, graph.pieces, most[edge["other"]]) - gas
            best[edge["market"]] = max(best[edge["market"]], net)
    for row in range(reverse.first[end], reverse.first[end + 1]):
        market = reverse.edges[row]["market"]
        total += best[market]
        best[market] = 0.0  # a route uses one edge of a market
    return total


@inner
def _give_at_least(edge, pieces, here):
    """Return what an edge gives for what is at its token, or less: nothing where that is not known."""
    taken = min(here, edge["x_max"])
    given = taken * edge["max_average_price"]
    if edge["concave"] != 0:
        given, _ = compute_amount_out(edge, pieces, taken)
    return given if given > 0.0 else 0.0


@inner
def _arrive_at_least(problem, v, most):
    """Return what `_add_up` does, or less."""
    graph, reverse, total = problem.graph, problem.graph.reverse, 0.0
    for row in range(reverse.first[v], reverse.first[v + 1]):
        u = reverse.links[row]["other"]
        if most[u] > 0.0 and u != problem.end and problem.allowed[reverse.edges[row]["market"]]:
            total += _give_at_least(reverse.edges[row], graph.pieces, most[u])
    return total


@allocating
def _pays(problem, amount, enough):
    """Whether that much can be paid by what the amount becomes over up to three markets, all of it over each path.

    Then `bound_payable` is no less, and much sooner found not to be of use.
    """
    graph, start, end = problem.graph, problem.start, problem.end
    forward, reverse, total = graph.forward, graph.reverse, 0.0
    most, best = np.zeros(problem.units.size), np.zeros(problem.allowed.size)
    for e in range(forward.first[start], forward.first[start + 1]):
        edge = forward.edges[e]
        if problem.allowed[edge["market"]]:
            most[edge["other"]] += _give_at_least(edge, graph.pieces, amount)
    most[start] = amount
    for is_farther in range(2):
        for row in range(reverse.first[end], reverse.first[end + 1]):
            edge = reverse.edges[row]
            u, market = np.int64(edge["other"]), edge["market"]
            if not problem.allowed[market]:
                continue
            here = _arrive_at_least(problem, u, most) if is_farther and u != start else most[u]
            if here <= 0.0:
                continue
            net = _give_at_least(edge, graph.pieces, here) - edge["gas"] * problem.gas[edge["chain"]]
            total += max(0.0, net - best[market])
            best[market] = max(best[market], net)
            if total >= enough:
                return True
    return False


@kernel
def bound_payable(problem, amount, known):
    """Return what no route of an amount nets more than, in units of the target, over any number of markets.

    Parameters
    ----------
    problem : SplitProblem
        Whose ends, allowed markets and value of gas count.
    amount : float
        All that there is at the start.
    known : float
        A bound that is known: where it is soon clear that this one is no closer, it is left at infinity.
    """
    if _pays(problem, amount, known * (1.0 + ROUNDING)):
        return np.inf
    tokens = problem.units.size
    is_asked = np.zeros((RELAYS + 1, tokens), np.bool_)  # by how many markets were followed
    _mark_sources(problem, problem.end, is_asked[RELAYS])
    for level in range(RELAYS, 1, -1):
        for v in range(tokens):
            if is_asked[level, v] and v != problem.start:
                _mark_sources(problem, v, is_asked[level - 1])
    before, most = np.empty(tokens), np.full(tokens, np.inf)
    most[problem.start] = amount
    for level in range(1, RELAYS + 1):
        before, most = most, before
        for v in range(tokens):
            if is_asked[level, v]:
                most[v] = _add_up(problem, v, before) if v != problem.start else amount
    return _pay(problem, most, np.zeros(problem.allowed.size))

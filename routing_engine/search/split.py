"""Division of an amount over many paths, and a bound on what any division can give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from routing_engine.deadline import Budget
from routing_engine.graph.graph import Graph
from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.arrays import Task
from routing_engine.kernels.bound import flow_limits
from routing_engine.kernels.split import column_generation, pruning
from routing_engine.kernels.split.flow_network import MAX_EDGES
from routing_engine.kernels.workspace import Workspace
from routing_engine.model import Hop
from routing_engine.request import RouteRequest
from routing_engine.route import Side
from routing_engine.search.allocation import Division, better, parts_of
from routing_engine.search.exact_output import Flows, Match, match, spend_least
from routing_engine.search.flow_replay import Network

_fill_most, _clear_most = Compiled(flow_limits.fill_most), Compiled(flow_limits.clear_most)
_improve, _redivide = Compiled(column_generation.improve), Compiled(pruning.redivide)

ROUNDS = 60

DOUBTFUL, DOUBTFUL_OF_FEW, FEW = 1e-4, 3e-5, 4
"""Relative gaps from which on a second way to a division is tried: of any, and of one over few paths, soon done."""

REDIVISIONS, ALIKE = 2, 0.9
"""How often an exact-out division is improved again, at the input that it was found to need, and the part of the input
before from which on that is not worth it."""

EXHAUSTED, PARTS = 0.99, (1e-2, 1e-4, 1e-6)
"""Price impact at which a trade exceeds what there is to buy, and the parts of it whose paths are found instead."""

TURNS, CLOSE = 4, 1e-8
"""How often the worth of gas is corrected in the bound of an exact-out network, and when it is right."""

Start = tuple[Sequence[int], int]


class Splitter:
    """Improve single paths of one request into networks.

    Parameters
    ----------
    graph : Graph
        What is routed over.
    request : RouteRequest
        Whose tokens are in the graph.
    gas_cost : float64 array
        From `Graph.gas_cost`.
    allowed : bool array, shape (markets,)
        Markets that may be used.
    workspace : Workspace
        Of this thread.
    budget : Budget
        Running; asked before each further way to a division.
    """

    def __init__(
        self,
        graph: Graph,
        request: RouteRequest,
        gas_cost: npt.NDArray[np.float64],
        allowed: npt.NDArray[np.bool_],
        workspace: Workspace,
        budget: Budget,
    ) -> None:
        self._graph, self._request, self._workspace, self._budget = graph, request, workspace, budget
        start, end = graph.index[request.token_in], graph.index[request.token_out]
        self._gas_cost = gas_cost
        self._task = Task(
            allowed=allowed, gas=gas_cost * graph.units[end], start=start, end=end, max_hops=request.max_hops
        )

    def divide(
        self, starts: Sequence[Start], price_impact: float = 0.0, others: Sequence[Sequence[int]] = ()
    ) -> Division:
        """Divide over more paths than those given, while the net output grows.

        Parameters
        ----------
        starts : sequence of (edges, amount_in)
            Forward edges and input of the paths to begin with, at most as many as may be used: the best single path,
            or several that only together take the amount. For exact-out the inputs of the result will be less.
        price_impact : float
            Of them.
        others : sequence of paths
            Good single paths, the best first: where to begin a second way to the division, with fewer hops.
        """
        division = self._grown(starts, others, self._request.max_hops)
        for part in PARTS if price_impact > EXHAUSTED else ():
            if self._budget.is_spent():
                break
            smaller = self._improved([(edges, amount * part) for edges, amount in starts], self._task)
            grown = [(edges, amount / part) for edges, amount in parts_of(smaller)]
            division = better(division, self._improved(grown, self._task))
        if self._request.side == Side.EXACT_OUT and division.count > 1:
            return self._for_less_input(division)
        return division

    def _grown(self, starts: Sequence[Start], others: Sequence[Sequence[int]], max_hops: int) -> Division:
        """Divide over paths of so many hops; in doubt again, over paths of a hop less first.

        What more hops offer hides some paths of fewer when paths are added one step at a time.
        """
        task = self._task._replace(max_hops=max_hops)
        division = self._improved(starts, task)
        shorter = next((path for path in others if len(path) < max_hops), ())
        is_doubtful = division.bound > division.net * (1.0 + DOUBTFUL)
        may_be = 1 < division.count <= FEW and division.bound > division.net * (1.0 + DOUBTFUL_OF_FEW)
        if not shorter or not (is_doubtful or may_be) or self._budget.is_spent():
            return division
        fewer = self._grown([(shorter, sum([amount for _, amount in starts]))], others, max_hops - 1)
        if not is_doubtful and fewer.net <= division.net:
            return division
        return better(division, self._improved(parts_of(fewer), task))

    def _for_less_input(self, division: Division) -> Division:
        """Improve an exact-out division at the input that it turns out to need, while that is far less.

        Which paths are best depends on the input, and of a large trade a single path needs far more.
        """
        amount, matched = float(division.x[: division.count].sum()), self._match(division)
        for _ in range(REDIVISIONS):
            if matched is None or matched.amount > ALIKE * amount:
                break
            amount = matched.amount
            nearer = self._improved(parts_of(division), self._task)
            again = self._match(nearer)
            if again is None or self._cost(again) >= self._cost(matched):
                break
            division, matched = nearer, again
        return division

    def judge(self, starts: Sequence[Start]) -> Division:
        """Return a division over just these paths, with its bound."""
        return self._improved(starts, self._task, grow=False)

    def hops(self, division: Division) -> tuple[Hop, ...] | None:
        """Replay a division in exact integers; None where a market declines its exact part."""
        graph, amount = self._graph, self._request.amount
        if self._request.side == Side.EXACT_OUT:
            matched = self._match(division)
            return spend_least(graph, matched, amount) if matched else None
        found = self._redivided(division, float(amount))
        return Network.of(graph, found.edges, found.flows).replay_or_none(amount) if found.edges else None

    def least_input(self, division: Division, gross: float) -> float:
        """Return what no route that gives the request's output costs less than, gas valued in the input.

        Parameters
        ----------
        division : Division
            That gives the output.
        gross : float
            Its input and gas.

        With gas priced at `worth` units of output for one of input, a bound ``out - worth * gas <= slope * in + rest``
        says that ``in + gas >= (out - rest) / max(slope, worth)``. It is tightest where the two are equal.
        """
        more = gross / float(division.x[: division.count].sum())
        starts = [(edges, part * more) for edges, part in parts_of(division)]
        free = not self._gas_cost.any()  # then its worth does not matter, and the input bounds itself
        worth, most = division.slope, 0.0
        for _ in range(1 if free else TURNS):
            if worth <= 0.0:
                break
            task = self._task._replace(gas=self._gas_cost * self._graph.units[self._task.start] * worth)
            judged = self._improved(starts, task, grow=False, linear=True)
            rest = judged.bound - judged.slope * gross
            price = judged.slope if free and judged.slope > 0.0 else max(judged.slope, worth)
            most = max(most, (self._request.amount - rest) / price)
            if abs(judged.slope - worth) <= CLOSE * worth:
                break
            worth = judged.slope
        return most

    def _improved(
        self, starts: Sequence[tuple[Sequence[int], float]], task: Task, *, grow: bool = True, linear: bool = False
    ) -> Division:
        scratch, load, worths = self._workspace
        room, rounds = (self._request.max_splits, ROUNDS) if grow else (len(starts), 0)
        paths, x = np.empty((room, task.max_hops), np.int32), np.zeros(room)
        paths.fill(-1)
        for place, (edges, part) in enumerate(starts):
            paths[place, : len(edges)] = edges
            x[place] = part
        amount, board = sum([float(part) for _, part in starts]), self._graph.board
        reached = _fill_most(board, load, task, amount, scratch.near, False)
        net, count, bound, slope = _improve(
            paths, len(starts), amount, x, board, load, task, scratch, worths, rounds,
            self._graph.wraps, 0 if linear else reached,
        )  # fmt: skip
        _clear_most(load, reached)
        return Division(paths, x, count, net, bound, slope)

    def _redivided(self, division: Division, amount: float) -> Flows:
        """Divide another amount over the same paths, beginning with the present proportions; both are changed."""
        order, flow = np.empty(MAX_EDGES, np.int64), np.empty(MAX_EDGES)
        total, value, price = _redivide(
            division.paths, division.count, amount, division.x, self._graph.board, order, flow
        )  # fmt: skip
        return Flows(order[:total].tolist(), flow[:total].tolist(), value, price)

    def _match(self, division: Division) -> Match | None:
        """Find the input at which an exact-out division gives what is asked; the division is then one of that input."""
        shares = division.x.copy()

        def divided(amount: float) -> Flows:
            found = self._redivided(division, amount)
            if found.edges:
                return found
            division.x[:] = shares  # the proportions of the amount before fill a market
            return self._redivided(division, amount)

        return match(divided, float(shares[: division.count].sum()), float(self._request.amount))

    def _cost(self, matched: Match) -> float:
        """Return the input and its markets' gas, valued in the input."""
        rows, units = self._graph.forward.edges[matched.found.edges], self._graph.units
        return matched.amount + float((rows["gas"] * self._gas_cost[rows["chain"]]).sum() * units[self._task.start])

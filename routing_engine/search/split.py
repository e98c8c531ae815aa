"""Splits of an amount over many paths, and a bound on what any split can give."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.deadline import Budget
from routing_engine.graph.graph import Graph
from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.arrays import SplitProblem
from routing_engine.kernels.bound import flow_limits
from routing_engine.kernels.split import column_generation, pruning, try_columns
from routing_engine.kernels.split.flow_network import MAX_EDGES
from routing_engine.model import Hop
from routing_engine.request import RouteRequest
from routing_engine.route import Side
from routing_engine.search.allocation import Allocation, Part, choose_better
from routing_engine.search.exact_output import Flows, find_matching_input, invert, spend_least
from routing_engine.search.flow_replay import FlowPlan
from routing_engine.search.path_search import ThreadMemory

_fill_limits, _clear_limits = Compiled(flow_limits.fill_limits), Compiled(flow_limits.clear_limits)
_generate_columns, _reallocate = Compiled(column_generation.generate_columns), Compiled(pruning.reallocate)
_append_open_paths = Compiled(try_columns.append_open_paths)

ROUNDS = 60
"""How often columns may be tried."""

DOUBTFUL, DOUBTFUL_OF_FEW, FEW = 1e-4, 3e-5, 4
"""Relative gaps from which on a second way to an allocation is tried: of any, and of one over few paths, soon done."""

CONSIDERABLE_IMPACT = 0.02
"""Price impact of a single path from which on an exact-out allocation begins far below its input: several paths may
need a part of that only, and paths that are found at another size are others."""

APPROACHES, ALIKE = 24, 0.02
"""How often an exact-out allocation is improved at another input, and how near its output must come to what is asked,
as a part of that, before only proportions are left to find."""

FARTHEST = 4.0
"""How many times the input before an exact-out allocation is tried at next: paths are found on the way."""

EXHAUSTED = 1e-4
"""Growth of an output, as a part of it, for a further input as large as that before, from which on no more is to be
had."""

OVERSIZED_IMPACT, SMALLER_PARTS = 0.99, (1e-2, 1e-4, 1e-6)
"""Price impact at which a trade exceeds what there is to buy, and the parts of it whose paths are found instead."""

TURNS, CLOSE = 4, 1e-8
"""How often the value of gas is corrected in the bound of an exact-out split, and when it is right."""


class Splitter:
    """Improve single paths of one request into splits.

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
    memory : ThreadMemory
        Of this thread.
    budget : Budget
        Running; asked before each further way to an allocation.
    """

    def __init__(
        self,
        graph: Graph,
        request: RouteRequest,
        gas_cost: npt.NDArray[np.float64],
        allowed: npt.NDArray[np.bool_],
        memory: ThreadMemory,
        budget: Budget,
    ) -> None:
        self._graph, self._request, self._memory, self._budget = graph, request, memory, budget
        start, end = graph.index[request.token_in], graph.index[request.token_out]
        self._gas_cost = gas_cost
        self._problem = SplitProblem(
            graph=graph.arrays,
            allowed=allowed,
            wraps=graph.wraps,
            gas=gas_cost * graph.units[end],
            start=start,
            end=end,
            max_hops=request.max_hops,
            amount=float(request.amount),
        )

    def allocate(
        self, starts: Sequence[Part], price_impact: float = 0.0, others: Sequence[Sequence[int]] = ()
    ) -> Allocation:
        """Allocate to more paths than those given, while the net output grows.

        Parameters
        ----------
        starts : sequence of Part
            Paths to begin with, at most as many as may be used: the best single path, or several that only together
            take the amount. For exact-out the inputs of the result will be less.
        price_impact : float
            Of them.
        others : sequence of paths
            Good single paths, the best first: where to begin a second way to the allocation, with fewer hops.
        """
        if self._request.side == Side.EXACT_OUT:
            return self._approach_output(starts, price_impact, others)
        allocation = self._grow(starts, others, self._request.max_hops)
        for part in SMALLER_PARTS if price_impact > OVERSIZED_IMPACT else ():
            if self._budget.is_spent():
                break
            smaller = self._improve([(edges, amount * part) for edges, amount in starts], self._problem)
            grown = [(edges, amount / part) for edges, amount in smaller.list_parts()]
            allocation = choose_better(allocation, self._improve(grown, self._problem))
        return allocation

    def _grow(self, starts: Sequence[Part], others: Sequence[Sequence[int]], max_hops: int) -> Allocation:
        """Allocate to paths of so many hops; in doubt again, to paths of a hop less first.

        What more hops offer hides some paths of fewer when paths are added one step at a time.
        """
        problem = self._problem._replace(max_hops=max_hops)
        allocation = self._improve(starts, problem)
        shorter = next((path for path in others if len(path) < max_hops), ())
        is_doubtful = allocation.bound > allocation.net * (1.0 + DOUBTFUL)
        may_be = 1 < allocation.count <= FEW and allocation.bound > allocation.net * (1.0 + DOUBTFUL_OF_FEW)
        if not shorter or not (is_doubtful or may_be) or self._budget.is_spent():
            return allocation
        fewer = self._grow([(shorter, sum([amount for _, amount in starts]))], others, max_hops - 1)
        if not is_doubtful and fewer.net <= allocation.net:
            return allocation
        return choose_better(allocation, self._improve(fewer.list_parts(), problem))

    def _approach_output(
        self, starts: Sequence[Part], price_impact: float, others: Sequence[Sequence[int]]
    ) -> Allocation:
        """Allocate the input at which about the output arrives that is asked for, and improve it there.

        Which paths are best depends on the input, and of a large trade a single path needs far more than all do. So
        where one path moves the price considerably, the input grows from one at which it would not.
        """
        if price_impact > CONSIDERABLE_IMPACT:
            starts = [(edges, amount * (1.0 - price_impact)) for edges, amount in starts]
        allocation = self._grow(starts, others, self._request.max_hops)
        for _ in range(APPROACHES):
            if allocation.net == -inf or self._budget.is_spent():
                break
            scale = self._find_scale(allocation)
            if scale is None or abs(scale - 1.0) <= ALIKE:
                break
            nearer = self._move_on(allocation, min(max(scale, 1.0 / FARTHEST), FARTHEST), starts, others)
            if nearer is None:
                break
            allocation = nearer
        return self._improve_at_match(allocation, starts, others)

    def _find_scale(self, allocation: Allocation) -> float | None:
        """Return how many times an allocation's input is needed, as far as its paths know; None where no more helps."""
        amount, wanted = allocation.amount, float(self._request.amount)
        flows = self._reallocate(allocation, amount)
        if not flows.edges or (flows.value < wanted and flows.price * amount < EXHAUSTED * flows.value):
            return None
        scale = invert(amount, flows.value, flows.price, wanted) / amount
        if abs(scale - 1.0) > ALIKE:
            return scale
        # Paths that are full soon need more than a marginal price tells.
        matched = self._match_output(Allocation.from_parts(allocation.list_parts(), allocation.count, self._request.max_hops))
        return FARTHEST if matched is None else matched.amount / amount

    def _move_on(
        self, allocation: Allocation, scale: float, starts: Sequence[Part], others: Sequence[Sequence[int]]
    ) -> Allocation | None:
        """Improve an allocation at another input; where its paths are full, with others or at one less far away."""
        while abs(scale - 1.0) > ALIKE:
            moved = self._improve_anew(allocation, scale, starts, others)
            if moved.net > -inf:
                return moved
            opened = self._open_up(allocation, scale)
            if opened.count > allocation.count:
                allocation = opened
            else:
                scale = scale**0.5
        return None

    def _improve_anew(
        self, allocation: Allocation, scale: float, starts: Sequence[Part], others: Sequence[Sequence[int]]
    ) -> Allocation:
        """Improve an allocation at another input; where that leaves much open, begin from the start there as well.

        What was good at another input may be in the way.
        """
        moved = self._improve(allocation.list_parts(scale), self._problem)
        if moved.bound <= moved.net * (1.0 + DOUBTFUL) or self._budget.is_spent():
            return moved
        scale *= allocation.amount / sum([part for _, part in starts])
        fresh = self._grow([(edges, part * scale) for edges, part in starts], others, self._request.max_hops)
        return choose_better(moved, fresh)

    def _open_up(self, allocation: Allocation, scale: float) -> Allocation:
        """Return an allocation with further paths that take nothing yet, around the edges that are full."""
        state, workspace = self._memory
        parts = allocation.list_parts()
        paths = Allocation.from_parts(parts, self._request.max_splits, self._request.max_hops).paths
        problem = self._problem._replace(amount=allocation.amount * scale)
        reached = _fill_limits(problem, state, workspace.scratch.is_adjacent, False)
        count = _append_open_paths(paths, len(parts), problem, state, workspace.scratch)
        _clear_limits(state, reached)
        return Allocation(paths, count)

    def _improve_at_match(
        self, allocation: Allocation, starts: Sequence[Part], others: Sequence[Sequence[int]]
    ) -> Allocation:
        """Improve an allocation once more at just the input that it needs, where other paths may be worth more."""
        matched = self._match_output(allocation) if allocation.count > 1 else None
        if matched is None:
            return allocation
        again = self._improve_anew(allocation, 1.0, starts, others)
        rematched = self._match_output(again) if again.net > -inf else None
        if rematched is None or self._value_cost(rematched) >= self._value_cost(matched):
            return allocation
        return again

    def judge(self, starts: Sequence[Part]) -> Allocation:
        """Return an allocation to just these paths, with its bound."""
        return self._improve(starts, self._problem, grow=False)

    def replay(self, allocation: Allocation) -> tuple[Hop, ...] | None:
        """Replay an allocation in exact integers; None where a market declines its exact part."""
        graph, amount = self._graph, self._request.amount
        if self._request.side == Side.EXACT_OUT:
            matched = self._match_output(allocation)
            return spend_least(graph, matched, amount) if matched else None
        found = self._reallocate(allocation, float(amount))
        return FlowPlan.of(graph, found.edges, found.flows).replay_or_none(amount) if found.edges else None

    def bound_input(self, allocation: Allocation, gross: float) -> float:
        """Return what no route that gives the request's output costs less than, gas valued in the input.

        Parameters
        ----------
        allocation : Allocation
            That gives the output.
        gross : float
            Its input and gas.

        With gas valued at `rate` units of output for one of input, a bound ``out - rate * gas <= slope * in + rest``
        says that ``in + gas >= (out - rest) / max(slope, rate)``. It is tightest where the two are equal.
        """
        more = gross / allocation.amount
        starts = allocation.list_parts(more)
        free = not self._gas_cost.any()  # then its value does not matter, and the input bounds itself
        rate, most = allocation.slope, 0.0
        for _ in range(1 if free else TURNS):
            if rate <= 0.0:
                break
            problem = self._problem._replace(gas=self._gas_cost * self._graph.units[self._problem.start] * rate)
            judged = self._improve(starts, problem, grow=False, linear=True)
            rest = judged.bound - judged.slope * gross
            price = judged.slope if free and judged.slope > 0.0 else max(judged.slope, rate)
            most = max(most, (self._request.amount - rest) / price)
            if abs(judged.slope - rate) <= CLOSE * rate:
                break
            rate = judged.slope
        return most

    def _improve(
        self, starts: Sequence[Part], problem: SplitProblem, *, grow: bool = True, linear: bool = False
    ) -> Allocation:
        """Improve an allocation by further paths, unless it is only to be judged; with a linear bound if asked for."""
        state, workspace = self._memory
        capacity, rounds = (self._request.max_splits, ROUNDS) if grow else (len(starts), 0)
        problem = problem._replace(amount=sum([float(part) for _, part in starts]))
        paths = Allocation.from_parts(starts, capacity, problem.max_hops).paths
        reached = _fill_limits(problem, state, workspace.scratch.is_adjacent, False)
        net, count, bound, slope = _generate_columns(
            paths, len(starts), problem, state, workspace, rounds, 0 if linear else reached
        )
        _clear_limits(state, reached)
        return Allocation(paths, count, net, bound, slope)

    def _reallocate(self, allocation: Allocation, amount: float) -> Flows:
        """Allocate another amount to the same paths, beginning with the present proportions; both are changed."""
        order, flow = np.empty(MAX_EDGES, np.int64), np.empty(MAX_EDGES)
        total, value, price = _reallocate(
            allocation.paths, allocation.count, amount, self._graph.arrays, order, flow
        )  # fmt: skip
        return Flows(order[:total].tolist(), flow[:total].tolist(), amount, value, price)

    def _match_output(self, allocation: Allocation) -> Flows | None:
        """Find the input at which an exact-out allocation gives what is asked; it is then one of that input."""
        x = allocation.paths.x
        shares = x.copy()

        def allocated(amount: float) -> Flows:
            found = self._reallocate(allocation, amount)
            if found.edges:
                return found
            x[:] = shares  # the proportions of the amount before fill a market
            return self._reallocate(allocation, amount)

        return find_matching_input(allocated, allocation.amount, float(self._request.amount))

    def _value_cost(self, flows: Flows) -> float:
        """Return the input and its markets' gas, valued in the input."""
        rows, units = self._graph.forward.edges[flows.edges], self._graph.units
        gas = (rows["gas"] * self._gas_cost[rows["chain"]]).sum()
        return flows.amount + float(gas * units[self._problem.start])

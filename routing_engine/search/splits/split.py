"""Splits of an amount over many paths, and a bound on what any split can give."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.certificate import Bounds
from routing_engine.deadline import UNLIMITED_WORK, Budget
from routing_engine.graph.gas_valuation import Valuation
from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.arrays import SplitProblem
from routing_engine.kernels.split import column_generation
from routing_engine.request import RouteRequest
from routing_engine.route import Side
from routing_engine.search.allocations.allocation import NO_INPUT, Allocation, Part, choose_better
from routing_engine.search.allocations.exact_output import Flows
from routing_engine.search.allocations.gas_free import begin_with_gas
from routing_engine.search.allocations.input_bounds import bound_inputs, find_least_gas
from routing_engine.search.allocations.reallocation import reallocate_paths
from routing_engine.search.allocations.steps_entered import count_gas
from routing_engine.search.paths.known import find_once
from routing_engine.search.paths.memory import ThreadMemory
from routing_engine.search.splits.flow_bounds import tighten_allocation, tighten_bounds

_generate_columns = Compiled(column_generation.generate_columns)

ROUNDS, JUDGE, JUDGE_BRIEFLY = 60, 0, -1
"""How often columns may be tried; or that paths are only judged, thoroughly or briefly."""

DOUBTFUL, DOUBTFUL_OF_FEW, FEW = 1e-4, 3e-5, 4
"""Relative gaps from which on a second way to an allocation is tried: of any, and of one over few paths, soon done."""

DOUBTFUL_WITHOUT_GAS, OTHER_PARTS, FEW_ENOUGH = 5e-6, (0.1, 10.0), 40
"""The same where gas is free; the parts of a trade whose paths are tried then, and of how many paths at most."""

OVERSIZED_IMPACT, SMALLER_PARTS = 0.99, (1e-2, 1e-4, 1e-6)
"""Price impact at which a trade exceeds what there is to buy, and the parts of it whose paths are found instead."""

PROVEN, PROVEN_OF_FEW = 1e-4, 1e-6
"""Relative gaps of bounds that are not looked at more closely: of any allocation, and of one over few paths."""


class Splitter:
    """Improve single paths of one request into splits.

    Parameters
    ----------
    valuation : Valuation
        Of gas, on the graph that is routed over.
    request : RouteRequest
        Whose tokens are in the graph.
    allowed : bool array, shape (markets,)
        Markets that may be used.
    memory : ThreadMemory
        Of this thread.
    budget : Budget
        Running; asked before each further way to an allocation.
    usual_hops : int
        Hops of the paths that are looked for first; at most the request's.
    gas_rate : float, optional
        Output that a unit of input is taken for where gas is valued; by reference prices by default.
    """

    def __init__(
        self, valuation: Valuation, request: RouteRequest, allowed: npt.NDArray[np.bool_], memory: ThreadMemory,
        budget: Budget, usual_hops: int, gas_rate: float | None = None,
    ) -> None:  # fmt: skip
        self.request, self.graph, self.memory, self._budget = request, valuation.graph, memory, budget
        self._capacity = request.max_splits
        self._known = budget.known if request.max_splits > 1 else None  # of one path nothing is asked twice
        graph, gas_cost = valuation.graph, valuation.gas_cost
        start, end = graph.index[request.token_in], graph.index[request.token_out]
        self._gas_cost, self.is_free, self._last = gas_cost, valuation.is_free, -UNLIMITED_WORK
        gas = gas_cost * (graph.units[end] if gas_rate is None else graph.units[start] * gas_rate)
        self._problem = SplitProblem(
            graph=graph.arrays, allowed=allowed, wraps=graph.wraps, gas=gas, units=valuation.settled_units,
            start=start, end=end, max_hops=usual_hops, amount=float(request.amount), least_price=0.0, work=budget.work,
        )  # fmt: skip

    @property
    def problem(self) -> SplitProblem:
        """What the kernels are given."""
        return self._problem

    @property
    def is_over(self) -> bool:
        """Whether the budget of time or work is spent."""
        return self._budget.is_spent() or self._budget.steps_left < self._last

    def is_doubtful(self, allocation: Allocation) -> bool:
        """Whether so much is open that another way to an allocation is worth its time."""
        return allocation.is_open(DOUBTFUL_WITHOUT_GAS if self.is_free else DOUBTFUL)

    def allocate(
        self, starts: Sequence[Part], price_impact: float = 0.0, others: Sequence[Sequence[int]] = ()
    ) -> Allocation:
        """Allocate to more paths than those given, while the net output grows.

        Parameters
        ----------
        starts : sequence of Part
            Paths to begin with, at most as many as may be used: the best single path, or several that only together
            take the amount.
        price_impact : float
            Of them.
        others : sequence of paths
            Good single paths, the best first: where to begin a second way to the allocation, with fewer hops.
        """
        allocation = self.grow(starts, others)
        if self.is_free:
            allocation = begin_with_gas(self._improve, starts, allocation, self._problem, self._budget.is_spent)
        is_oversized = price_impact > OVERSIZED_IMPACT
        for part in SMALLER_PARTS if is_oversized else OTHER_PARTS if self.is_free else ():
            may_gain = is_oversized or (allocation.count <= FEW_ENOUGH and self.is_doubtful(allocation))
            if not may_gain or self._budget.is_spent():
                break
            smaller = self._improve([(edges, amount * part) for edges, amount in starts], self._problem)
            if smaller.net > -inf:
                allocation = choose_better(allocation, self._improve(smaller.list_parts(1.0 / part), self._problem))
        return allocation

    def extend(self, allocation: Allocation) -> Allocation:
        """Improve a split by paths of more hops than usual, where the request lets them be as long."""
        if not self._may_be_longer(allocation.count) or self.is_over:
            return allocation
        longer = self.improve(allocation.list_parts(), longer=True)
        return longer if longer.net >= allocation.net else allocation

    def _may_be_longer(self, count: int) -> bool:
        return count > 1 and self.request.max_hops > self._problem.max_hops

    def grow(self, starts: Sequence[Part], others: Sequence[Sequence[int]], max_hops: int | None = None) -> Allocation:
        """Allocate to paths of so many hops; in doubt again, to paths of a hop less first.

        What more hops offer hides some paths of fewer when paths are added one step at a time. `starts` and `others`
        are as of `allocate`; hops are the usual ones by default.
        """
        is_first, max_hops = max_hops is None, max_hops or self._problem.max_hops
        allocation = self._improve(starts, problem := self._problem._replace(max_hops=max_hops))
        if is_first and problem.least_price > 0.0 and allocation.count == 1 and self.is_doubtful(allocation):
            judged = self._improve(allocation.list_parts(), problem, JUDGE)  # proves most, and is asked for in the end
            allocation = replace(choose_better(allocation, judged), is_judged=True)
        shorter = next((path for path in others if len(path) < max_hops), ())
        is_doubtful = self.is_doubtful(allocation)
        may_be = 1 < allocation.count <= FEW and allocation.is_open(DOUBTFUL_OF_FEW)
        if not shorter or not (is_doubtful or may_be) or self._budget.is_spent():
            return allocation
        fewer = self.grow([(shorter, sum([amount for _, amount in starts]))], others, max_hops - 1)
        paths, gone_on = {tuple(edges) for edges, _ in fewer.list_parts()}, (starts, allocation.list_parts())
        is_known = any(paths == {tuple(edges) for edges, _ in parts} for parts in gone_on)
        if is_known or (not is_doubtful and fewer.net <= allocation.net):
            return allocation
        is_asked = self.is_free or (is_first and not self._may_be_longer(fewer.count))  # else more hops follow
        return choose_better(allocation, self._improve(fewer.list_parts(), problem, is_judged=is_asked))

    def improve(self, starts: Sequence[Part], *, longer: bool = False, is_judged: bool = True) -> Allocation:
        """Improve an allocation by further paths, a split also by longer ones; without a bound in less time."""
        hops = self.request.max_hops if longer and self._may_be_longer(len(starts)) else self._problem.max_hops
        return self._improve(starts, self._problem._replace(max_hops=hops), is_judged=is_judged)

    def fit(self, starts: Sequence[Part]) -> Allocation:
        """Allocate to just these paths, without a bound."""
        return self._improve(starts, self._problem, JUDGE_BRIEFLY, is_judged=False)

    def with_problem(self, problem: SplitProblem) -> Splitter:
        """Return a splitter of the same request to whose kernels this is given."""
        other = copy(self)
        other._problem = problem
        return other

    def with_capacity(self, paths: int) -> Splitter:
        """Return a splitter of the same request that divides over up to so many paths."""
        other = copy(self)
        other._capacity = paths
        return other

    def limit_steps(self, steps: int) -> Splitter:
        """Return a splitter of the same request that is over after so many steps of work from now on."""
        other = copy(self)
        other._last = self._budget.steps_left - steps
        return other

    def value_input_at(self, rate: float) -> Splitter:
        """Return a splitter to which gas, and in bounds what is left of the input, are worth `rate` a unit."""
        gas, least_price = self._gas_cost * self.graph.units[self._problem.start] * rate, 0.0 if self.is_free else rate
        return self.with_problem(self._problem._replace(gas=gas, least_price=least_price))

    def judge(self, starts: Sequence[Part], *, briefly: bool = False) -> Allocation:
        """Return an allocation to just these paths, with its bound: a close one, or one that is soon found."""
        return self._improve(starts, self._problem, JUDGE_BRIEFLY if briefly else JUDGE)

    def look_closer(self, allocation: Allocation) -> Allocation:
        """Return an allocation with a closer bound than while paths were looked for, where that is worth its time."""
        is_settled = allocation.is_judged or self.is_free or self.is_over
        if is_settled or not allocation.is_open(PROVEN_OF_FEW if allocation.count <= FEW else PROVEN):
            return allocation
        problem = self._problem._replace(max_hops=allocation.max_hops)
        judged = self._improve(allocation.list_parts(), problem, JUDGE)
        return replace(choose_better(allocation, judged), is_judged=True)

    def look_last(self, allocation: Allocation) -> Allocation:
        """Return what `look_closer` does; where gas is free, with bounds with which the search would try too little."""
        return tighten_allocation(self._known, self._problem, self.look_closer(allocation))

    def bound_input_at(self, rate: float, amount: float, allocation: Allocation) -> Bounds:
        """Return bounds of the input and gas of all routes that give the request's output.

        They follow from what an amount is worth over an allocation's paths, and a unit of it that is left is the rate.
        """
        problem = self.value_input_at(rate)._problem._replace(max_hops=allocation.max_hops)
        return self._improve(allocation.list_parts(amount / allocation.amount), problem, JUDGE).least_input

    def _improve(
        self, starts: Sequence[Part], problem: SplitProblem, rounds: int = ROUNDS, *, is_judged: bool = True
    ) -> Allocation:
        """Improve an allocation by further paths, unless it is only to be judged; bound it unless none asks."""
        max_hops = max(problem.max_hops, *[len(edges) for edges, _ in starts])
        if (amount := sum([float(part) for _, part in starts])) != problem.amount or max_hops != problem.max_hops:
            problem = problem._replace(amount=amount, max_hops=max_hops)
        capacity = self._capacity if rounds > 0 else len(starts)
        paths = Allocation.from_parts(starts, capacity, problem.max_hops).paths
        found = find_once(self._known, _generate_columns, paths, len(starts), problem, self.memory, rounds, is_judged)
        is_tightened = is_judged and not self.is_free
        net, count, bound, slope, flow_bound = tighten_bounds(self._known, problem, found) if is_tightened else found
        rate, least = slope if self.is_free else problem.least_price, NO_INPUT
        if self.request.side == Side.EXACT_OUT and rate > 0.0:
            least = bound_inputs(self.request.amount, amount, self.least_gas, rate, Bounds(bound, flow_bound))
        return Allocation(paths, count, net, bound, slope, flow_bound, problem.max_hops, rounds <= 0, least)

    @cached_property
    def least_gas(self) -> float:
        """What any route takes of gas at least, valued in the input."""
        return find_least_gas(self.graph, self._problem, self._gas_cost)

    def reallocate(self, allocation: Allocation, amount: float) -> Flows:
        """Allocate another amount to the same paths, beginning with the present proportions; both are changed."""
        return reallocate_paths(allocation, amount, self._problem.graph, self._problem.work)

    def value_cost(self, flows: Flows) -> float:
        """Return the input and all gas, valued in the input."""
        rows, price = self.graph.forward.edges[flows.edges], self.graph.units[self._problem.start]
        gas = count_gas(rows, self.graph.pieces, np.array(flows.flows)) @ self._gas_cost[rows["chain"]] * price
        return flows.amount + float(gas)

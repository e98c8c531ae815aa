"""Flows that end before a pool's next step, where the gas of that step costs more than what lies behind it brings.

Newton's method makes marginal prices equal as if gas did not change with an amount. But a concentrated pool takes more
gas for each step of its loop, and the last one is often entered for little. To stop before it saves its gas. What then
goes over other paths costs only what is second order in it, as all marginal prices are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from routing_engine.curves.kernels import edge_curve
from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.arrays import SplitProblem
from routing_engine.kernels.split.flow_network import Paths
from routing_engine.model import Hop
from routing_engine.search.allocations.allocation import Allocation
from routing_engine.search.allocations.exact_output import Flows
from routing_engine.search.allocations.matching import match_output
from routing_engine.search.allocations.reallocation import reallocate_paths
from routing_engine.search.allocations.steps_entered import count_entered, list_starts
from routing_engine.search.splits.split import Splitter

_compute_amounts_out = Compiled(edge_curve.compute_amounts_out)

ROUNDS, TRIALS = 24, 3
"""How many steps are spared at most, and how many are tried for each."""

FARTHEST = 16
"""How many steps back an edge may stop at once: several may lie close together behind a long one."""

OTHERS = 2.0
"""What a stop is taken to cost, times what the edge that stops loses itself."""

OPEN = 1e-8
"""Relative gap from which on steps are looked at."""

WORTHWHILE = 1e-9
"""Part of the output that sparing a step must bring."""

BEFORE = 1.0 - 1e-9
"""Part of what a pool takes up to a step that it is given: integers may round up on the way."""

PROBE = 1e-6
"""Part of a flow over which a marginal price is measured."""


def spare_steps(splitter: Splitter, allocation: Allocation, found: Flows) -> Flows | None:
    """Return flows over the same paths that net more, as they enter fewer steps; None where none do.

    Parameters
    ----------
    allocation : Allocation
        Whose paths `found` are the flows of. It is left as it is.
    """
    is_open = allocation.bound > allocation.net * (1.0 + OPEN)
    steps = _look_at(splitter, allocation, found) if is_open else None
    return steps.spare() if steps else None


def spare_bought_steps(splitter: Splitter, allocation: Allocation, found: Flows) -> Flows | None:
    """Return flows over the same paths that give what is asked for less, gas counted; None where none do.

    Parameters
    ----------
    splitter : Splitter
        That values gas at what a little more input gives.
    allocation : Allocation
        Whose paths `found` are the flows of. It is left as it is. Its bound may speak of another input.
    """
    steps = _look_at(splitter, allocation, found)
    return steps.match(float(splitter.request.amount)) if steps and steps.spare() else None


def _look_at(splitter: Splitter, allocation: Allocation, found: Flows) -> _Steps | None:
    """Return the steps of flows, if sparing one may bring something."""
    steps = _Steps(splitter.problem, allocation, found) if splitter.problem.gas.any() else None
    return steps if steps and steps.may_save else None


def choose_hops(splitter: Splitter, one: tuple[Hop, ...], other: tuple[Hop, ...]) -> tuple[Hop, ...]:
    """Return those of two ways to sell an amount that net more."""
    index, numbers = splitter.graph.index, splitter.graph.chain_number
    end, gas = splitter.problem.end, splitter.problem.gas

    def value(hops: tuple[Hop, ...]) -> float:
        given = sum(hop.amount_out for hop in hops if index[hop.token_out] == end)
        return given - sum(hop.gas * gas.item(numbers[hop.token_in.chain_id]) for hop in hops)

    return max(one, other, key=value)


class _Steps:
    """The edges of one allocation as a graph of their own, in which they may be told to take less.

    Parameters
    ----------
    problem : SplitProblem
        Of the splitter.
    allocation, found
        As of `spare_steps`.
    """

    def __init__(self, problem: SplitProblem, allocation: Allocation, found: Flows) -> None:
        self._problem, self._found, self._edges = problem, found, np.array(found.edges, np.int64)
        whole = problem.graph
        self._rows = rows = whole.forward.edges[self._edges]
        self._source = whole.source[self._edges]
        price = problem.gas[rows["chain"]]
        self._base, self._step = rows["gas"] * price, rows["gas_per_piece"] * price
        self.may_save = bool(((rows["n_pieces"] > 1) & (self._step > WORTHWHILE * found.value)).any())
        forward = whole.forward._replace(edges=rows)
        self._graph = whole._replace(forward=forward, source=self._source)
        self._allocation = allocation

    def spare(self) -> Flows | None:
        """Tell one edge after the other to stop before its last step, as long as that nets more."""
        known, best = self._found, self._value_net(flow := self._spread(self._found))
        at_first = best
        for _ in range(ROUNDS):
            tried = [self._try_stop(edge, stop) for edge, stop in self._list_stops(flow)]
            net, flows, edge, stop = max(tried, key=lambda each: each[0], default=(best, known, -1, 0.0))
            if net <= best + WORTHWHILE * known.value:
                break
            best, known, self._rows["x_max"][edge] = net, flows, stop
            flow = self._spread(known)
        return None if best == at_first else self._rename(known)

    def match(self, wanted: float) -> Flows | None:
        """Return flows that give an amount within the stops."""
        matched = match_output(self._reallocate, self._renumber(), wanted, self._rows["x_max"])
        return self._rename(matched) if matched else None

    def _rename(self, flows: Flows) -> Flows:
        """Return flows by the edges of the whole graph."""
        return flows._replace(edges=self._edges[flows.edges].tolist())

    def _reallocate(self, allocation: Allocation, amount: float) -> Flows:
        return reallocate_paths(allocation, amount, self._graph, self._problem.work)

    def _spread(self, flows: Flows) -> npt.NDArray[np.float64]:
        """Return the flow of each edge."""
        if flows is self._found:
            return np.array(flows.flows)
        flow = np.zeros(self._edges.size)
        flow[flows.edges] = flows.flows
        return flow

    def _value_net(self, flow: npt.NDArray[np.float64], value: float | None = None) -> float:
        """Return what flows give less the gas of all edges in use, in units of the target."""
        entered = self._count_entered(flow)
        gas = np.where(flow > 0.0, self._base + self._step * entered, 0.0).sum()
        return (self._found.value if value is None else value) - float(gas)

    def _count_entered(self, flow: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        return count_entered(self._rows, self._graph.pieces, flow)

    def _list_stops(self, flow: npt.NDArray[np.float64]) -> list[tuple[int, float]]:
        """List the edges that might stop earlier and where, of most promise first.

        What the edge itself loses by that, beyond what its flow brings elsewhere at the present marginal price, is the
        least that it costs. The others are taken to lose as much.
        """
        there, slope = self._measure(flow)
        dual_price, counts = self._price_tokens(slope), self._count_entered(flow)
        edges: list[int] = []
        found, saved = [np.empty(0)], [np.empty(0)]
        for edge in np.flatnonzero(counts).tolist():
            last = counts.item(edge) + 1
            starts = list_starts(self._rows[edge], self._graph.pieces)[max(1, last - FARTHEST) : last] * BEFORE
            edges += [edge] * starts.size
            found.append(starts)
            saved.append(self._step[edge] * np.arange(starts.size, 0, -1))
        if not edges:
            return []
        stops = np.concatenate(found)
        lost = there[edges] - self._compute(stops, edges) - slope[edges] * (flow[edges] - stops)
        price = np.array([dual_price[token] for token in self._rows["other"][edges].tolist()])
        gain = np.concatenate(saved) - OTHERS * lost * price
        best = np.argsort(-gain, kind="stable")[:TRIALS].tolist()
        return [(edges[place], stops.item(place)) for place in best if gain[place] > 0.0]

    def _compute(self, flow: npt.NDArray[np.float64], edges: Sequence[int] = ()) -> npt.NDArray[np.float64]:
        """Return what edges give, all of them by default."""
        rows = self._rows[[*edges]] if edges else self._rows
        outputs: npt.NDArray[np.float64] = _compute_amounts_out(rows, self._graph.pieces, flow)
        return outputs

    def _measure(self, flow: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the output and the marginal price of each edge."""
        there, before = self._compute(flow), self._compute(flow * (1.0 - PROBE))
        with np.errstate(divide="ignore", invalid="ignore"):
            return there, np.nan_to_num((there - before) / (flow * PROBE))

    def _price_tokens(self, slope: npt.NDArray[np.float64]) -> dict[int, float]:
        """Return what a unit of each token is worth in the target at these marginal prices."""
        order = range(self._edges.size)
        dual_price = {self._problem.end: 1.0}
        rows = zip(self._source.tolist(), self._rows["other"].tolist(), slope.tolist(), order, strict=True)
        for source, target, price, _ in reversed([*rows]):
            dual_price[source] = max(dual_price.get(source, 0.0), price * dual_price.get(target, 0.0))
        return dual_price

    def _try_stop(self, edge: int, stop: float) -> tuple[float, Flows, int, float]:
        """Allocate with an edge that takes no more than `stop`."""
        known: Any = self._rows["x_max"][edge]
        self._rows["x_max"][edge] = stop
        flows = self._reallocate(self._renumber(), self._found.amount)
        self._rows["x_max"][edge] = known
        net = self._value_net(self._spread(flows), flows.value) if flows.edges else float("-inf")
        return net, flows, edge, stop

    def _renumber(self) -> Allocation:
        """Return the allocation over the edges of this graph."""
        count = self._allocation.count
        rows, x = self._allocation.paths.rows[:count], self._allocation.paths.x[:count]
        order = self._edges.argsort()
        places = order[np.minimum(self._edges[order].searchsorted(rows), order.size - 1)]
        return replace(self._allocation, paths=Paths(np.where(rows < 0, -1, places).astype(np.int32), x.copy()))

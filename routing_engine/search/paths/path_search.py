"""Candidates: from a request to exact paths, the best first guess to the last."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from math import inf

import numpy as np
import numpy.typing as npt

from routing_engine.errors import QuoteRefused
from routing_engine.graph.graph import Graph
from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels.arrays import FORWARD, REVERSE, PathProblem, Weights
from routing_engine.kernels.search import best_paths
from routing_engine.market import Market
from routing_engine.model import Hop, Token
from routing_engine.reference.chains import block_time_s
from routing_engine.request import RouteRequest
from routing_engine.route import Side
from routing_engine.search.paths.memory import Memories, ThreadMemory

Edge = tuple[Market, Token, Token]

_find_best_paths = Compiled(best_paths.find_best_paths)

TIE = 1e-6
"""Candidates whose float64 scores differ by less are compared in exact integers; for amounts of few units by more."""

NEAR = 3
"""Hops over which a search is short: to look first for what labels can become takes as long."""


Candidate = tuple[list[float], list[int]]
"""A path that the kernel likes: its time and score, and its forward edges from source to target, -1 past the end."""


def _has_lost_any(
    found: npt.NDArray[np.int32], scores: npt.NDArray[np.float64], floor: npt.NDArray[np.float64]
) -> bool:
    """Whether a narrow search has found nothing as good as the paths that it knew of, for some number of hops.

    Labels of these paths may have been pushed out; others that are nearly as good were then left out for nothing.
    """
    best = [-inf] * floor.size
    for hops, score in zip((found >= 0).sum(axis=1).tolist(), scores[:, 1].tolist(), strict=False):
        best[hops] = max(best[hops], score)
    return any(reached < least for reached, least in zip(accumulate(best, max), floor.tolist(), strict=True))


def list_edges(candidate: Candidate) -> tuple[int, ...]:
    """Return a candidate's forward edges."""
    row = candidate[1]
    return tuple(row[: row.index(-1)] if row[-1] < 0 else row)


def _may_tie(one: Candidate, other: Candidate, tie: float) -> bool:
    """Whether rounding might hide that the second is as good as the first."""
    (time, score), (its_time, its_score) = one[0], other[0]
    return abs(time - its_time) <= TIE * abs(time) and abs(score - its_score) <= tie * abs(score)


def _measure_rounding(hops: tuple[Hop, ...]) -> float:
    """Return which part of an amount a path may lose where contracts round to whole units, fees up, outputs down."""
    return sum([1.0 / (hop.amount_in or 1) + 1.0 / (hop.amount_out or 1) for hop in hops])


class Search:
    """Search one graph for candidate paths; safe to use from many threads.

    Parameters
    ----------
    graph : Graph
        What to search.
    memory_of : Search, optional
        On an earlier graph of the same size, whose memory for threads may serve this one too.
    """

    def __init__(self, graph: Graph, memory_of: Search | None = None) -> None:
        self.graph = graph
        fits = memory_of is not None and memory_of._sizes == self._sizes
        self.memories: Memories = memory_of.memories if memory_of and fits else Memories()
        self._last_block_s = {chain_id: float(block_time_s(chain_id)) for chain_id in graph.chains}

    def find_candidates(
        self,
        request: RouteRequest,
        gas_cost: npt.NDArray[np.float64],
        allowed: npt.NDArray[np.bool_],
        max_hops: int,
        work: npt.NDArray[np.int64],
        *,
        is_narrow: bool = False,
    ) -> list[Candidate]:
        """Return a few paths for each number of hops, best first.

        Parameters
        ----------
        request : RouteRequest
            Both tokens must be in the graph.
        gas_cost : float64 array
            From `Graph.gas_cost`.
        allowed : bool array, shape (markets,)
            Markets that may be used.
        max_hops : int
            At most the request's.
        work : int64 array, shape (1,)
            Of a `Budget`, from which the search takes what it does.
        is_narrow : bool
            Whether to leave out, where that saves time, paths that are worse than another of no more hops.
        """
        graph, objective = self.graph, request.objective
        source, target = graph.index[request.token_in], graph.index[request.token_out]
        memory = self.memories.take(*self._sizes)
        scratch, found, scores = memory.of_kernels.workspace.scratch, memory.found, memory.scores
        last_block_s = self._last_block_s[request.token_out.chain_id]
        weights = Weights(gas_cost, graph.units, last_block_s, objective.time_cost_per_s, objective.time_first)
        amount = float(request.amount)
        if request.side == Side.EXACT_IN:
            ways, ends, direction = (graph.forward, graph.reverse), (source, target), FORWARD
        else:
            ways, ends, direction = (graph.reverse, graph.forward), (target, source), REVERSE
        is_narrow &= not (weights.time_first or weights.time_rate)
        problem = PathProblem(
            *ways, graph.pieces, allowed, weights, *ends, amount, direction, max_hops, is_narrow, work
        )  # fmt: skip
        total = _find_best_paths(problem, scratch, found, scores)
        if (
            is_narrow
            and direction == REVERSE
            and _has_lost_any(found[:total], scores, scratch.prospects.floor[: max_hops + 1])
        ):
            total = _find_best_paths(problem._replace(is_narrow=False), scratch, found, scores)
        return [*zip(scores[:total].tolist(), found[:total].tolist())]  # noqa: B905 (both of so many rows)

    def get_memory(self) -> ThreadMemory:
        """Return this thread's memory for kernels."""
        return self.memories.take(*self._sizes).of_kernels

    @property
    def _sizes(self) -> tuple[int, int, int]:
        graph = self.graph
        return len(graph.tokens), len(graph.markets), graph.source.size


def replay(edges: tuple[Edge, ...], side: str, amount: int) -> tuple[Hop, ...]:
    """Run a path in exact integers.

    For exact-out the inputs are found backwards, each the least that suffices, so the first is the least for the whole
    path; then the path runs forwards with it, as it would on chain.

    Raises
    ------
    QuoteRefused
        By the first market that declines.
    """
    bought: list[Hop] = []
    if side == Side.EXACT_OUT:
        for market, token_in, token_out in reversed(edges):
            hop, _ = market.swap_exact_out(token_in, token_out, amount)
            amount = hop.amount_in
            bought.append(hop)
        amount = bought[-1].amount_in
    hops: list[Hop] = []
    for market, token_in, token_out in edges:
        known = bought.pop() if bought else None
        if known is None or known.amount_in != amount:  # the hop before gives more than was needed, by rounding
            known = market.quote_exact_in(token_in, token_out, amount)
        hops.append(known)
        amount = known.amount_out
    return tuple(hops)


def replay_best(
    graph: Graph, candidates: list[Candidate], request: RouteRequest, refused: dict[str, QuoteRefused]
) -> list[tuple[Candidate, tuple[Hop, ...]]]:
    """Replay candidates, best first, until one is good and no other might tie with it.

    `refused` collects the markets that declined on the way.
    """
    replayed: list[tuple[Candidate, tuple[Hop, ...]]] = []
    first, tie = None, TIE
    for candidate in candidates:
        if first and not _may_tie(first, candidate, tie):
            break
        try:
            hops = replay(graph.edges_ends(list_edges(candidate)), request.side, request.amount)
        except QuoteRefused as refusal:
            refused[refusal.market_id] = refusal
            continue
        replayed.append((candidate, hops))
        if not first:
            first, tie = candidate, max(TIE, _measure_rounding(hops))
    return replayed


def mask_allowed_markets(graph: Graph, request: RouteRequest) -> npt.NDArray[np.bool_]:
    """Mask of the markets whose protocol and chains the request admits; shared, so never written to."""
    allow, deny, allowed = request.allow_protocols, request.deny_protocols, graph.every_market
    if allow is not None or deny:
        verdict: Mapping[str, bool] = {
            protocol: (allow is None or protocol in allow) and protocol not in deny for protocol in graph.protocols
        }
        allowed = np.array([verdict[market.protocol] for market in graph.markets], np.bool_)
    if request.allow_chains is not None or request.deny_chains:
        admitted = np.array([request.admits_chain(token.chain_id) for token in graph.tokens], np.bool_)
        stays = admitted[graph.source] & admitted[graph.target]
        allowed = allowed.copy()
        allowed[graph.forward.edges["market"][~stays]] = False
    return allowed

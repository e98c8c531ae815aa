"""The memory layout that the graph compiler writes and the kernels read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.kernels.certificate_arrays import Arrivals, Contenders, Losses, Outlook

FULL = 1.0 - 1e-8
"""Share of an edge's largest input from which on it is given no more."""


EDGE = np.dtype(
    [
        ("other", np.int32),  # token at the far end: token_out in forward order, token_in in reverse order
        ("market", np.int32),
        ("chain", np.int32),  # index of the chain that pays the gas
        ("twin", np.int32),  # row of the same edge in the other direction's order
        ("above", np.float32),  # part of the output by which the market may give more than the pieces say
        ("concave", np.int32),  # whether the marginal price never rises
        ("piece", np.int32),  # first row in the table of pieces
        ("n_pieces", np.int32),
        ("x0", np.float64),
        ("y0", np.float64),
        ("a", np.float64),
        ("b", np.float64),
        ("c", np.float64),
        ("max_average_price", np.float64),  # no average price is larger
        ("x_min", np.float64),
        ("x_max", np.float64),
        ("gas", np.float32),
        ("gas_per_piece", np.float32),
        ("time", np.float64),  # of a bridge: its fill and the block before it; else 0
    ],
    align=True,
)
"""One direction of one market, with its first piece inline, so that most edges cost one cache miss or two.
"""

LINK = np.dtype([("other", np.int32), ("rate", np.float32)], align=True)
"""What a search asks of every edge that it passes: the far token, and a little more than the best average price.

Most edges of a hub are on no path of a request. Eight of these lie in one cache line, of whole records less than one.
"""

OPEN_EDGE = np.dtype(
    [
        ("max_average_price", np.float64),
        ("row", np.int32),  # among the forward edges in the list of a token that they leave, else among the reverse
        ("edge", np.int32),  # among the forward edges
        ("other", np.int32),
        ("concave", np.int32),
    ],
    align=True,
)
"""What tells of most edges of a list that they don't count; side by side, as their records lie all over memory."""

FORWARD, REVERSE = 1, -1
"""Carry amounts from the source (exact-in), or required amounts back from the target (exact-out)."""


class Adjacency(NamedTuple):
    """Edges in CSR order: those of token t are rows first[t] to first[t + 1]; `links` has a `LINK` of each edge."""

    first: npt.NDArray[np.int64]
    edges: npt.NDArray[np.void]
    links: npt.NDArray[np.void]


class GraphArrays(NamedTuple):
    """A graph as kernels see it; `source` is the token_in of each forward edge.

    The forward edges of market m are ``market_edges[market_first[m]]`` and on, up to ``market_first[m + 1]``. `pieces`
    holds what does not fit into an edge: the rows of its curve, end to end, with the columns of
    `routing_engine.curves.kernels.mobius_pieces`.
    """

    forward: Adjacency
    reverse: Adjacency
    source: npt.NDArray[np.int32]
    pieces: npt.NDArray[np.float64]
    market_first: npt.NDArray[np.int64]
    market_edges: npt.NDArray[np.int64]


class Weights(NamedTuple):
    """What turns gas and time into amounts.

    `gas_cost` is the value of one gas unit by chain, in the root's smallest units. `units` is the number of each
    token's smallest units that the root's smallest unit is worth. `last_block_s` is the time of a block on
    the target's chain, for paths that end with a transaction there.
    """

    gas_cost: npt.NDArray[np.float64]
    units: npt.NDArray[np.float64]
    last_block_s: float
    time_rate: float
    time_first: bool


class PathProblem(NamedTuple):
    """One request for the best single paths.

    `onward` are the edges in the search's direction, `backward` those in the other: forward and reverse for exact-in,
    swapped for exact-out. `start` and `end` are source and target for exact-in, target and source for exact-out.
    `amount` is in smallest units at `start`; `direction` is `FORWARD` or `REVERSE`. Where it `is_narrow`, which it may
    be only without a value of time, paths that are worse than another of no more hops need not be found. `work` is the
    steps that are left: see `routing_engine.kernels.work`.
    """

    onward: Adjacency
    backward: Adjacency
    pieces: npt.NDArray[np.float64]
    allowed: npt.NDArray[np.bool_]
    weights: Weights
    start: int
    end: int
    amount: float
    direction: int
    max_hops: int
    is_narrow: bool
    work: npt.NDArray[np.int64]


class SplitProblem(NamedTuple):
    """One request for an allocation.

    `allowed` are the markets that may be used, `wraps` those that change a native coin for its wrapped token. `gas` is
    the value of a gas unit by chain, in units of the target. `units` is the number of each token's smallest units that
    the root's smallest unit is worth, 0 where unknown. The whole `amount` is at `start`. In bounds, what a route leaves
    of it is worth `least_price` a unit: 0 where nothing may be left. `work` is the steps that are left.
    """

    graph: GraphArrays
    allowed: npt.NDArray[np.bool_]
    wraps: npt.NDArray[np.bool_]
    gas: npt.NDArray[np.float64]
    units: npt.NDArray[np.float64]
    start: int
    end: int
    max_hops: int
    amount: float
    least_price: float
    work: npt.NDArray[np.int64]


class Prospects(NamedTuple):
    """What labels can become: see `routing_engine.kernels.search.prospects`.

    `most[k, v]` is the most that a unit of token v becomes over up to k hops, zero between searches, and `via[k, v]`
    the edge that it follows. `reached` lists the tokens where it is positive. `floor[h]` is what a path of up to h hops
    must score to be found, as `walk` tells or, of the `least` it was before, paths in the `beam`.
    """

    most: npt.NDArray[np.float64]
    via: npt.NDArray[np.int32]
    reached: npt.NDArray[np.int32]
    floor: npt.NDArray[np.float64]
    least: npt.NDArray[np.float64]
    walk: npt.NDArray[np.int32]
    beam: npt.NDArray[np.void]


class Scratch(NamedTuple):
    """Memory of one thread's searches for paths; `counts` and `is_adjacent` are all zero between searches."""

    labels: npt.NDArray[np.void]
    counts: npt.NDArray[np.uint8]
    touched: npt.NDArray[np.int32]
    is_adjacent: npt.NDArray[np.bool_]
    prospects: Prospects


class Inflow(NamedTuple):
    """How much of each token can be there: see `routing_engine.kernels.bound.flow_limits`.

    `most[k, v]` is the most of token v after up to k hops. `reached` lists the tokens where it is positive.
    """

    most: npt.NDArray[np.float64]
    reached: npt.NDArray[np.int32]


class OpenEdges(NamedTuple):
    """Edges that a request's routes can use: see `routing_engine.kernels.bound.open_edges`.

    `listed` holds the lists end to end, from place 1 on. That of a token begins at ``span[way, token, 0]``, 0 where
    there is none, and ends before ``span[way, token, 1]``. `lists` are those that there are, as ways and tokens.
    """

    span: npt.NDArray[np.int64]
    listed: npt.NDArray[np.void]
    lists: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]


class FlowState(NamedTuple):
    """Present flows and what limits new ones; memory of one thread, all zero (`owner` -1) between requests.

    `flow` and `slope` are the input and the marginal price of each forward edge in use. `owner` is the edge that uses
    each market, or -1. `shut` marks the edges that are left out for a while. `multiplier` is what each market may earn
    beside its gas. `inflow` says what can be at each token after so many hops, `room` what can be there at all, and
    `limit` what can in a route that is better than the one known. `closed` marks the edges that no such route
    uses; `losses` is the memory of the search for them. `open_edges` are those that prices go through, `outlook` tells
    which these are, and `contenders` are those that are left of them. `arrivals` is how much can come to a token now.
    """

    flow: npt.NDArray[np.float64]
    slope: npt.NDArray[np.float64]
    owner: npt.NDArray[np.int32]
    shut: npt.NDArray[np.bool_]
    multiplier: npt.NDArray[np.float64]
    inflow: Inflow
    room: npt.NDArray[np.float64]
    limit: npt.NDArray[np.float64]
    closed: npt.NDArray[np.bool_]
    losses: Losses
    open_edges: OpenEdges
    outlook: Outlook
    contenders: Contenders
    arrivals: Arrivals


class DualPrices(NamedTuple):
    """Dual prices by hops left and token: the best, the edge that it follows, and the best over another next token.

    Memory of one thread, all zero between requests. `target` holds the prices that an allocation suggests. ``queue[k]``
    lists the tokens whose price with k hops left is to be found anew, `waiting` their numbers; `waits` marks them.
    """

    best: npt.NDArray[np.float64]
    via: npt.NDArray[np.int32]
    other: npt.NDArray[np.float64]
    other_via: npt.NDArray[np.int32]
    touched: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int64]
    target: npt.NDArray[np.float64]
    queue: npt.NDArray[np.int32]
    waiting: npt.NDArray[np.int64]
    waits: npt.NDArray[np.bool_]


class Workspace(NamedTuple):
    """Memory of one thread that kernels leave as they found it."""

    scratch: Scratch
    duals: DualPrices

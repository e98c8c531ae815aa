"""The memory layout that the graph compiler writes and the kernels read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FULL = 1.0 - 1e-8
"""Share of an edge's largest input from which on it is given no more."""


EDGE = np.dtype(
    [
        ("other", np.int32),  # token at the far end: token_out in forward order, token_in in reverse order
        ("market", np.int32),
        ("chain", np.int32),  # index of the chain that pays the gas
        ("twin", np.int32),  # row of the same edge in the other direction's order
        ("shape", np.int32),
        ("concave", np.int32),  # whether the marginal price never rises
        ("piece", np.int32),  # first row in the table of pieces, or first place in the table of parameters
        ("n_pieces", np.int32),
        ("x0", np.float64),
        ("y0", np.float64),
        ("a", np.float64),
        ("b", np.float64),
        ("c", np.float64),
        ("steepest", np.float64),  # no average price is larger
        ("x_min", np.float64),
        ("x_max", np.float64),
        ("gas", np.float32),
        ("gas_per_piece", np.float32),
        ("time", np.float64),  # of a bridge: its fill and the block before it; else 0
    ],
    align=True,
)
"""One direction of one market, with its first piece inline, so that most edges cost one cache miss or two.

For other shapes the inline piece is only their tangent at zero: prices are read off it."""

FORWARD, REVERSE = 1, -1
"""Carry amounts from the source (exact-in), or required amounts back from the target (exact-out)."""


class Adjacency(NamedTuple):
    """Edges in CSR order: those of token t are rows first[t] to first[t + 1]."""

    first: npt.NDArray[np.int64]
    edges: npt.NDArray[np.void]


class Tables(NamedTuple):
    """What does not fit into an edge: rows of `Curve.pieces`, and `Curve.params` end to end."""

    pieces: npt.NDArray[np.float64]
    params: npt.NDArray[np.float64]


class Board(NamedTuple):
    """A graph as kernels see it; `source` is the token_in of each forward edge."""

    forward: Adjacency
    reverse: Adjacency
    source: npt.NDArray[np.int32]
    tables: Tables


class Weights(NamedTuple):
    """What turns gas into amounts.

    `gas_cost` is the worth of one gas unit by chain, in the root's smallest units; `units` the number of each token's
    smallest units that the root's smallest unit is worth; `last_block_s` the time of a block on the target's chain, for
    paths that end with a transaction there.
    """

    gas_cost: npt.NDArray[np.float64]
    units: npt.NDArray[np.float64]
    last_block_s: float
    time_rate: float
    time_first: bool


class Scratch(NamedTuple):
    """Memory of one thread's searches for paths; `counts` and `near` are all zero between searches."""

    labels: npt.NDArray[np.void]
    counts: npt.NDArray[np.uint8]
    touched: npt.NDArray[np.int32]
    near: npt.NDArray[np.bool_]


class Load(NamedTuple):
    """What limits new flows beside the present ones; memory of one thread, all zero (`owner` -1) between requests.

    `flow` and `slope` are the input and the marginal price of each forward edge in use, `owner` the edge that uses each
    market or -1, `shut` the edges that are left out for a while, `extra` what a market is allowed to earn beside its
    gas (see `bound`), `most` the most that can be at each token after up to so many hops, `reached` the tokens
    where it is positive, and `limit` the most that can be there at all; `supply`, `supplied` and `crumbs` are what a
    closer look at that needs (see `reach`).
    """

    flow: npt.NDArray[np.float64]
    slope: npt.NDArray[np.float64]
    owner: npt.NDArray[np.int32]
    shut: npt.NDArray[np.bool_]
    extra: npt.NDArray[np.float64]
    most: npt.NDArray[np.float64]
    reached: npt.NDArray[np.int32]
    limit: npt.NDArray[np.float64]
    supply: npt.NDArray[np.float64]
    supplied: npt.NDArray[np.int32]
    crumbs: npt.NDArray[np.bool_]


class Task(NamedTuple):
    """One request for a division: markets that may be used, the worth of gas by chain in units of the target, ends."""

    allowed: npt.NDArray[np.bool_]
    gas: npt.NDArray[np.float64]
    start: int
    end: int
    max_hops: int

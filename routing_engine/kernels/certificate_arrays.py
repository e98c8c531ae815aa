"""The memory layout of what certificates go through: edges that a better route may use, and those that set prices."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt


class LossEdges(NamedTuple):
    """Edges that a better route may use: see `routing_engine.kernels.bound.loss_edges`.

    Forward `edge`, from its `source` to its `target`, by place; the first `size` places are in use. Those that leave
    token u are in places ``span[u, 0]`` to ``span[u, 1]``, those that arrive at it in the places that `arriving` lists
    from ``span[u, 2]`` to ``span[u, 3]``.
    """

    edge: npt.NDArray[np.int32]
    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    arriving: npt.NDArray[np.int32]
    span: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]


class Losses(NamedTuple):
    """What markets lose at fixed prices: see `routing_engine.kernels.bound.losses`.

    By place in the list of `edges`: the `gain`, the `loss`, what is `given` at most in a route that counts, whether it
    `is_minor`. By token: the `price`, zero between requests, the least loss of a path from the start (`lost`) and on to
    the end (`to_lose`), the same over edges that are not minor (`main_lost`, `main_to_lose`), and the `most` that can
    be there.
    """

    edges: LossEdges
    gain: npt.NDArray[np.float64]
    loss: npt.NDArray[np.float64]
    given: npt.NDArray[np.float64]
    is_minor: npt.NDArray[np.bool_]
    price: npt.NDArray[np.float64]
    lost: npt.NDArray[np.float64]
    to_lose: npt.NDArray[np.float64]
    main_lost: npt.NDArray[np.float64]
    main_to_lose: npt.NDArray[np.float64]
    most: npt.NDArray[np.float64]


class Contenders(NamedTuple):
    """Edges that may set the start's price: see `routing_engine.kernels.bound.contenders`.

    Those of ``token[i]`` with ``hops[i]`` hops left are in places ``first[i]`` to ``first[i + 1]``, the best first:
    forward `edge`, the `price` that it gives its token at most, and its `ratio` to that of what the edge gives.
    ``reach[k, v]`` is what there can be of token v with k hops left, zero between requests.
    """

    edge: npt.NDArray[np.int32]
    price: npt.NDArray[np.float64]
    ratio: npt.NDArray[np.float64]
    token: npt.NDArray[np.int64]
    hops: npt.NDArray[np.int64]
    first: npt.NDArray[np.int64]
    sizes: npt.NDArray[np.int64]
    reach: npt.NDArray[np.float64]


class Arrivals(NamedTuple):
    """How much of the amount's worth can arrive at a token: see `routing_engine.kernels.bound.arrivals`.

    `most[j, v]` is that at token v after up to j hops, zero between searches; ``touched[j]`` lists the tokens where it
    is not, `sizes` has their numbers, and for which numbers of hops there are any. `counted` is the same with
    `weight`, by the number of hops of a whole path: what more is asked of such paths makes them count for less.
    """

    most: npt.NDArray[np.float64]
    counted: npt.NDArray[np.float64]
    weight: npt.NDArray[np.float64]
    touched: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int64]


class Outlook(NamedTuple):
    """What a unit of each token is worth at most: see `routing_engine.kernels.bound.outlook`.

    `most[k, v]` is that of token v over up to k hops. `reached` lists the tokens where it is positive, `size` is their
    number. `scope` says which routes it speaks of.
    """

    most: npt.NDArray[np.float64]
    reached: npt.NDArray[np.int32]
    size: npt.NDArray[np.int64]
    scope: npt.NDArray[np.float64]

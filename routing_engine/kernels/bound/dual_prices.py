"""What tokens are worth at most, by hops left: the prices on which certificates rest; see `bound`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.jit.decorators import inlined, inner
from routing_engine.kernels.marginal_price import gas_of, net_rate_of_steps, step_gas
from routing_engine.kernels.search.frontier import edges_beside, edges_of, mark_beside


class Worths(NamedTuple):
    """Prices by hops left and token: the best, the edge that it follows, and the best over another next token.

    Memory of one thread, all zero between requests.
    """

    best: npt.NDArray[np.float64]
    via: npt.NDArray[np.int32]
    other: npt.NDArray[np.float64]
    other_via: npt.NDArray[np.int32]
    touched: npt.NDArray[np.int32]
    sizes: npt.NDArray[np.int64]
    target: npt.NDArray[np.float64]


@inner
def price_after(worths, edges, k, v, u):
    """Worth of v with k hops left to a route that came from u."""
    if k > 0 and edges[worths.via[k, v]]["other"] == u:
        return worths.other[k, v]
    return worths.best[k, v]


@inner
def _note(worths, edges, k, u, e, v, rate):
    """Keep the price that edge e to token v gives u; whether it is the first one."""
    best = worths.best[k, u]
    if best == 0.0:
        worths.best[k, u], worths.via[k, u] = rate, e
        return True
    same = edges[worths.via[k, u]]["other"] == v
    if rate > best:
        if not same:
            worths.other[k, u], worths.other_via[k, u] = best, worths.via[k, u]
        worths.best[k, u], worths.via[k, u] = rate, e
    elif not same and rate > worths.other[k, u]:
        worths.other[k, u], worths.other_via[k, u] = rate, e
    return False


@inlined
def _raise_price(k, edge, e, v, u, board, load, task, worths, enough, alone):
    """Let edge e from u to v, which has k hops left, raise the price of u; return whether it is its first."""
    # A route has no more than that at u if it goes on over k + 1 hops.
    here = load.most[task.max_hops - k - 1, u]
    most = here if alone else load.limit[u]
    if most <= 0.0 or most < edge["x_min"] or not task.allowed[edge["market"]]:
        return False
    worth = price_after(worths, board.forward.edges, k, v, u)
    floor = worths.other[k + 1, u]
    ceiling = worth * edge["steepest"]
    if ceiling <= floor or ceiling * here <= enough:
        return False
    cost = gas_of(edge, task.gas) + load.extra[edge["market"]]
    rate = net_rate_of_steps(edge, board.tables, worth, cost, step_gas(edge, task.gas), most)
    return rate > floor and rate * here > enough and _note(worths, board.forward.edges, k + 1, u, e, v, rate)


@inner
def _from_tokens(k, last_but_one, board, load, task, worths, near, enough, alone):
    """Fill round k + 1 by the edges that lead to the tokens of round k; return its size."""
    reverse, size = board.reverse, 0
    for i in range(worths.sizes[k]):
        v = worths.touched[k, i]
        if v == task.start:
            continue
        for row in range(reverse.first[v], reverse.first[v + 1]):
            edge = reverse.edges[row]
            u = edge["other"]
            if u == task.end or (last_but_one and u != task.start and not near[u]):
                continue
            if _raise_price(k, edge, edge["twin"], v, u, board, load, task, worths, enough, alone):
                worths.touched[k + 1, size] = u
                size += 1
    return size


@inner
def _of_token(k, size, u, board, load, task, worths, enough, alone):
    """Add token u to round k + 1 by its edges to tokens of round k; return the round's size."""
    forward, found = board.forward, False
    for e in range(forward.first[u], forward.first[u + 1]):
        edge = forward.edges[e]
        v = edge["other"]
        if worths.best[k, v] > 0.0 and v != task.start:
            found |= _raise_price(k, edge, e, v, u, board, load, task, worths, enough, alone)
    if found:
        worths.touched[k + 1, size] = u
    return size + found


@inner
def _beside_start(k, board, load, task, worths, near, enough, alone):
    """Fill round k + 1 by the edges that leave the start and the tokens beside it; return its size."""
    forward, start = board.forward, task.start
    size = _of_token(k, 0, start, board, load, task, worths, enough, alone)
    for e in range(forward.first[start], forward.first[start + 1]):
        u = forward.edges[e]["other"]
        if near[u] and u != task.end:
            near[u] = False  # once, however many edges lead there
            size = _of_token(k, size, u, board, load, task, worths, enough, alone)
    mark_beside(forward, start, near, True)
    return size


@inner
def dearest(board, load, task, worths, near, amount, enough, alone):
    """Fill `worths` for the present extras, as far as the whole amount might be worth more than `enough`.

    Parameters
    ----------
    near : bool array, shape (tokens,)
        Marks of the tokens beside the start.
    alone : bool
        Whether only routes of one path matter: through a market on one goes no more than is at its token after so many
        hops, while several paths may meet there.

    Returns
    -------
    float
        The price of a unit at the start. Where nothing makes the amount worth more than `enough`, there are no
        prices, and this is what makes it worth just that.
    """
    start, max_hops = task.start, task.max_hops
    forward, reverse = board.forward, board.reverse
    worths.touched[0, 0] = task.end
    worths.sizes[0] = 1
    worths.best[0, task.end] = 1.0
    beside = edges_beside(forward, start, forward.first)
    for k in range(max_hops - 1):
        last_but_one = k == max_hops - 2
        if last_but_one and beside < edges_of(reverse.first, worths.touched[k], worths.sizes[k]):
            worths.sizes[k + 1] = _beside_start(k, board, load, task, worths, near, enough, alone)
        else:
            worths.sizes[k + 1] = _from_tokens(k, last_but_one, board, load, task, worths, near, enough, alone)
    last = max_hops - 1
    worths.sizes[max_hops] = _of_token(last, 0, start, board, load, task, worths, enough, alone)
    price = max(0.0, enough / amount)
    for k in range(1, max_hops + 1):
        price = max(price, worths.best[k, start])
    return price


@inner
def clear_worths(worths):
    """Undo `dearest`."""
    for k in range(worths.sizes.size):
        for i in range(worths.sizes[k]):
            v = worths.touched[k, i]
            worths.best[k, v] = worths.other[k, v] = 0.0
        worths.sizes[k] = 0


@inner
def dearest_path(worths, edges, max_hops, start, path, worth):
    """Write the edges of the path that sets the start's price, and the worth of what each gives; return its length.

    0 where `dearest` found no prices.
    """
    k = 1
    for h in range(2, max_hops + 1):
        if worths.best[h, start] > worths.best[k, start]:
            k = h
    if worths.best[k, start] == 0.0:
        return 0
    length, u, came = k, start, -1
    for i in range(length):
        e = worths.via[k, u]
        if i > 0 and edges[e]["other"] == came:
            e = worths.other_via[k, u]
        path[i] = e
        came, u = u, edges[e]["other"]
        k -= 1
        worth[i] = price_after(worths, edges, k, u, came) if k > 0 else 1.0
    return length

"""Reference prices of all tokens from the markets themselves."""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import kernel

MAX_ROUNDS = 12

WIDER = 1.0 + 1e-9
"""How many times as deep a chain must be to take another one's place."""


@kernel
def find_widest_prices(first, target, depth, mid_rate, root):
    """Price every token along its deepest chain of markets from `root`.

    The depth of a chain is that of its shallowest market, measured in the root's units by the prices found on the way,
    so a mispriced pool of dust prices nothing that a real pool prices too.

    Parameters
    ----------
    first : int64 array, shape (n + 1,)
        CSR offsets by token_in.
    target : int32 array
        The token_out of each edge.
    depth : float64 array
        How much each edge takes before its price is another one, in units of its token_in.
    mid_rate : float64 array
        Units of token_out per unit of token_in, without fees, for each edge.
    root : int
        The token whose smallest unit is worth 1.

    Returns
    -------
    price : float64 array, shape (n,)
        Worth of each token's smallest unit in the root's; 0 where unknown.
    width : float64 array, shape (n,)
        Depth of the chain that the price rests on, in the root's smallest units.
    """
    n = first.size - 1
    price = np.zeros(n)
    width = np.zeros(n)
    price[root] = 1.0
    width[root] = np.inf
    has_news = np.zeros(
        n, np.bool_
    )  # what a token's markets say was heard, unless the token itself has news since then
    has_news[root] = True
    for _ in range(MAX_ROUNDS):
        changed = False
        for u in range(n):
            if not has_news[u]:
                continue
            has_news[u] = False
            here, own_price = width[u], price[u]
            for e in range(first[u], first[u + 1]):
                wide = min(here, depth[e] * own_price)
                v = target[e]
                if wide > width[v] * WIDER and mid_rate[e] > 0.0:  # never for the root, whose width is infinite
                    width[v] = wide
                    price[v] = own_price / mid_rate[e]
                    changed = has_news[v] = True
        if not changed:
            break
    return price, width

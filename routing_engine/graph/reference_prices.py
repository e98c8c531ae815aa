"""Reference prices of all tokens, from the markets themselves: what gas is valued with.

They choose between routes; nothing is promised by them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from routing_engine.graph.structured_rows import Places
from routing_engine.jit.direct_call import Compiled
from routing_engine.kernels import reference_prices
from routing_engine.model import NATIVE_ADDRESS, Token
from routing_engine.reference.chains import CHAINS

_find_widest_prices = Compiled(reference_prices.find_widest_prices)


def find_native_tokens(index: Mapping[Token, int], chains: tuple[int, ...]) -> npt.NDArray[np.int32]:
    """Return, per chain, the number of the token that gas is valued by: the wrapped coin, else the coin, else -1."""
    found = []
    for chain_id in chains:
        addresses = [NATIVE_ADDRESS]
        if chain_id in CHAINS:
            addresses.insert(0, CHAINS[chain_id].wrapped_native)
        known = (Token(chain_id=chain_id, address=address, symbol="", decimals=18) for address in addresses)
        found.append(next((index[token] for token in known if token in index), -1))
    return np.array(found, np.int32)


def compute_mid_rates(edges: npt.NDArray[np.void], opposite: Places, places: Places) -> npt.NDArray[np.float64]:
    """Return rates without fees of some edges, in units of token_out per unit of token_in; 0 where unknown.

    They are the geometric mean of a market's two directions, or its one direction's own rate.

    Parameters
    ----------
    edges : EDGE array
        In forward order.
    opposite : int64 array
        For each edge the same market's edge in the other direction, or -1.
    places : int64 array
        Which edges.
    """
    back_places = opposite[places]
    rate = _compute_rates(edges, places)
    back = np.where(back_places >= 0, _compute_rates(edges, back_places), 0.0)
    mid = np.where(back > 0, np.sqrt(rate / np.where(back > 0, back, 1.0)), rate)
    mid[~np.isfinite(mid)] = 0.0
    return np.asarray(mid, np.float64)


def compute_depths(edges: npt.NDArray[np.void], places: Places) -> npt.NDArray[np.float64]:
    """Return how much some edges take before their prices are others, in units of token_in; places as above."""
    b, c, x_max = edges["b"][places], edges["c"][places], edges["x_max"][places]
    depths: npt.NDArray[np.float64] = np.minimum(np.divide(b, c, out=x_max.copy(), where=c > 0.0), x_max)
    return depths


def compute_reference_prices(
    first: Places,
    target: npt.NDArray[np.int32],
    depth: npt.NDArray[np.float64],
    mid_rate: npt.NDArray[np.float64],
    native: npt.NDArray[np.int32],
) -> npt.NDArray[np.float64]:
    """Price all tokens along their deepest markets.

    Parameters
    ----------
    first : int64 array
        Where the edges of each token_in begin.
    target : int32 array
        The token_out of each edge.
    depth : float64 array
        From `compute_depths`, of all edges.
    mid_rate : float64 array
        From `compute_mid_rates`, of all edges.
    native : int32 array
        From `find_native_tokens`; the best connected of these is the root, whose smallest unit is worth 1.

    Returns
    -------
    float64 array
        Worth of each token's smallest unit in the root's; 0 where no market says.
    """
    degree = np.diff(first)
    if not degree.size:
        return np.empty(0)
    coins = native[native >= 0]
    root = int(coins[np.argmax(degree[coins])]) if coins.size else int(np.argmax(degree))
    prices, _ = _find_widest_prices(first, target, depth, mid_rate, root)
    return np.asarray(prices, np.float64)


def _compute_rates(edges: npt.NDArray[np.void], places: Places) -> npt.NDArray[np.float64]:
    a, b = edges["a"][places], edges["b"][places]
    rates: npt.NDArray[np.float64] = np.divide(a, b, out=np.zeros(places.size), where=b > 0)
    return rates

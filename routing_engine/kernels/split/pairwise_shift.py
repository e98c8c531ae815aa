"""A shift between two paths: what helps an allocation on where Newton's method makes short steps."""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inner
from routing_engine.kernels.arrays import FULL
from routing_engine.kernels.split.flow_network import INFEASIBLE, crosses, has_waste, is_open, send_flows
from routing_engine.kernels.vectors import copy_first
from routing_engine.kernels.work import PRODUCTS, spend

BISECTIONS = 24


@inner
def _measure_spare_capacity(to, giver, merged):
    """Return how much more path `to` takes at the cost of `giver` until one of its edges is full, at least."""
    graph, network, capacity = merged.graph, merged.network, np.inf
    for s in range(network.step.shape[1]):
        i = network.step[to, s]
        if i < 0:
            break
        if network.before[to, s] > 0.0 and not crosses(network, giver, i):
            more = 0.5 * (1.0 + FULL) * graph.forward.edges[network.edge[i]]["x_max"] - network.flow[i]
            capacity = min(capacity, more / network.before[to, s])
    return max(0.0, capacity)


@inner
def shift_between_pair(x, full, fulls, trial, best, merged):
    """Move amount to the path of greatest marginal price from that of least until they meet.

    By bisection, so that kinks and jumps of the marginal price do no harm.
    """
    network, count = merged.network, merged.path_count
    to, giver, widest = np.int64(-1), np.int64(-1), 0.0
    spend(network.work, count * count // PRODUCTS)
    for q in range(count):
        for p in range(count):
            gap = network.price[p] - network.price[q]
            if gap > widest and x[q] > 0.0 and is_open(network, p, q, full, fulls):
                to, giver, widest = p, q, gap
    if to < 0:
        return best
    low, high = 0.0, min(1.0, _measure_spare_capacity(to, giver, merged) / x[giver])
    for attempt in range(BISECTIONS):
        share = high if attempt == 0 else 0.5 * (low + high)
        copy_first(x, trial, count)
        trial[giver] = x[giver] * (1.0 - share)
        trial[to] += x[giver] * share
        value = send_flows(trial, merged)
        fits = value != INFEASIBLE and not has_waste(merged)
        if fits and network.price[to] >= network.price[giver]:
            low = share
            if attempt == 0:
                break
        else:
            high = share
        if high - low < 1e-4 * low:
            break
    copy_first(x, trial, count)
    trial[giver] = x[giver] * (1.0 - low)
    trial[to] += x[giver] * low
    value = send_flows(trial, merged)
    if value != INFEASIBLE and value > best:
        copy_first(trial, x, count)
        return value
    return best

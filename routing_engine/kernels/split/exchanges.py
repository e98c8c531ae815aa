"""Exchanges: a path that runs in a circle with paths in use, or has no place beside them, takes their place.

All paths of an allocation go together: a market serves one direction, and no token comes before and after another. So a
small path that was added early may keep out a better one, which no search could add.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import allocating
from routing_engine.kernels.split.flow_network import Paths
from routing_engine.kernels.split.merging import merge
from routing_engine.kernels.split.pruning import copy_paths
from routing_engine.kernels.split.try_columns import GAIN, contains, settle
from routing_engine.kernels.vectors import copy_first, sort_by
from routing_engine.kernels.work import is_spent

EXCHANGES = 3
"""How many columns are tried in the place of others."""


@allocating
def _make_way(paths, count, path, problem, network, trial):
    """Fill `trial` with a path and those that go together with it, the largest first; return their number.

    The path is given what those took that do not. 0 where all do, as the path can be added then.
    """
    order, falling = np.zeros(count, np.int64), np.zeros(count)
    for p in range(count):
        order[p], falling[p] = p, -paths.x[p]
    sort_by(falling, order, count)
    copy_first(path, trial.rows[0], trial.rows.shape[1])
    trial.x[0], kept, place = 0.0, np.int64(1), 0
    while place < count:
        most = min(count - place, trial.rows.shape[0] - kept)
        good, bad, size = 0, most + 1, most
        while bad - good > 1:
            for n in range(size):
                copy_first(paths.rows[order[place + n]], trial.rows[kept + n], trial.rows.shape[1])
                trial.x[kept + n] = paths.x[order[place + n]]
            if merge(trial.rows, kept + size, problem.graph, network) < 0:
                bad = size
            else:
                good = size
            size = (good + bad) // 2
        kept, place = kept + good, place + good
        if place < count:
            trial.x[0] += paths.x[order[place]]
            place += 1
    return kept if kept <= count else np.int64(0)


@allocating
def exchange_paths(paths, count, net, columns, size, level, problem, network):
    """Add one of the best columns in place of the paths that it does not go together with, where that gains.

    Returns
    -------
    net, count : float, int
        As before where none does.
    """
    trial, tried = Paths(np.empty_like(paths.rows), np.empty_like(paths.x)), 0
    for row in range(size):
        if tried == EXCHANGES or columns.price[row] <= level * (1.0 + GAIN) or is_spent(problem.work):
            break
        if contains(paths.rows, count, columns.found[row]):
            continue
        kept = _make_way(paths, count, columns.found[row], problem, network, trial)
        if kept == 0:
            continue
        tried += 1
        trial_net, left = settle(trial, kept, problem, network)
        if trial_net > net + GAIN * abs(net):
            copy_paths(trial, paths, left)
            return trial_net, left
    return net, count

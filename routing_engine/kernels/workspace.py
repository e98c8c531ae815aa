"""Memory of one thread, allocated once per graph: kernels leave it as they found it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from routing_engine.kernels.arrays import Load, Scratch
from routing_engine.kernels.bound.dual_prices import Worths
from routing_engine.kernels.search.labels import new_scratch


class Workspace(NamedTuple):
    """What searches for paths, divisions and certificates need."""

    scratch: Scratch
    load: Load
    worths: Worths


def new_workspace(tokens: int, markets: int, edges: int, max_hops: int) -> Workspace:
    """Allocate for a graph of this size and routes of at most `max_hops` hops."""
    rounds = max_hops + 1
    return Workspace(
        scratch=new_scratch(tokens, max_hops),
        load=Load(
            flow=np.zeros(edges),
            slope=np.zeros(edges),
            owner=np.full(markets, -1, np.int32),
            shut=np.zeros(edges, np.bool_),
            extra=np.zeros(markets),
            most=np.zeros((rounds, tokens)),
            reached=np.zeros(rounds * tokens, np.int32),
            limit=np.zeros(tokens),
            supply=np.zeros((rounds, tokens)),
            supplied=np.zeros(rounds * tokens, np.int32),
            crumbs=np.zeros((rounds, tokens), np.bool_),
        ),
        worths=Worths(
            best=np.zeros((rounds, tokens)),
            via=np.zeros((rounds, tokens), np.int32),
            other=np.zeros((rounds, tokens)),
            other_via=np.zeros((rounds, tokens), np.int32),
            touched=np.zeros((rounds, tokens), np.int32),
            sizes=np.zeros(rounds, np.int64),
            target=np.zeros((rounds, tokens)),
        ),
    )

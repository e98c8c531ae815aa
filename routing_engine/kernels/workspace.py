"""Memory of one thread, allocated once per graph: kernels leave it as they found it."""

from __future__ import annotations

import numpy as np

from routing_engine.kernels.arrays import OPEN_EDGE, DualPrices, FlowState, Inflow, OpenEdges, Workspace
from routing_engine.kernels.bound.arrivals import LEVELS
from routing_engine.kernels.bound.outlook import UNKNOWN_SCOPE
from routing_engine.kernels.certificate_arrays import Arrivals, Contenders, LossEdges, Losses, Outlook
from routing_engine.kernels.search.labels import create_scratch


def create_workspace(tokens: int, max_hops: int) -> Workspace:
    """Allocate what searches and certificates over so many tokens and hops need."""
    rounds = max_hops + 1
    return Workspace(
        scratch=create_scratch(tokens, max_hops),
        duals=DualPrices(
            best=np.zeros((rounds, tokens)),
            via=np.zeros((rounds, tokens), np.int32),
            other=np.zeros((rounds, tokens)),
            other_via=np.zeros((rounds, tokens), np.int32),
            touched=np.zeros((rounds, tokens), np.int32),
            sizes=np.zeros(rounds, np.int64),
            target=np.zeros((rounds, tokens)),
            queue=np.zeros((rounds, tokens), np.int32),
            waiting=np.zeros(rounds, np.int64),
            waits=np.zeros((rounds, tokens), np.bool_),
        ),
    )


def create_flow_state(tokens: int, markets: int, edges: int, max_hops: int) -> FlowState:
    """Allocate what allocations on a graph of this size need."""
    rounds = max_hops + 1
    return FlowState(
        flow=np.zeros(edges),
        slope=np.zeros(edges),
        owner=np.full(markets, -1, np.int32),
        shut=np.zeros(edges, np.bool_),
        multiplier=np.zeros(markets),
        inflow=Inflow(np.zeros((rounds, tokens)), np.zeros(rounds * tokens, np.int32)),
        room=np.zeros(tokens),
        limit=np.zeros(tokens),
        closed=np.zeros(edges, np.bool_),
        losses=_create_losses(tokens, edges),
        open_edges=OpenEdges(
            span=np.zeros((2, tokens, 2), np.int64),
            listed=np.zeros(2 * edges + 1, OPEN_EDGE),
            lists=np.zeros((2 * tokens, 2), np.int64),
            sizes=np.zeros(3, np.int64),
        ),
        outlook=Outlook(
            most=np.zeros((rounds, tokens)),
            reached=np.zeros(rounds * tokens, np.int32),
            size=np.zeros(1, np.int64),
            scope=np.array(UNKNOWN_SCOPE),
        ),
        contenders=_create_contenders(tokens, edges, max_hops),
        arrivals=Arrivals(
            most=np.zeros((LEVELS, tokens)),
            counted=np.zeros((LEVELS, tokens)),
            weight=np.ones(rounds),
            touched=np.zeros((LEVELS, tokens), np.int32),
            sizes=np.zeros(LEVELS + 2, np.int64),
        ),
    )


def _create_losses(tokens: int, edges: int) -> Losses:
    """Allocate what a certificate notes of losses."""
    return Losses(
        edges=LossEdges(
            edge=np.zeros(edges, np.int32),
            source=np.zeros(edges, np.int32),
            target=np.zeros(edges, np.int32),
            arriving=np.zeros(edges, np.int32),
            span=np.zeros((tokens, 4), np.int32),
            size=np.zeros(1, np.int64),
        ),
        gain=np.zeros(edges),
        loss=np.zeros(edges),
        given=np.zeros(edges),
        is_minor=np.zeros(edges, np.bool_),
        price=np.zeros(tokens),
        lost=np.zeros(tokens),
        to_lose=np.zeros(tokens),
        main_lost=np.zeros(tokens),
        main_to_lose=np.zeros(tokens),
        most=np.zeros(tokens),
    )


def _create_contenders(tokens: int, edges: int, max_hops: int) -> Contenders:
    """Allocate the lists of edges from which a relaxation's paths are made."""
    rounds = max_hops + 1
    return Contenders(
        edge=np.zeros(max_hops * edges, np.int32),
        price=np.zeros(max_hops * edges),
        ratio=np.zeros(max_hops * edges),
        token=np.zeros(rounds * tokens, np.int64),
        hops=np.zeros(rounds * tokens, np.int64),
        first=np.zeros(rounds * tokens + 1, np.int64),
        sizes=np.zeros(2, np.int64),
        reach=np.zeros((rounds, tokens)),
    )

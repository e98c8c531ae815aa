"""Edges that a better route may use, side by side: what `exclusion` goes through again and again.

A path visits no token twice. So a token whose edges all join it to the same other one is on no path, unless it is the
start or the end; most tokens of a market are of that kind.
"""

from __future__ import annotations

from routing_engine.jit.decorators import inner

NONE, SEVERAL = -1, -2
"""What a token is joined to besides one token."""


@inner
def join(joined, other):
    """Return the one token that a token is joined to by now, with one more edge."""
    if joined == NONE:
        return other
    return joined if joined == other else SEVERAL


@inner
def _is_dead_end(v, listed):
    """Whether a path can't go on from a token, or can't get there, or must go back where it came from."""
    span, joined = listed.span[v], NONE
    for place in range(span[0], span[1]):
        joined = join(joined, listed.target[place])
    for i in range(span[2], span[3]):
        joined = join(joined, listed.source[listed.arriving[i]])
    return span[0] == span[1] or span[2] == span[3] or joined != SEVERAL


@inner
def _keep_open(state):
    """Take what is closed off the list."""
    listed, size = state.losses.edges, 0
    for place in range(listed.size[0]):
        if not state.closed[listed.edge[place]]:
            listed.edge[size] = listed.edge[place]
            listed.source[size], listed.target[size] = listed.source[place], listed.target[place]
            size += 1
    listed.size[0] = size


@inner
def _find_spans(state, reached):
    """Find the edges of each token; the list is in the order of their sources."""
    listed, tokens = state.losses.edges, state.inflow.reached
    span, begin = listed.span, 0
    for i in range(reached):
        span[tokens[i], 0] = span[tokens[i], 1] = span[tokens[i], 3] = 0
    for place in range(listed.size[0]):
        u, v = listed.source[place], listed.target[place]
        if span[u, 1] == 0:
            span[u, 0] = place
        span[u, 1] = place + 1
        span[v, 3] += 1
    for i in range(reached):
        v = tokens[i]
        span[v, 2], begin = begin, begin + span[v, 3]
        span[v, 3] = span[v, 2]
    for place in range(listed.size[0]):
        v = listed.target[place]
        listed.arriving[span[v, 3]] = place
        span[v, 3] += 1


@inner
def _close_dead_ends(problem, state, reached):
    """Close the edges of tokens that are on no path; return whether there were any."""
    listed, any_is = state.losses.edges, False
    for i in range(reached):
        v = state.inflow.reached[i]
        span = listed.span[v]
        is_used = span[0] < span[1] or span[2] < span[3]
        if is_used and v != problem.start and v != problem.end and _is_dead_end(v, listed):
            any_is = True
            for place in range(span[0], span[1]):
                state.closed[listed.edge[place]] = True
            for place in range(span[2], span[3]):
                state.closed[listed.edge[listed.arriving[place]]] = True
    return any_is


@inner
def shorten_list(problem, state, reached):
    """Take off the list what is closed, and what leads to dead ends only, which is closed then."""
    while True:
        _keep_open(state)
        _find_spans(state, reached)
        if not _close_dead_ends(problem, state, reached):
            return


@inner
def list_loss_edges(problem, state, reached):
    """List the edges between tokens that are reached, as far as they are open and on a path; the others are closed."""
    forward, listed, size = problem.graph.forward, state.losses.edges, 0
    for i in range(reached):
        u = state.inflow.reached[i]
        for e in range(forward.first[u], forward.first[u + 1]):
            if state.closed[e]:
                continue
            v = forward.edges[e]["other"]
            is_on_way = u != problem.end and v != problem.start and state.limit[v] > 0.0
            if is_on_way and problem.allowed[forward.edges[e]["market"]]:
                listed.edge[size], listed.source[size], listed.target[size] = e, u, v
                size += 1
            else:
                state.closed[e] = True
    listed.size[0] = size
    shorten_list(problem, state, reached)

"""Layered search for the best path that carries amounts.

Round k holds, for every token, the few best labels that reach it over exactly k markets (the shape of RAPTOR: rounds on
flat arrays instead of a priority queue). A label knows its amount, the gas it has cost, its fill time and the label it
came from; so the amount that enters a market is the amount that really arrives there, and prices depend on size.

Exact-out runs the same rounds backwards: from the target over reversed edges, carrying the input that is required.
"""

from __future__ import annotations

import numpy as np

from routing_engine.jit.decorators import inlined, inner, kernel
from routing_engine.kernels.arrays import FORWARD
from routing_engine.kernels.search.beam import LARGE, raise_floors
from routing_engine.kernels.search.frontier import count_adjacent_edges, count_edges, mark_adjacent
from routing_engine.kernels.search.labels import LABELS, Extension, has_place_for, insert, insert_keeping_most
from routing_engine.kernels.search.prospects import carry_over, clear_prospects, fill_prospects, is_promising
from routing_engine.kernels.vectors import copy_first
from routing_engine.kernels.work import spend


@inlined
def _may_extend(k, slot, v, rate, problem, scratch):
    """Whether label `slot` of round k may get a place at token v over an edge whose average price is below `rate`.

    It is judged by more than the edge can give, or less than it can need: of most that get none, only the link is read.
    """
    label, weights = scratch.labels[k, slot], problem.weights
    if weights.time_first or weights.time_rate > 0.0:
        return True
    cost, is_forward = label["cost"], problem.direction == FORWARD
    amount = label["amount"] * rate if is_forward else label["amount"] / rate
    if problem.is_narrow and not is_promising(k + 1, v, amount, cost, problem, scratch.prospects):
        return False
    directed = amount if is_forward else -amount
    return has_place_for(k + 1, v, directed, directed - cost * weights.units[v], v != problem.end, scratch)


@inlined
def _relax(k, slot, e, problem, scratch):
    """Extend label `slot` of round k over edge `e`; whether the far token has its first label of round k + 1 by it."""
    edge, weights = problem.onward.edges[e], problem.weights
    if not problem.allowed[edge["market"]]:
        return False
    label = scratch.labels[k, slot]
    is_forward = problem.direction == FORWARD
    amount, entered = carry_over(edge, label["amount"], problem)
    if not amount > 0.0:  # refused, or NaN
        return False
    v = edge["other"]
    if problem.is_narrow and not is_promising(k + 1, v, amount, label["cost"], problem, scratch.prospects):
        return False
    cost = label["cost"] + (edge["gas"] + edge["gas_per_piece"] * entered) * weights.gas_cost[edge["chain"]]
    time = label["time"] + edge["time"]
    if edge["time"] == 0.0 and (v == problem.end if is_forward else k == 0):
        time += weights.last_block_s
    if is_forward:
        score = amount * (1.0 - weights.time_rate * time) - cost * weights.units[v]
    else:
        score = -(amount * (1.0 + weights.time_rate * time) + cost * weights.units[v])
    new = Extension(k, slot, e, amount, cost, time, score)
    edges, start = problem.onward.edges, problem.start
    if weights.time_first or v == problem.end:
        return insert(scratch, edges, new, weights.time_first, start)
    return insert_keeping_most(scratch, edges, new, problem.direction, start)


@inner
def _extend_to_token(k, size, v, problem, scratch):
    """Extend round k to token v, by way of the edges that arrive there; return the size of round k + 1."""
    backward, reached = problem.backward, False
    spend(problem.work, backward.first[v + 1] - backward.first[v])
    for row in range(backward.first[v], backward.first[v + 1]):
        u = backward.links[row]["other"]
        if u == problem.end:
            continue
        spend(problem.work, np.int64(scratch.counts[k, u]))
        for s in range(scratch.counts[k, u]):
            slot = u * LABELS + s
            if _may_extend(k, slot, v, backward.links[row]["rate"], problem, scratch):
                reached |= _relax(k, slot, np.int64(backward.edges[row]["twin"]), problem, scratch)
    if reached:
        scratch.touched[k + 1, size] = v
    return size + reached


@inner
def _extend_near_end(k, problem, scratch):
    """Extend round k to the end and the tokens adjacent to it; return the size of round k + 1."""
    backward, end = problem.backward, problem.end
    size = _extend_to_token(k, 0, end, problem, scratch)
    for row in range(backward.first[end], backward.first[end + 1]):
        v = np.int64(backward.links[row]["other"])
        if scratch.is_adjacent[v] and v != problem.start:
            scratch.is_adjacent[v] = False  # once, however many edges lead there
            size = _extend_to_token(k, size, v, problem, scratch)
    mark_adjacent(backward, end, scratch.is_adjacent, True)
    return size


@inner
def _extend_round(k, size, last_but_one, problem, scratch):
    """Extend the labels of round k over all their edges; return the size of round k + 1."""
    onward, new_size = problem.onward, 0
    for i in range(size):
        u = scratch.touched[k, i]
        if u == problem.end:
            continue
        spend(problem.work, (onward.first[u + 1] - onward.first[u]) * np.int64(scratch.counts[k, u]))
        for s in range(scratch.counts[k, u]):
            slot = u * LABELS + s
            for e in range(onward.first[u], onward.first[u + 1]):
                v = np.int64(onward.links[e]["other"])
                if v == problem.start or (last_but_one and v != problem.end and not scratch.is_adjacent[v]):
                    continue
                may_be = _may_extend(k, slot, v, onward.links[e]["rate"], problem, scratch)
                if may_be and _relax(k, slot, e, problem, scratch):
                    scratch.touched[k + 1, new_size] = v
                    new_size += 1
    return new_size


@inner
def _comes_before(time, score, other, time_first):
    """Whether a path comes before another one, by time and score."""
    if time_first:
        return time < other[0] or (time == other[0] and score > other[1])
    return score > other[1] or (score == other[1] and time < other[0])


@inner
def _make_place(total, time, score, time_first, found, scores):
    """Move the paths that come after a new one; return its place."""
    place = total
    while place > 0 and _comes_before(time, score, scores[place - 1], time_first):
        copy_first(scores[place - 1], scores[place], scores.shape[1])
        copy_first(found[place - 1], found[place], found.shape[1])
        place -= 1
    scores[place, 0], scores[place, 1] = time, score
    return place


@inner
def _collect(problem, scratch, found, scores):
    """Write the labels of the end as paths, forward edge numbers from the source on; return their number."""
    total = 0
    for k in range(1, problem.max_hops + 1):
        for s in range(scratch.counts[k, problem.end]):
            slot = problem.end * LABELS + s
            time, score = scratch.labels[k, slot]["time"], scratch.labels[k, slot]["score"]
            row = found[_make_place(total, time, score, problem.weights.time_first, found, scores)]
            for layer in range(k, 0, -1):
                label = scratch.labels[layer, slot]
                if problem.direction == FORWARD:
                    row[layer - 1] = label["edge"]
                else:
                    row[k - layer] = problem.onward.edges[label["edge"]]["twin"]
                slot = label["parent"]
            for empty in range(k, row.size):
                row[empty] = -1
            total += 1
    return total


@inner
def _search(problem, scratch, sizes):
    """Fill all rounds, and their sizes."""
    onward, max_hops = problem.onward, problem.max_hops
    scratch.touched[0, 0] = problem.start
    sizes[0] = 1
    origin = scratch.labels[0, problem.start * LABELS]
    origin["amount"] = problem.amount
    origin["cost"] = 0.0
    origin["time"] = 0.0
    scratch.counts[0, problem.start] = 1
    adjacent_edges = count_adjacent_edges(problem.backward, problem.end)
    for k in range(max_hops - 1):
        last_but_one = k == max_hops - 2
        if last_but_one and adjacent_edges < count_edges(onward.first, scratch.touched[k], sizes[k]):
            sizes[k + 1] = _extend_near_end(k, problem, scratch)
        else:
            sizes[k + 1] = _extend_round(k, sizes[k], last_but_one, problem, scratch)
    sizes[max_hops] = _extend_to_token(max_hops - 1, 0, problem.end, problem, scratch)


@inner
def _has_lost_any(problem, scratch):
    """Whether nothing as good as the paths of a beam was found, for some number of hops.

    Labels of these paths may have been pushed out; others that are nearly as good were then left out for nothing.
    """
    best = -np.inf
    for k in range(1, problem.max_hops + 1):
        if scratch.counts[k, problem.end] > 0:
            best = max(best, scratch.labels[k, problem.end * LABELS]["score"])
        if best < scratch.prospects.floor[k]:
            return True
    return False


@kernel
def find_best_paths(problem, scratch, found, scores):
    """Find the best paths from start to end: up to `LABELS` for each number of hops.

    Parameters
    ----------
    problem : PathProblem
        What is asked.
    scratch : Scratch
        For at least as many tokens and rounds.
    found : int32 array, shape (max_hops * LABELS, max_hops)
        Filled with forward edge numbers from source to target and -1 past the end, one row per path, the best first.
    scores : float64 array, shape (max_hops * LABELS, 2)
        Filled with each path's fill time, and its score: larger is better.

    Returns
    -------
    int
        Number of rows filled.
    """
    backward, prospects, total = problem.backward, scratch.prospects, 0
    reached = fill_prospects(problem, prospects) if problem.is_narrow else 0
    has_beam = problem.is_narrow and problem.onward.links.size > LARGE
    if has_beam:
        raise_floors(problem, prospects)
    mark_adjacent(backward, problem.end, scratch.is_adjacent, True)
    sizes = np.zeros(problem.max_hops + 1, np.int64)
    for _ in range(2):
        _search(problem, scratch, sizes)
        total = _collect(problem, scratch, found, scores)
        is_lost = has_beam and _has_lost_any(problem, scratch)
        for k in range(problem.max_hops + 1):
            for i in range(sizes[k]):
                scratch.counts[k, scratch.touched[k, i]] = 0
        if not is_lost:
            break
        copy_first(prospects.least, prospects.floor, prospects.floor.size)
        has_beam = False
    mark_adjacent(backward, problem.end, scratch.is_adjacent, False)
    clear_prospects(prospects, reached)
    return total

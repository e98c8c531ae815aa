"""A snapshot as a picture: tokens, and the markets between them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import numpy.typing as npt
from matplotlib import patheffects

from routing_engine.model import Token
from routing_engine.pictures.style import COLOURS, FAINT, INK, MARKERS, use_style
from routing_engine.snapshot.snapshot import Snapshot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 60
"""More tokens would be a cloud."""

LABELLED = 30
LAYOUT_SEED = 7
RING = 2.2
"""How far the chains are from the middle, of which each has a circle of about 1 for its tokens."""

STRETCH = (1.6, 1.0)
NEAREST, ROUNDS = 0.24, 60
"""How far tokens of a chain are apart at least, and how often they are pushed."""

HALO = [patheffects.withStroke(linewidth=2.5, foreground="white")]
"""Around a label, which stands on lines."""


def draw_snapshot(snapshot: Snapshot, ax: Axes | None = None, *, most: int = MOST) -> Axes:
    """Draw the best connected tokens: sizes by markets, widths by markets of a pair, marks by chain, bridges dotted.

    Parameters
    ----------
    snapshot : Snapshot
        Any size.
    ax : matplotlib axes, optional
        New ones without.
    most : int
        How many tokens.
    """
    pairs: Counter[tuple[Token, Token]] = Counter()
    degrees: Counter[Token] = Counter()
    for market in snapshot.markets.values():
        degrees.update(market.tokens)
        for first, second in {tuple(sorted(edge, key=lambda token: token.key)) for edge in market.edges()}:
            pairs[first, second] += 1
    shown = [token for token, _ in degrees.most_common(most)]
    graph: nx.Graph[Token] = nx.Graph()
    graph.add_nodes_from(shown)
    graph.add_edges_from((*pair, {"weight": count}) for pair, count in pairs.items() if {*pair} <= set(shown))
    places = _place(graph, shown)
    with use_style(ax) as ax:
        for (first, second), width in nx.get_edge_attributes(graph, "weight").items():
            ends = list(zip(places[first], places[second], strict=True))
            line = "-" if first.chain_id == second.chain_id else ":"
            ax.plot(*ends, color=FAINT, linestyle=line, linewidth=min(0.5 + 0.4 * width, 4), zorder=1)
        for number, chain_id in enumerate(sorted({token.chain_id for token in shown})):
            here = [token for token in shown if token.chain_id == chain_id]
            ax.scatter(
                [places[token][0] for token in here], [places[token][1] for token in here],
                s=[20 + 300 * degrees[token] / degrees[shown[0]] for token in here],
                color=COLOURS[number % len(COLOURS)], marker=MARKERS[number % len(MARKERS)],
                edgecolor=INK, linewidth=0.5, label=f"chain {chain_id}", zorder=2,
            )  # fmt: skip
        for token in shown[:LABELLED]:
            x, y = places[token]
            ax.annotate(
                token.symbol, (x, y), (0, 6), textcoords="offset points", ha="center", fontsize=7.5, path_effects=HALO
            )
        if shown:
            ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
        ax.set_title(f"{len(shown)} of {len(degrees):,} tokens, {len(snapshot.markets):,} markets")
        ax.set_axis_off()
    return ax


def _place(graph: nx.Graph[Token], shown: Sequence[Token]) -> dict[Token, tuple[float, float]]:
    """Give each chain a circle of its own, around the middle, larger where it has more tokens."""
    chains: dict[int, list[Token]] = {}
    for token in shown:
        chains.setdefault(token.chain_id, []).append(token)
    places: dict[Token, tuple[float, float]] = {}
    most = max(map(len, chains.values()), default=1)
    for number, chain_id in enumerate(sorted(chains)):
        angle, ring = 2 * math.pi * number / len(chains), RING if len(chains) > 1 else 0.0
        tokens = chains[chain_id]
        within = nx.spring_layout(
            graph.subgraph(tokens), k=3 / len(tokens) ** 0.5, iterations=200, seed=LAYOUT_SEED, weight=None,
            scale=0.4 + 0.7 * (len(tokens) / most) ** 0.5,
        )  # fmt: skip
        centre = np.array([ring * math.cos(angle), ring * math.sin(angle)])
        spread = (centre + _push_apart(np.array([within[token] for token in tokens]))) * STRETCH
        places.update(zip(tokens, map(tuple, spread.tolist()), strict=True))
    return places


def _push_apart(points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Move points that are too near each other, half of the way each, so that names can be read."""
    for _ in range(ROUNDS):
        between = points[:, None] - points[None]
        distances = np.maximum(np.hypot(*between.transpose(2, 0, 1)), 1e-9)
        missing = np.maximum(NEAREST - distances, 0)
        points = points + 0.25 * (between / distances[..., None] * missing[..., None]).sum(1)
    return points

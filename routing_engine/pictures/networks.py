"""A snapshot as a picture: tokens, and the markets between them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import networkx as nx

from routing_engine.model import Token
from routing_engine.pictures.style import COLOURS, FAINT, INK, MARKERS, use_style
from routing_engine.snapshot.snapshot import Snapshot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST = 60
"""More tokens would be a cloud."""

LABELLED = 30
LAYOUT_SEED = 7


def draw_snapshot(snapshot: Snapshot, ax: Axes | None = None, *, most: int = MOST) -> Axes:
    """Draw the best connected tokens: sizes by markets, widths by markets of a pair, marks by chain.

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
    places = nx.spring_layout(graph, k=1.6 / max(len(shown), 1) ** 0.5, iterations=200, seed=LAYOUT_SEED)
    with use_style(ax) as ax:
        for (first, second), width in nx.get_edge_attributes(graph, "weight").items():
            ends = list(zip(places[first], places[second], strict=True))
            ax.plot(*ends, color=FAINT, linewidth=min(0.5 + 0.4 * width, 6), zorder=1)
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
                token.symbol, (float(x), float(y)), (0, 5), textcoords="offset points", ha="center", fontsize=7.5
            )
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
        ax.set_title(f"{len(shown)} of {len(degrees):,} tokens, {len(snapshot.markets):,} markets")
        ax.set_axis_off()
    return ax

"""A snapshot as a networkx graph, for analysis and for comparison with textbook algorithms."""

from __future__ import annotations

import math
from collections.abc import Iterable

import networkx as nx

from routing_engine.market import Market
from routing_engine.model import Token


def build_multi_digraph(markets: Iterable[Market]) -> nx.MultiDiGraph[Token]:
    """Return tokens as nodes and every direction of every market as a parallel edge; see `Snapshot.to_networkx`."""
    graph: nx.MultiDiGraph[Token] = nx.MultiDiGraph()
    for market in markets:
        for token_in, token_out in market.edges():
            rate = market.spot_price(token_in, token_out)
            curve = market.curve(token_in, token_out)
            back = market.spot_price(token_out, token_in) if (token_out, token_in) in market.edges() else None
            whole = rate * 10.0 ** (token_in.decimals - token_out.decimals)
            graph.add_edge(
                token_in,
                token_out,
                key=market.id,
                market=market.id,
                protocol=market.protocol,
                rate=rate,
                fee=1.0 - math.sqrt(rate * back) if back else 0.0,
                time=curve.fill_time_s,
                gas=curve.gas,
                weight=-math.log(whole) if whole > 0 else math.inf,
            )
    return graph

"""A snapshot as flat arrays: what searches run on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from routing_engine.chains import block_time_s
from routing_engine.curve import Curve
from routing_engine.kernels.layout import EDGE, Adjacency, Shape, Tables
from routing_engine.model import Market, Token
from routing_engine.prices import native_tokens, reference_prices


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Graph:
    """Tokens as nodes, every direction of every market as an edge, in CSR order both ways.

    Parameters
    ----------
    tokens, markets : tuple
        Node and market numbers are positions in these.
    index, market_index : mapping
        Number of a token, and of a market by its id.
    protocols : frozenset of str
        All protocols that have a market here.
    chains : tuple of int
        Chain ids; chain numbers are positions.
    forward, reverse : Adjacency
        Edges by token_in, and by token_out.
    tables : Tables
        What curves need beyond their edge.
    source : int32 array
        Number of the token_in of each forward edge.
    prices : float64 array
        Worth of each token's smallest unit in the root's, 0 where unknown.
    units : float64 array
        Number of each token's smallest units that the root's is worth; 0 where unknown.
    native : int32 array
        Per chain, the token that gas is paid in (or its wrapped form), -1 where the snapshot has neither.
    """

    tokens: tuple[Token, ...]
    markets: tuple[Market, ...]
    index: Mapping[Token, int]
    market_index: Mapping[str, int]
    protocols: frozenset[str]
    chains: tuple[int, ...]
    forward: Adjacency
    reverse: Adjacency
    tables: Tables
    source: npt.NDArray[np.int32]
    prices: npt.NDArray[np.float64]
    units: npt.NDArray[np.float64]
    native: npt.NDArray[np.int32]

    @classmethod
    def compile(cls, markets: Iterable[Market], gas_prices: Mapping[int, int] | None = None) -> Graph:
        """Lay out markets; the order of the input decides all numbers, so equal input gives equal arrays.

        `gas_prices`, wei by chain id, turn what a market charges in coin on top into gas, for the choice of routes.
        """
        markets = tuple(markets)
        index: dict[Token, int] = {}
        rows: list[tuple[int, int, int, Curve]] = []
        for number, market in enumerate(markets):
            for token_in, token_out in market.edges():
                u = index.setdefault(token_in, len(index))
                v = index.setdefault(token_out, len(index))
                rows.append((u, v, number, market.curve(token_in, token_out)))
        tokens = tuple(index)
        chains = tuple(sorted({token.chain_id for token in tokens}))
        edges, source, tables = _edge_records(rows, tokens, chains, gas_prices or {})
        forward, reverse, source = _two_orders(edges, source, len(tokens))
        native = native_tokens(index, chains)
        prices = reference_prices(forward, source, native)
        return cls(
            tokens=tokens,
            markets=markets,
            index=index,
            market_index={market.id: number for number, market in enumerate(markets)},
            protocols=frozenset(market.protocol for market in markets),
            chains=chains,
            forward=forward,
            reverse=reverse,
            tables=tables,
            source=source,
            prices=prices,
            units=np.divide(1.0, prices, out=np.zeros(prices.size), where=prices > 0),
            native=native,
        )

    def gas_cost(self, gas_prices: Mapping[int, int]) -> npt.NDArray[np.float64]:
        """Worth of one gas unit on each chain, in the root's smallest units; 0 where price or coin is unknown."""
        return np.array(
            [
                gas_prices.get(chain_id, 0) * (self.prices[coin] if coin >= 0 else 0.0)
                for chain_id, coin in zip(self.chains, self.native, strict=True)
            ]
        )

    def edge_ends(self, edge: int) -> tuple[Market, Token, Token]:
        """Market, token_in and token_out of a forward edge."""
        record = self.forward.edges[edge]
        return self.markets[record["market"]], self.tokens[self.source[edge]], self.tokens[record["other"]]


def _edge_records(
    rows: list[tuple[int, int, int, Curve]],
    tokens: tuple[Token, ...],
    chains: tuple[int, ...],
    gas_prices: Mapping[int, int],
) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int32], Tables]:
    chain_number = {chain_id: number for number, chain_id in enumerate(chains)}
    chain_of = [chain_number[token.chain_id] for token in tokens]
    records = []
    pieces: list[npt.NDArray[np.float64]] = []
    params: list[npt.NDArray[np.float64]] = []
    rows_filled = params_filled = 0
    for u, v, market, curve in rows:
        count, start = len(curve.pieces), 0
        if curve.shape is not Shape.PIECES:
            count, start = len(curve.params), params_filled
            params.append(curve.params)
            params_filled += count
        elif count > 1:
            start = rows_filled
            pieces.append(curve.pieces)
            rows_filled += count
        gas_price = gas_prices.get(tokens[u].chain_id, 0)
        gas = curve.gas + (curve.native_fee / gas_price if gas_price else 0.0)
        limits = (curve.x_min, curve.x_max, gas, curve.gas_per_piece)
        time = curve.fill_time_s + block_time_s(tokens[u].chain_id) if chain_of[u] != chain_of[v] else 0.0
        head = (v, market, chain_of[u], 0, curve.shape, start, count)
        records.append((*head, *curve.pieces[0].tolist(), *limits, time))
    tables = Tables(
        np.concatenate(pieces) if pieces else np.empty((0, 5)), np.concatenate(params) if params else np.empty(0)
    )
    return np.array(records, EDGE), np.array([row[0] for row in rows], np.int32), tables


def _two_orders(
    edges: npt.NDArray[np.void], source: npt.NDArray[np.int32], tokens: int
) -> tuple[Adjacency, Adjacency, npt.NDArray[np.int32]]:
    """Sort by token_in and by token_out, and let each row know its twin."""
    order = np.argsort(source, kind="stable")
    edges, source = edges[order], source[order]
    forward = Adjacency(_offsets(source, tokens), edges)
    back = np.argsort(edges["other"], kind="stable")
    reversed_edges = edges[back].copy()
    reversed_edges["twin"] = back
    edges["twin"][back] = np.arange(back.size)
    reverse = Adjacency(_offsets(edges["other"][back], tokens), reversed_edges)
    reversed_edges["other"] = source[back]
    return forward, reverse, source


def _offsets(sorted_nodes: npt.NDArray[np.int32], tokens: int) -> npt.NDArray[np.int64]:
    return np.searchsorted(sorted_nodes, np.arange(tokens + 1)).astype(np.int64)

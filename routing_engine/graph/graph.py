"""A snapshot as flat arrays: what searches run on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from routing_engine.graph.copy_on_write import Buffers
from routing_engine.graph.csr import Layout, Memory, lay_out, write_states
from routing_engine.graph.edge_rows import describe_edges, number_tokens
from routing_engine.graph.reference_prices import (
    compute_depths,
    compute_mid_rates,
    compute_reference_prices,
    find_native_tokens,
)
from routing_engine.graph.roundings import Roundings, bound_roundings, follow_roundings
from routing_engine.graph.same_edges import has_same_edges
from routing_engine.graph.settled_prices import SettledPrices
from routing_engine.kernels.arrays import Adjacency, GraphArrays
from routing_engine.market import Market
from routing_engine.model import Token


@dataclass(frozen=True, eq=False, kw_only=True)
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
    gas_prices : mapping of int to int
        Wei by chain id; they turn what a market charges in coin on top into gas, for the choice of routes.
    charging : frozenset of int
        Markets that charge in coin.
    forward, reverse : Adjacency
        Edges by token_in, and by token_out.
    pieces : float64 array, shape (rows, 6)
        What curves need beyond their edge.
    source, target : int32 array
        Numbers of the token_in and the token_out of each forward edge.
    mid_rate : float64 array
        Units of token_out per unit of token_in of each forward edge, without fees; 0 where unknown.
    depth : float64 array
        What each forward edge takes before its price is another one, in units of token_in.
    wraps : bool array
        Markets that wrap a native coin.
    native : int32 array
        Per chain, the token that gas is paid in (or its wrapped form), -1 where the snapshot has neither.
    layout : Layout
        Where each market's edges are.
    buffers : tuple of Buffers
        Memory of earlier graphs' forward and reverse edges, and of their links.
    """

    tokens: tuple[Token, ...]
    markets: tuple[Market, ...]
    index: Mapping[Token, int]
    market_index: Mapping[str, int]
    protocols: frozenset[str]
    chains: tuple[int, ...]
    gas_prices: Mapping[int, int]
    charging: frozenset[int]
    forward: Adjacency
    reverse: Adjacency
    pieces: npt.NDArray[np.float64]
    source: npt.NDArray[np.int32]
    target: npt.NDArray[np.int32]
    mid_rate: npt.NDArray[np.float64]
    depth: npt.NDArray[np.float64]
    wraps: npt.NDArray[np.bool_]
    native: npt.NDArray[np.int32]
    layout: Layout
    buffers: Memory = field(default_factory=lambda: (Buffers(), Buffers(), Buffers(), Buffers()))
    _settled: SettledPrices = field(default_factory=SettledPrices, init=False)

    @classmethod
    def compile(cls, markets: Iterable[Market], gas_prices: Mapping[int, int] | None = None) -> Graph:
        """Lay out markets by their ids, so that equal input in any order gives equal arrays, and equal answers."""
        markets, gas_prices = tuple(sorted(markets, key=attrgetter("id"))), dict(gas_prices or {})
        rows = describe_edges(markets, gas_prices)
        index, source, target = number_tokens(markets, rows)
        chains = tuple(sorted({token.chain_id for token in index}))
        chain_of = np.array([chains.index(token.chain_id) for token in index], np.int32)
        rows.records["chain"] = chain_of[source]
        layout, forward, reverse, pieces = lay_out(rows, source, target, len(index))
        everywhere = np.arange(forward.edges.size)
        return cls(
            tokens=tuple(index),
            markets=markets,
            index=index,
            market_index={market.id: number for number, market in enumerate(markets)},
            protocols=frozenset(market.protocol for market in markets),
            chains=chains,
            gas_prices=gas_prices,
            charging=frozenset(rows.charging),
            forward=forward,
            reverse=reverse,
            pieces=pieces,
            source=reverse.edges["other"][forward.edges["twin"]],
            target=forward.edges["other"].copy(),
            mid_rate=compute_mid_rates(forward.edges, layout.opposite, everywhere),
            depth=compute_depths(forward.edges, everywhere),
            wraps=np.array([market.is_wrap for market in markets], np.bool_),
            native=find_native_tokens(index, chains),
            layout=layout,
        )

    def apply(self, changed: Iterable[Market], gas_prices: Mapping[int, int] | None = None) -> Graph | None:
        """Return the graph with new states of some of its markets; this one stays as it is.

        The arrays are those that `compile` would make. They are copies, written to where markets changed: searches go
        on undisturbed on this graph.

        Parameters
        ----------
        changed : iterable of Market
            Each with the id of one of this graph's markets.
        gas_prices : mapping of int to int, optional
            As `compile` takes them.

        Returns
        -------
        Graph or None
            None where a market is new, or has other edges than before: compile then.
        """
        gas_prices = dict(gas_prices or {})
        news = {self.market_index.get(market.id, -1): market for market in changed}
        if -1 in news:
            return None
        if gas_prices != self.gas_prices:
            news = {number: self.markets[number] for number in self.charging} | news
        rows = describe_edges(list(news.values()), gas_prices)
        numbers = np.fromiter(news, np.int64, len(news))
        if not has_same_edges(self.layout, self.markets, (news, numbers), rows, self.edge_ends):
            return None
        at = self.layout.rows_of(numbers)
        forward, reverse, pieces = write_states(
            rows, at, self.layout, (self.forward, self.reverse), self.pieces, self.buffers
        )
        mid_rate, depth, places = self.mid_rate.copy(), self.depth.copy(), self.layout.forward[at]
        mid_rate[places] = compute_mid_rates(forward.edges, self.layout.opposite, places)
        depth[places] = compute_depths(forward.edges, places)
        markets = list(self.markets)
        for number, market in news.items():
            markets[number] = market
        following = replace(
            self,
            markets=tuple(markets),
            gas_prices=gas_prices,
            charging=frozenset([*(self.charging - news.keys()), *numbers[list(rows.charging)].tolist()]),
            forward=forward,
            reverse=reverse,
            pieces=pieces,
            mid_rate=mid_rate,
            depth=depth,
        )
        if "roundings" in vars(self):
            vars(following)["roundings"] = follow_roundings(
                self.roundings, forward.edges, self.source, self.target, places
            )
        return following

    @cached_property
    def arrays(self) -> GraphArrays:
        """The graph as kernels see it."""
        where = self.layout
        return GraphArrays(self.forward, self.reverse, self.source, self.pieces, where.first, where.forward)

    @cached_property
    def prices(self) -> npt.NDArray[np.float64]:
        """Worth of each token's smallest unit in the root's, 0 where unknown."""
        return compute_reference_prices(self.forward.first, self.target, self.depth, self.mid_rate, self.native)

    @cached_property
    def units(self) -> npt.NDArray[np.float64]:
        """Number of each token's smallest units that the root's is worth; 0 where unknown."""
        return np.divide(1.0, self.prices, out=np.zeros(self.prices.size), where=self.prices > 0)

    @cached_property
    def roundings(self) -> Roundings:
        """See `bound_roundings`."""
        return bound_roundings(self.forward.edges, self.source, self.target, self.markets, self.tokens)

    def settled_units(self, gas_cost: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return `units` at prices at which markets earn little beside this gas, of `gas_cost`; 0 in large markets."""
        return self._settled.find_units(self.arrays, self.prices, gas_cost)

    def gas_cost(self, gas_prices: Mapping[int, int]) -> npt.NDArray[np.float64]:
        """Worth of one gas unit on each chain, in the root's smallest units; 0 where price or coin is unknown."""
        return np.array(
            [
                gas_prices.get(chain_id, 0) * (self.prices[coin] if coin >= 0 else 0.0)
                for chain_id, coin in zip(self.chains, self.native, strict=True)
            ]
        )

    @cached_property
    def every_market(self) -> npt.NDArray[np.bool_]:
        """Mask that lets all markets through; never written to."""
        return np.ones(len(self.markets), np.bool_)

    @cached_property
    def chain_number(self) -> Mapping[int, int]:
        """Number of a chain by its id."""
        return {chain_id: number for number, chain_id in enumerate(self.chains)}

    def edge_ends(self, edge: int) -> tuple[Market, Token, Token]:
        """Market, token_in and token_out of a forward edge."""
        return self.edges_ends((edge,))[0]

    def edges_ends(self, edges: Iterable[int]) -> tuple[tuple[Market, Token, Token], ...]:
        """Return `edge_ends` of each."""
        (market, source, target), markets, tokens = self._columns, self.markets, self.tokens
        return tuple([(markets[market(edge)], tokens[source(edge)], tokens[target(edge)]) for edge in edges])

    def find_edges(self, market_id: str) -> list[int]:
        """Return the forward edges of a market."""
        rows = self.layout.rows_of(np.array([self.market_index[market_id]]))
        return [*map(int, self.layout.forward[rows])]

    @cached_property
    def _columns(self) -> tuple[Callable[[int], int], Callable[[int], int], Callable[[int], int]]:
        """What reads market, source and target of a forward edge: far cheaper than to read its record."""
        return self.forward.edges["market"].item, self.source.item, self.target.item

"""All markets at one moment: an immutable value with a content hash for a name."""

from __future__ import annotations

import hashlib
import json
import weakref
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from routing_engine import formats
from routing_engine.formats import Contents, summarise_refused
from routing_engine.frames.column import Column
from routing_engine.frames.directions import describe_directions
from routing_engine.frames.table import Table
from routing_engine.market import Market
from routing_engine.model import Token
from routing_engine.reference.token_table import TokenTable
from routing_engine.snapshot.chain_numbers import read_chain_numbers, read_moment, read_new_gas_prices
from routing_engine.snapshot.content_hash import DIGEST_BYTES, MarketsHash
from routing_engine.snapshot.market_ids import check_decimals, keep_tokens, map_by_id, replace_markets
from routing_engine.token_fields import Transfers
from routing_engine.values import seal

if TYPE_CHECKING:
    import networkx as nx

ID_SHOWN = 8  # digits of the id in the `repr` of a snapshot
MOMENT = ("gas_prices", "blocks", "taken_at", "refused")  # what a snapshot knows beside its markets


@seal
class Snapshot(Table):
    """Markets, gas prices and block numbers that belong together; as a table, a row for each direction of a market.

    Snapshots are equal when their `id` is: when markets and gas prices are; routes depend on these alone. Markets of a
    file are checked, as a tick against a price; for one that is made by hand call its `validate`.

    Parameters
    ----------
    markets : iterable of Market
        With different ids.
    gas_prices : mapping of int to int
        Wei per gas unit by chain id; a chain that is missing has an unknown gas price.
    blocks : mapping of int to int
        Block number by chain id.
    taken_at : str
        ISO 8601 time, or empty.
    refused : mapping of str to int
        What an import left out, by reason.

    Raises
    ------
    InvalidMarket
        If ids are not different, a token has two numbers of decimals, or one is no market, number or time: it says so.
    """

    markets: Mapping[str, Market]
    gas_prices: Mapping[int, int]
    blocks: Mapping[int, int]
    taken_at: str
    refused: Mapping[str, int]

    def __init__(
        self,
        markets: Iterable[Market],
        *,
        gas_prices: Mapping[int, int] | None = None,
        blocks: Mapping[int, int] | None = None,
        taken_at: str = "",
        refused: Mapping[str, int] | None = None,
    ) -> None:
        self._fill(check_decimals(map_by_id(markets)))
        vars(self).update(
            gas_prices=read_chain_numbers("gas_prices", gas_prices),
            blocks=read_chain_numbers("blocks", blocks),
            taken_at=read_moment(taken_at),
            refused=MappingProxyType(dict(refused or {})),
        )

    @classmethod
    def load(cls, path: str | Path, accept: Collection[Transfers] = ()) -> Snapshot:
        """Read a market file: the library's own format or the neutral one.

        Parameters
        ----------
        path : str or Path
            The file.
        accept : collection of Transfers
            An import leaves out the markets of tokens that do not move exact amounts, except these kinds.

        Raises
        ------
        BadMarketFile
            Naming the file and the field; nothing is loaded then.
        """
        return cls.of(formats.load(path, accept))

    @classmethod
    def sandbox(cls) -> Snapshot:
        """Return the built-in market: five chains, invented depths, real token addresses, no file needed."""
        from routing_engine.sandbox import gas_prices, sandbox_markets

        return cls(sandbox_markets(), gas_prices=gas_prices())

    @classmethod
    def of(cls, contents: Contents) -> Snapshot:
        """Return the snapshot of what a market file holds."""
        return cls(contents.markets, **{name: getattr(contents, name) for name in MOMENT})

    def save(self, path: str | Path) -> None:
        """Write the library's own format; see `formats.save`."""
        formats.save(self.contents, path)

    @property
    def contents(self) -> Contents:
        """What a market file of this snapshot holds."""
        return Contents(markets=tuple(self.markets.values()), **self._moment)

    def apply(
        self,
        changed: Iterable[Market] = (),
        *,
        removed: Iterable[str] = (),
        gas_prices: Mapping[int, int] | None = None,
        blocks: Mapping[int, int] | None = None,
        taken_at: str | None = None,
    ) -> Snapshot:
        """Return the next snapshot; this one stays as it is.

        Parameters
        ----------
        changed : iterable of Market
            New states, taken as they are: `validate()` one that was made by hand. They replace those of the same id.
        removed : iterable of str
            Ids to leave out, or one; unknown ones are ignored.
        gas_prices, blocks : mapping of int to int, optional
            Merged over the present ones. Of a gas price on a chain that nobody knows a `RuntimeWarning` tells.
        taken_at : str, optional
            Of the next snapshot.

        Raises
        ------
        InvalidMarket
            If two new states have one id, a token would have two numbers of decimals, or what is given is no market.
        """
        states = map_by_id(changed)
        markets, replaced, gone = replace_markets(self._markets, states, removed)
        following = Snapshot(
            (),
            gas_prices={**self.gas_prices, **read_new_gas_prices(gas_prices, self.gas_prices, markets.values())},
            blocks={**self.blocks, **read_chain_numbers("blocks", blocks)},
            taken_at=self.taken_at if taken_at is None else taken_at,
            refused=self.refused,
        )
        following._fill(markets, self._hash.follow(markets, replaced | gone if gone else replaced))
        if not gone and len(markets) == len(self._markets):
            vars(following).update(_before=weakref.ref(self), _states=tuple(states.values()))
            vars(following).update(keep_tokens(vars(self), states, replaced))
        return following

    def changed_since(self, earlier: Snapshot) -> Sequence[Market] | None:
        """Return the markets whose states differ from an earlier snapshot's.

        None where the two do not have the same markets in the same order. Costs nothing right after `apply`.
        """
        if self._before and self._before() is earlier:
            return self._states
        if list(self._markets) != list(earlier._markets):
            return None
        pairs = zip(self._markets.values(), earlier._markets.values(), strict=True)
        return [market for market, old in pairs if market is not old and market != old]

    _markets: dict[str, Market]
    _hash: MarketsHash
    _before: weakref.ref[Snapshot] | None = None
    _states: tuple[Market, ...] = ()

    def _fill(self, markets: dict[str, Market], markets_hash: MarketsHash | None = None) -> None:
        shown, known = MappingProxyType(markets), markets_hash or MarketsHash(markets)
        vars(self).update(_markets=markets, markets=shown, _hash=known)

    @cached_property
    def id(self) -> str:
        """Content hash over markets and gas prices: equal for equal content, however it was reached."""
        gas = json.dumps(sorted(self.gas_prices.items())).encode()
        parts = self._hash.value.to_bytes(DIGEST_BYTES, "big") + gas
        return hashlib.blake2b(parts, digest_size=16).hexdigest()

    @cached_property
    def tokens(self) -> TokenTable:
        """All tokens of all markets, by symbol and by address."""
        return TokenTable(self.markets.values(), self.refused)

    def token(self, name: str) -> Token:
        """Find a token by ``SYMBOL@chain``, ``address@chain``, or without chain where only one has it.

        Raises
        ------
        UnknownToken
            If there is none; the message suggests similar ones.
        AmbiguousToken
            If several share the symbol; the message lists them.
        """
        return self.tokens.find(name)

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each direction of each market; see `Table`."""
        return describe_directions(self.markets.values())

    def to_networkx(self) -> nx.MultiDiGraph[Token]:
        """Return tokens as nodes and markets as parallel edges.

        Edges carry `market` (id, also the edge's key), `protocol`, `rate` (spot price in smallest units), `fee` (the
        fraction of the mid price lost at the spot), `time` (seconds), `gas`, and `weight` (-log rate in whole tokens).
        """
        from routing_engine.snapshot.networkx_export import build_multi_digraph

        return build_multi_digraph(self.markets.values())

    def __reduce__(self) -> tuple[object, ...]:
        """Travel to other processes as plain values; an id that is known need not be computed again there."""
        return _restore, (self._markets, self._hash.known, self._moment)

    @property
    def _moment(self) -> dict[str, Any]:
        """What there is beside the markets, as plain values."""
        return {name: dict(each) if isinstance(each := getattr(self, name), Mapping) else each for name in MOMENT}

    def __eq__(self, other: object) -> bool:
        return self is other or (self.id == other.id if isinstance(other, Snapshot) else NotImplemented)

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        chains = sorted({token.chain_id for market in self.markets.values() for token in market.tokens})
        parts = [f"{len(self.markets)} markets", f"chains {chains}", f"id {self.id[:ID_SHOWN]}"]
        parts += [f"taken at {self.taken_at!r}"] * bool(self.taken_at)
        return f"Snapshot({', '.join(parts + [summarise_refused(self.refused)] * bool(self.refused))})"


def _restore(markets: dict[str, Market], known_hash: int | None, moment: dict[str, Any]) -> Snapshot:
    """Inverse of `Snapshot.__reduce__`."""
    snapshot = Snapshot((), **moment)
    snapshot._fill(markets, MarketsHash(markets, known_hash))
    return snapshot

"""A hash over all markets. A change costs as much as the market that changed, and is paid when the hash is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from hashlib import blake2b

from routing_engine.market import Market
from routing_engine.markets.common.canonical_text import TextWriter, write_canonical_text

DIGEST_BYTES = 32
DIGESTS: int = 256**DIGEST_BYTES


class Digests:
    """The digest of each market's latest state: the next change of the market subtracts it from the sum.

    Only markets that changed are remembered. Safe to use from many threads, whatever the order of the states that they
    ask for: a state that is not the one remembered is hashed again.
    """

    def __init__(self) -> None:
        self._latest: dict[str, tuple[Market, int]] = {}
        self._write = TextWriter().write

    def shift(self, olds: Mapping[str, Market | None], news: Mapping[str, Market]) -> int:
        """Return by how much the sum grows when states of markets, by id, take the places of others or of none."""
        latest, growth = self._latest, 0
        for market_id, old in olds.items():
            known, value = latest.get(market_id, (None, 0))
            if old:
                growth -= value if known is old else digest(old, self._write)
            new = news.get(market_id)
            if new:
                value = value if known is new else digest(new, self._write)
                latest[market_id] = new, value
                growth += value
            elif old:
                latest.pop(market_id, None)
        return growth


class MarketsHash:
    """Sum of the hashes of markets' whole states: equal for equal markets in any order.

    Parameters
    ----------
    markets : mapping of str to Market
        By id; never changed.
    known : int, optional
        The sum at an earlier moment.
    since : mapping of str to Market or None
        What has changed since then, as it was: None for a market that did not exist; never changed either.
    digests : Digests, optional
        Of earlier moments.
    """

    def __init__(
        self,
        markets: Mapping[str, Market],
        known: int | None = None,
        since: Mapping[str, Market | None] | None = None,
        digests: Digests | None = None,
    ) -> None:
        self._markets = markets
        self._known = known
        self._since = since or {}
        self._digests = digests or Digests()

    @cached_property
    def value(self) -> int:
        """The sum, modulo `DIGESTS`."""
        if self._known is None:
            return sum(map(digest, self._markets.values())) % DIGESTS
        return (self._known + self._digests.shift(self._since, self._markets)) % DIGESTS

    def follow(self, markets: Mapping[str, Market], replaced: Mapping[str, Market | None]) -> MarketsHash:
        """Return the hash of the next state, in which `replaced` holds what was there before."""
        if self.known is not None:
            return MarketsHash(markets, self.known, replaced, self._digests)
        since = {**replaced, **self._since} if self._since else replaced
        return MarketsHash(markets, self._known, since, self._digests)

    @property
    def known(self) -> int | None:
        """The sum where it has been computed."""
        return self.__dict__.get("value")


def digest(market: Market, write: Callable[[Market], str] = write_canonical_text) -> int:
    """Hash a market's whole state, decimals included, as text that `write` gives."""
    text = write(market).encode()
    return int.from_bytes(blake2b(text, digest_size=DIGEST_BYTES).digest(), "big")

"""Folding what many sources give into one snapshot, without letting one spoil what another gave."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain

from adapters.base import BadPayload
from adapters.feed.state import LONGEST_REASON, MAX_REASONS, remove_gas_prices
from routing_engine import Snapshot
from routing_engine.formats import Contents, screen
from routing_engine.market import Market
from routing_engine.model import Token
from routing_engine.reference import token_registry
from routing_engine.token_fields import Transfers

MAX_GAS_PRICE = 10**15
"""A million gwei; no chain has ever asked so much."""
MAX_BLOCK = 2**63


@dataclass(frozen=True, slots=True)
class _Given:
    """What a source gave last, before anything was left out: to see what has changed since."""

    markets: Mapping[str, Market] = field(default_factory=dict)
    gas_chains: tuple[int, ...] = ()
    refused: Mapping[str, int] = field(default_factory=dict)


class Fold:
    """The markets of all sources, and whose each one is.

    A source can only replace and withdraw its own markets and gas prices. Where two sources disagree about how a token
    counts its units, the registry is right, then whoever was first.

    Parameters
    ----------
    accept : collection of Transfers
        Markets of tokens that do not move exact amounts are left out, but for these kinds.
    """

    def __init__(self, accept: Collection[Transfers] = ()) -> None:
        self.snapshot = Snapshot(())
        self.owners: Mapping[str, str] = {}
        self._accept = accept
        self._given: dict[str, _Given] = {}
        self._decimals: dict[Token, tuple[int, str]] = {}

    def take(self, source: str, contents: Contents, now: float) -> None:
        """Replace what a source gave before.

        Raises
        ------
        BadPayload
            If anything of it contradicts the registry, another source or itself; nothing of it is taken then.
        """
        before = self._given.get(source, _Given())
        markets = {market.id: market for market in contents.markets}
        if len(markets) < len(contents.markets):
            raise BadPayload(f"{source}: gives two markets with one id")
        changed = [market for name, market in markets.items() if before.markets.get(name) is not market]
        changed = [market for market in changed if before.markets.get(market.id) != market]
        self._check_owners(source, changed)
        tokens = self._check_tokens(source, changed)
        self._check_chains(source, contents)
        _check_reasons(source, contents.refused)

        usable = screen(Contents(markets=tuple(changed)), self._accept).markets
        gone = (before.markets.keys() - markets.keys()) | {market.id for market in changed}
        gone -= {market.id for market in usable}
        snapshot = self.snapshot.apply(
            usable,
            removed=gone,
            gas_prices=contents.gas_prices,
            blocks=contents.blocks,
            taken_at=datetime.fromtimestamp(now, UTC).isoformat(timespec="seconds"),
        )
        self.snapshot = remove_gas_prices(snapshot, set(before.gas_chains) - contents.gas_prices.keys())
        kept = {name: owner for name, owner in self.owners.items() if name not in gone} if gone else self.owners
        self.owners = {**kept, **dict.fromkeys((market.id for market in usable), source)}
        self._given[source] = _Given(markets, tuple(contents.gas_prices), contents.refused)
        self._decimals |= tokens
        self.snapshot.id  # noqa: B018 - hashed once here, every later snapshot costs only what differs

    def list_gas_chains(self, source: str) -> tuple[int, ...]:
        """Return the chains whose gas price a source gave."""
        return self._given.get(source, _Given()).gas_chains

    def get_refused(self, source: str) -> Mapping[str, int]:
        """Return how many pools a source left out, by reason."""
        return self._given.get(source, _Given()).refused

    def _check_owners(self, source: str, markets: Iterable[Market]) -> None:
        for market in markets:
            owner = self.owners.get(market.id, source)
            if owner != source:
                raise BadPayload(f"{source}: gives market {market.id}, which belongs to {owner}")

    def _check_tokens(self, source: str, markets: Iterable[Market]) -> dict[Token, tuple[int, str]]:
        """Return how the tokens count, and who said so."""
        found: dict[Token, tuple[int, str]] = {}
        for token in chain.from_iterable(market.tokens for market in markets):
            info = token_registry.info_of(token.chain_id, token.address)
            told = (info.on(token.chain_id).decimals, "the registry") if info else (token.decimals, source)
            known, by = found.setdefault(token, self._decimals.get(token, told))
            if token.decimals != known:
                raise BadPayload(f"{source}: gives {token.key} {token.decimals} decimals; {by} says {known}")
        return found

    def _check_chains(self, source: str, contents: Contents) -> None:
        for chain_id, price in contents.gas_prices.items():
            if isinstance(price, bool) or not isinstance(price, int) or not 0 <= price <= MAX_GAS_PRICE:
                raise BadPayload(f"{source}: gas price of chain {chain_id} must be from 0 to {MAX_GAS_PRICE} wei")
            owner = next((name for name, each in self._given.items() if chain_id in each.gas_chains), source)
            if owner != source:
                raise BadPayload(f"{source}: gives the gas price of chain {chain_id}, which comes from {owner}")
        for chain_id, block in contents.blocks.items():
            if isinstance(block, bool) or not isinstance(block, int) or not 0 <= block <= MAX_BLOCK:
                raise BadPayload(f"{source}: block of chain {chain_id} must be from 0 to {MAX_BLOCK}")


def _check_reasons(source: str, refused: Mapping[str, int]) -> None:
    """Refuse what a report could not pass on."""
    if len(refused) > MAX_REASONS:
        raise BadPayload(f"{source}: leaves pools out for {len(refused)} reasons; at most {MAX_REASONS} are expected")
    for reason, pools in refused.items():
        if len(reason) > LONGEST_REASON or not reason.isprintable() or not 0 <= pools <= MAX_BLOCK:
            raise BadPayload(f"{source}: leaves out {pools} pools for {reason[:LONGEST_REASON]!r}, which is no reason")

"""The rollups' own bridges with Ethereum, as far as no one has to be asked: free, and slow on the way down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import product

from adapters.base import FirmQuote, Source, Venues
from adapters.http.json_fields import Field
from routing_engine.formats import Contents
from routing_engine.markets import BridgeLane
from routing_engine.markets.bridges.fill_times import canonical_fill_time
from routing_engine.markets.lanes import canonical_lane
from routing_engine.model import Hop, Token
from routing_engine.reference import token_registry

INTERVAL_S, MAX_AGE_S = 3_600.0, float("inf")
L1 = 1
ETHER_ROLLUPS = (10, 8453, 42161)
CARRIED = {
    "ETH": {10: "ETH", 137: "WETH", 8453: "ETH", 42161: "ETH"},
    "USDC": {10: "USDC.e", 137: "USDC.e", 8453: "USDbC", 42161: "USDC.e"},
    "USDT": {10: "USDT", 137: "USDT", 42161: "USDT"},
    "DAI": {10: "DAI", 137: "DAI", 8453: "DAI", 42161: "DAI"},
    "WBTC": {10: "WBTC", 137: "WBTC", 42161: "WBTC"},
    "POL": {137: "POL"},
}
"""Tokens of Ethereum, and what each chain's bridge gives for them there."""
CLAIM_GAS = 300_000
"""Of the transactions on Ethereum that prove and claim a withdrawal."""
L1_GAS_GWEI = Decimal(5)


class CanonicalAdapter:
    """Deposits to every chain, and withdrawals from those whose gas is paid in ether.

    A withdrawal is claimed on Ethereum, for ether, which counts as the lane's fee in coin. Polygon's coin is another,
    so its withdrawals are left out rather than shown as free.

    Parameters
    ----------
    tokens : tuple of Token
        The tokens to look for.
    l1_gas_gwei : Decimal
        What a claim's gas is expected to cost, some day.
    """

    name = "canonical"
    protocols = ("canonical",)

    def __init__(self, tokens: tuple[Token, ...], l1_gas_gwei: Decimal = L1_GAS_GWEI) -> None:
        self._listed = {token.key for token in tokens}
        self._claim_fee = int(CLAIM_GAS * l1_gas_gwei * 10**9)

    @classmethod
    def connect(cls, venues: Venues) -> tuple[Source, ...]:
        """Return the bridges; the option ``l1_gas_gwei`` says what claims are expected to cost."""
        gas = Field(venues.options.get("l1_gas_gwei", str(L1_GAS_GWEI)), "option canonical.l1_gas_gwei")
        adapter = cls(venues.tokens, gas.decimal(0, 100_000))
        return (Source(adapter=adapter, interval_s=INTERVAL_S, max_age_s=MAX_AGE_S),)

    def fetch(self) -> None:
        """Read nothing: the contracts take no fee, and the times are their rules'."""

    def parse(self, payload: None) -> Contents:
        """Return all lanes."""
        return Contents(markets=tuple(self._lanes()))

    def firm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        """Confirm the hop as it is: nothing of it can change."""
        return FirmQuote(hop=hop)

    def _lanes(self) -> Iterator[BridgeLane]:
        for symbol, there in CARRIED.items():
            for above, (chain_id, name) in product((token_registry.token(symbol, L1),), there.items()):
                below = token_registry.token(name, chain_id)
                if above.key not in self._listed or below.key not in self._listed:
                    continue
                yield canonical_lane(above, below, fill_time_s=canonical_fill_time(L1, chain_id))
                if chain_id in ETHER_ROLLUPS:
                    down = canonical_lane(below, above, fill_time_s=canonical_fill_time(chain_id, L1))
                    yield replace(down, native_fee=self._claim_fee)

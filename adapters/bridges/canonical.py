"""The rollups' own bridges with Ethereum, as far as no one has to be asked: free, and slow on the way down."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from adapters.base import FirmQuote, Source, Venues
from adapters.bridges.base import Bridge
from adapters.http.json_fields import Field
from routing_engine.formats import Contents
from routing_engine.markets import BridgeLane
from routing_engine.markets.bridges import canonical_lane
from routing_engine.markets.bridges.fill_times import canonical_fill_time
from routing_engine.model import Hop, Token
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS, bridge_facts

INTERVAL_S, MAX_AGE_S = 3_600.0, float("inf")
CLAIM_GAS = 300_000
"""Of the transactions on Ethereum that prove and claim a withdrawal."""
L1_GAS_GWEI = Decimal(5)


class CanonicalAdapter:
    """Deposits to every chain, and withdrawals from those whose gas is paid in the coin of the chain above.

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
        adapter = cls(venues.tokens, gas.read_decimal(0, 100_000))
        return (Source(adapter=adapter, interval_s=INTERVAL_S, max_age_s=MAX_AGE_S),)

    def fetch(self) -> None:
        """Read nothing: the contracts take no fee, and the times are their rules'."""

    def parse(self, payload: None) -> Contents:
        """Return all lanes."""
        return Contents(markets=tuple(self._make_lanes()))

    def confirm(self, hop: Hop, *, sender: str, recipient: str) -> FirmQuote:
        """Confirm the hop as it is: nothing of it can change."""
        return FirmQuote(hop=hop)

    def _make_lanes(self) -> Iterator[BridgeLane]:
        for above, below in _list_carried():
            if above.key not in self._listed or below.key not in self._listed:
                continue
            ends = above.chain_id, below.chain_id
            yield canonical_lane(above, below, fill_time_s=canonical_fill_time(*ends))
            coins = [CHAINS[chain_id].native_currency.symbol for chain_id in ends]
            if coins[0] == coins[1]:
                down = canonical_lane(below, above, fill_time_s=canonical_fill_time(*reversed(ends)))
                yield replace(down, native_fee=self._claim_fee)


def _list_carried() -> Iterator[tuple[Token, Token]]:
    """Yield the tokens of a chain, and what the bridge of a chain below it gives for them there, token by token."""
    served = bridge_facts("canonical")
    for symbol in dict.fromkeys(symbol for facts in served.values() for symbol in facts["tokens"]):
        for chain_id, facts in served.items():
            if symbol in facts["tokens"]:
                below = token_registry.token(facts["tokens"][symbol], chain_id)
                yield token_registry.token(symbol, facts["parent"]), below


BRIDGE = Bridge(adapter=CanonicalAdapter)

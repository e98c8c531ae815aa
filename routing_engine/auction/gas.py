"""What a settlement costs, and who pays for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from routing_engine.auction.model import Auction
from routing_engine.auction.pools import Pools
from routing_engine.auction.settlement import PRICE_UNIT, value_gas
from routing_engine.model import Token
from routing_engine.reference.chains import CHAINS

SETTLEMENT_GAS = 7_365
"""Of a settlement, however many trades it has; ``gas.rs`` of cowprotocol/services has both numbers."""

TRADE_GAS = 44_000 + 2 * 27_513
"""Of each trade: the contract's work, and a transfer in and out. With the one above it is the driver's 106,391."""

SAMPLE = 10**17
"""Wei that a token without a reference price is asked to buy, so that gas has a price in it."""


@dataclass(frozen=True, slots=True)
class GasTerms:
    """By which an auction's solutions pay their gas and are compared.

    Parameters
    ----------
    gas_price : int
        Wei for a unit of gas.
    reference : mapping of Token to int
        Wei for 10**18 smallest units.
    shared_gas : int
        Gas of the settlement as a whole that the trades at hand pay for.
    """

    gas_price: int
    reference: Mapping[Token, int]
    shared_gas: int = SETTLEMENT_GAS

    def charge(self, token: Token, gas: int) -> int | None:
        """Return what gas costs in a token; None where the token has no price."""
        if self.gas_price == 0:
            return 0
        price = self.reference.get(token)
        return value_gas(gas, self.gas_price, price) if price else None


def find_terms(auction: Auction, pools: Pools, chain_id: int) -> GasTerms:
    """Return the terms of an auction; tokens without a reference price are valued by its liquidity."""
    reference = dict(auction.prices)
    missing = {token for order in auction.orders for token in (order.sell, order.buy)} - reference.keys()
    chain = CHAINS.get(chain_id)
    for token in sorted(missing, key=lambda token: token.address) if chain else ():
        wrapped = chain.wrapped_native_token  # type: ignore[union-attr]
        route = None if token == wrapped else pools.buy(token, wrapped, SAMPLE)
        if token == wrapped:
            reference[token] = PRICE_UNIT
        elif route and route.amount_in:
            reference[token] = SAMPLE * PRICE_UNIT // route.amount_in
    return GasTerms(auction.gas_price, {token: price for token, price in reference.items() if price})

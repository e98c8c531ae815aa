"""Currencies that an order can be priced in, and the token each is settled with unless the vendor says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from routing_engine.errors import UnknownToken
from routing_engine.model import Token
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

DOLLAR = "USD"
"""Priced in dollars, settled in a stablecoin of the vendor."""

DOLLAR_TOKENS = ("USDC", "USDT", "DAI")
"""Which stablecoin settles a dollar price: the first of these that the vendor has an account for."""

PEGGED = frozenset({*DOLLAR_TOKENS, "USDC.e"})
"""Tokens that are taken for a dollar each."""

EURO_HINT = "euros are priced in EURC"
"""No account settles euros of a bank; a price in the token needs no rate that somebody would have to vouch for."""
BITCOIN_HINT = "bitcoin is priced in WBTC or cbBTC"
"""On no chain here there is bitcoin itself."""
HINTS: Mapping[str, str] = MappingProxyType(
    {"EUR": EURO_HINT, "€": EURO_HINT, "BTC": BITCOIN_HINT, "XBT": BITCOIN_HINT, "₿": BITCOIN_HINT}
)
"""What is meant by currencies in which nothing can be priced, by their names in upper case."""


def find_default_token(symbol: str) -> Token:
    """Return the token that settles a currency by default: on the best chain by `Chain.settlement_rank` that has it.

    Parameters
    ----------
    symbol : str
        A listed symbol; upper and lower case do not matter.

    Raises
    ------
    UnknownToken
        If no listed token has this symbol.
    """
    info = token_registry.by_symbol(symbol)
    ranks = {chain_id: CHAINS[chain_id].settlement_rank for chain_id in info.chain_ids}
    return info.on(min(ranks, key=lambda chain_id: (ranks[chain_id] == 0, ranks[chain_id])))


def find_canonical(symbol: str) -> str | None:
    """Return a currency code as the registry spells it, or None where it is neither a listed token nor `DOLLAR`."""
    if symbol.upper() == DOLLAR:
        return DOLLAR
    try:
        return token_registry.by_symbol(symbol).symbol
    except UnknownToken:
        return None


def find_kind(symbol: str) -> str:
    """Return a name that tokens share which are taken for each other: dollars, and a coin with its wrapped form."""
    if symbol in PEGGED:
        return DOLLAR
    wrapped = {chain.wrapped_native_token.symbol: chain.native_token.symbol for chain in CHAINS.values()}
    return wrapped.get(symbol, symbol)


def list_settling_symbols(currency: str) -> Sequence[str]:
    """Return the symbols of the accounts that can settle a canonical currency, best first."""
    return DOLLAR_TOKENS if currency == DOLLAR else (currency,)


def list_known_symbols() -> tuple[str, ...]:
    """Return the symbols of all listed tokens."""
    return tuple(info.symbol for info in token_registry.tokens())

"""Well-known tokens with their addresses on the described chains.

The facts are read from ``data/tokens.json`` and from the descriptions of chains at the first question, and kept.
Addresses and decimals of the file are those of the public token lists of Uniswap, Across, Sushi and CoW.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from routing_engine.errors import UnknownToken
from routing_engine.model import NATIVE_ADDRESS, Token
from routing_engine.reference.chain import Chain, ChainToken
from routing_engine.reference.chains import CHAINS

_TOKENS_FILE = Path(__file__).parents[1] / "data" / "tokens.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenInfo:
    """One asset and the contracts that stand for it on each chain.

    Parameters
    ----------
    symbol : str
        Unique in the registry, regardless of case.
    name : str
        For people.
    decimals : int
        On all chains of `addresses` but those of `decimals_on`.
    logo_uri : str
        URL of a logo.
    tags : tuple of str
        Any of ``native``, ``wrapped_native``, ``stablecoin``, ``bridged``, ``liquid_staking``, ``yield_bearing``.
    addresses : mapping of int to str
        Chain id to lower-case address; `NATIVE_ADDRESS` where it is the chain's own coin.
    decimals_on : mapping of int to int
        Chain id to decimals, where they are others.
    """

    symbol: str
    name: str
    decimals: int
    logo_uri: str
    tags: tuple[str, ...]
    addresses: Mapping[int, str]
    decimals_on: Mapping[int, int] = field(default_factory=dict)

    @property
    def chain_ids(self) -> tuple[int, ...]:
        """The chains it exists on, in the order of their ids."""
        return tuple(sorted(self.addresses))

    def on(self, chain_id: int) -> Token:
        """Return the token on one chain.

        Raises
        ------
        UnknownToken
            If it is not known there.
        """
        address = self.addresses.get(chain_id)
        if address is None:
            known = ", ".join(map(str, self.chain_ids))
            raise UnknownToken("chain_id", f"{self.symbol} is not known on chain {chain_id}; use one of {known}")
        decimals = self.decimals_on.get(chain_id, self.decimals)
        return _share_token(chain_id, address, self.symbol, decimals)


@cache
def _share_token(chain_id: int, address: str, symbol: str, decimals: int) -> Token:
    """Return one token for all who ask: it is checked once, and compared by identity."""
    return Token(chain_id=chain_id, address=address, symbol=symbol, decimals=decimals)


@cache
def tokens() -> tuple[TokenInfo, ...]:
    """Return every listed token; the native coins and dollars come first, what only added chains have comes last."""
    listed = (_parse(row) for row in json.loads(_TOKENS_FILE.read_text(encoding="utf-8")))
    found = {info.symbol.casefold(): info for info in listed}
    for chain in CHAINS.values():
        known = {info.addresses.get(chain.chain_id) for info in found.values()}
        for each in (*_coins(chain), *chain.tokens):
            if each.address not in known:
                key = each.symbol.casefold()
                found[key] = _add(found.get(key), chain.chain_id, each)
    return tuple(found.values())


def by_symbol(symbol: str) -> TokenInfo:
    """Return the asset with this symbol; upper and lower case do not matter.

    Raises
    ------
    UnknownToken
        If no listed token has it.
    """
    info = _symbol_index().get(symbol.casefold())
    if info is None:
        raise UnknownToken("symbol", f"{symbol!r} is not a listed token; give its address instead")
    return info


def token(symbol: str, chain_id: int) -> Token:
    """Return the token with this symbol on this chain.

    Raises
    ------
    UnknownToken
        If the symbol is not listed, or not on this chain.
    """
    return by_symbol(symbol).on(chain_id)


def info_of(chain_id: int, address: str) -> TokenInfo | None:
    """Return the asset behind a contract, or None where it is not listed; the address may be in any case."""
    return _address_index().get((chain_id, address.lower()))


@cache
def _symbol_index() -> Mapping[str, TokenInfo]:
    return MappingProxyType({info.symbol.casefold(): info for info in tokens()})


@cache
def _address_index() -> Mapping[tuple[int, str], TokenInfo]:
    return MappingProxyType({item: info for info in tokens() for item in info.addresses.items()})


def _coins(chain: Chain) -> tuple[ChainToken, ChainToken]:
    """Return a chain's coin and what wraps it."""
    coin = chain.native_currency
    wrapped = ChainToken(
        symbol=chain.wrapped_native_symbol,
        address=chain.wrapped_native,
        decimals=coin.decimals,
        name=f"Wrapped {coin.name}",
        logo_uri=chain.logo_uri,
        tags=("wrapped_native",),
    )
    native = replace(wrapped, symbol=coin.symbol, address=NATIVE_ADDRESS, name=coin.name, tags=("native",))
    return native, wrapped


def _add(info: TokenInfo | None, chain_id: int, each: ChainToken) -> TokenInfo:
    """Return an asset with one more contract; a new asset where none has its symbol."""
    if info is None:
        here = MappingProxyType({chain_id: each.address})
        name = each.name or each.symbol
        return TokenInfo(
            symbol=each.symbol,
            name=name,
            decimals=each.decimals,
            logo_uri=each.logo_uri,
            tags=each.tags,
            addresses=here,
        )
    others = {} if each.decimals == info.decimals else {chain_id: each.decimals}
    return replace(
        info,
        addresses=MappingProxyType({**info.addresses, chain_id: each.address}),
        decimals_on=MappingProxyType({**info.decimals_on, **others}),
    )


def _parse(row: Mapping[str, Any]) -> TokenInfo:
    return TokenInfo(
        symbol=row["symbol"],
        name=row["name"],
        decimals=row["decimals"],
        logo_uri=row["logo_uri"],
        tags=tuple(row["tags"]),
        addresses=MappingProxyType({int(chain_id): address for chain_id, address in row["addresses"].items()}),
    )

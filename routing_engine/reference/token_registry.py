"""Well-known tokens with their addresses on the described chains.

The facts are read from ``data/tokens.json`` at the first question and kept. Addresses and decimals are those of the
public token lists of Uniswap, Across, Sushi and CoW; every listed token has the same decimals on all its chains.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from routing_engine.errors import UnknownToken
from routing_engine.model import Token

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
        The same on all chains of `addresses`.
    logo_uri : str
        URL of a logo.
    tags : tuple of str
        Any of ``native``, ``wrapped_native``, ``stablecoin``, ``bridged``, ``liquid_staking``, ``yield_bearing``.
    addresses : mapping of int to str
        Chain id to lower-case address; `NATIVE_ADDRESS` where it is the chain's own coin.
    """

    symbol: str
    name: str
    decimals: int
    logo_uri: str
    tags: tuple[str, ...]
    addresses: Mapping[int, str]

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
        return Token(chain_id=chain_id, address=address, symbol=self.symbol, decimals=self.decimals)


@cache
def tokens() -> tuple[TokenInfo, ...]:
    """Return every listed token; the native coins and dollars come first."""
    return tuple(_parse(row) for row in json.loads(_TOKENS_FILE.read_text(encoding="utf-8")))


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


def _parse(row: Mapping[str, Any]) -> TokenInfo:
    return TokenInfo(
        symbol=row["symbol"],
        name=row["name"],
        decimals=row["decimals"],
        logo_uri=row["logo_uri"],
        tags=tuple(row["tags"]),
        addresses=MappingProxyType({int(chain_id): address for chain_id, address in row["addresses"].items()}),
    )

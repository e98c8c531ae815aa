"""Tokens and chains as the interface shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from eth_utils.address import to_checksum_address

from routing_engine import Token
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS, Chain
from routing_engine.reference.token_registry import TokenInfo

STABLE = "stablecoin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """One currency on one or more chains.

    Parameters
    ----------
    key : str
        Unique: the symbol of a listed token, ``address@chain`` of any other.
    addresses : mapping of int to str
        Chain id to lower-case address.
    """

    key: str
    symbol: str
    name: str
    decimals: int
    logo_uri: str
    tags: tuple[str, ...]
    addresses: Mapping[int, str]

    @classmethod
    def of(cls, token: Token) -> Asset:
        """Return the asset that a token stands for; one that is not listed stands for itself, without a logo."""
        info = token_registry.info_of(token.chain_id, token.address)
        if info is not None:
            return next(asset for asset in cls.listed(info) if token.chain_id in asset.addresses)
        return cls(
            key=token.key,
            symbol=token.symbol,
            name=token.symbol,
            decimals=token.decimals,
            logo_uri="",
            tags=(),
            addresses={token.chain_id: token.address},
        )

    @classmethod
    def listed(cls, info: TokenInfo) -> Iterator[Asset]:
        """Yield the asset of a registry entry, and another for each chain on which it has other decimals."""
        others = info.decimals_on
        alike = {chain_id: address for chain_id, address in info.addresses.items() if chain_id not in others}
        asset = cls(
            key=info.symbol,
            symbol=info.symbol,
            name=info.name,
            decimals=info.decimals,
            logo_uri=info.logo_uri,
            tags=info.tags,
            addresses=alike,
        )
        yield asset
        for chain_id, decimals in others.items():
            here = {chain_id: info.addresses[chain_id]}
            yield replace(asset, key=info.on(chain_id).key, decimals=decimals, addresses=here)

    def json(self) -> dict[str, Any]:
        """Return the interface's token object."""
        return {
            "symbol": self.symbol,
            "decimals": self.decimals,
            "name": self.name,
            "logoURI": self.logo_uri,
            "chain_to_address": {str(chain): checksum(self.addresses[chain]) for chain in sorted(self.addresses)},
            "chains": [describe_chain(CHAINS[chain]) for chain in sorted(self.addresses) if chain in CHAINS],
            "tags": list(self.tags),
        }


def describe_chain(chain: Chain) -> dict[str, Any]:
    """Return a chain's descriptor."""
    coin = chain.native_currency
    return {
        "chainId": chain.chain_id,
        "name": chain.name,
        "logoURI": chain.logo_uri,
        "nativeCurrency": {"name": coin.name, "symbol": coin.symbol, "decimals": coin.decimals},
    }


@lru_cache(maxsize=65_536)
def checksum(address: str) -> str:
    """Write an address in the mixed case of EIP-55."""
    return str(to_checksum_address(address))


def is_stable(token: Token) -> bool:
    """Whether a token is a listed stablecoin."""
    info = token_registry.info_of(token.chain_id, token.address)
    return info is not None and STABLE in info.tags

"""The chains that the engine describes: name, logo, native coin, explorer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from routing_engine.model import NATIVE_ADDRESS, Token


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeCurrency:
    """The coin in which a chain's gas is paid."""

    name: str
    symbol: str
    decimals: int = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Describe one chain.

    Parameters
    ----------
    chain_id : int
        EIP-155 chain id.
    name : str
        For people.
    logo_uri : str
        URL of the chain's logo.
    native_currency : NativeCurrency
        Coin that pays for gas.
    wrapped_native : str
        Address of the ERC-20 that wraps the coin one to one, lower case.
    wrapped_native_symbol : str
        Its symbol.
    block_time_s : float
        Mean seconds between blocks.
    explorer_tx_url : str
        Template of a transaction's page, with ``{tx_hash}``.
    """

    chain_id: int
    name: str
    logo_uri: str
    native_currency: NativeCurrency
    wrapped_native: str
    wrapped_native_symbol: str
    block_time_s: float
    explorer_tx_url: str

    @property
    def native_token(self) -> Token:
        """The native coin as a node of the graph."""
        coin = self.native_currency
        return Token(chain_id=self.chain_id, address=NATIVE_ADDRESS, symbol=coin.symbol, decimals=coin.decimals)

    @property
    def wrapped_native_token(self) -> Token:
        """The wrapped native coin as a node of the graph."""
        return Token(
            chain_id=self.chain_id,
            address=self.wrapped_native,
            symbol=self.wrapped_native_symbol,
            decimals=self.native_currency.decimals,
        )

    def explorer_url(self, tx_hash: str) -> str:
        """URL of the transaction's page on the chain's block explorer."""
        return self.explorer_tx_url.format(tx_hash=tx_hash)


_ETHER = NativeCurrency(name="Ether", symbol="ETH")
_LOGO = "https://raw.githubusercontent.com/across-protocol/frontend/master/scripts/chain-configs/{}/assets/logo.svg"
_OP_STACK_WETH = "0x4200000000000000000000000000000000000006"

_CHAINS = (
    Chain(
        chain_id=1,
        name="Ethereum",
        logo_uri=_LOGO.format("mainnet"),
        native_currency=_ETHER,
        wrapped_native="0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
        wrapped_native_symbol="WETH",
        block_time_s=12.0,
        explorer_tx_url="https://etherscan.io/tx/{tx_hash}",
    ),
    Chain(
        chain_id=10,
        name="Optimism",
        logo_uri=_LOGO.format("optimism"),
        native_currency=_ETHER,
        wrapped_native=_OP_STACK_WETH,
        wrapped_native_symbol="WETH",
        block_time_s=2.0,
        explorer_tx_url="https://optimistic.etherscan.io/tx/{tx_hash}",
    ),
    Chain(
        chain_id=137,
        name="Polygon",
        logo_uri=_LOGO.format("polygon"),
        native_currency=NativeCurrency(name="Polygon Ecosystem Token", symbol="POL"),
        wrapped_native="0x0d500b1d8e8ef31e21c99d1db9a6444d3adf1270",
        wrapped_native_symbol="WPOL",
        block_time_s=2.0,
        explorer_tx_url="https://polygonscan.com/tx/{tx_hash}",
    ),
    Chain(
        chain_id=8453,
        name="Base",
        logo_uri=_LOGO.format("base"),
        native_currency=_ETHER,
        wrapped_native=_OP_STACK_WETH,
        wrapped_native_symbol="WETH",
        block_time_s=2.0,
        explorer_tx_url="https://basescan.org/tx/{tx_hash}",
    ),
    Chain(
        chain_id=42161,
        name="Arbitrum",
        logo_uri=_LOGO.format("arbitrum"),
        native_currency=_ETHER,
        wrapped_native="0x82af49447d8a07e3bd95bd0d56f35241523fbab1",
        wrapped_native_symbol="WETH",
        block_time_s=0.25,
        explorer_tx_url="https://arbiscan.io/tx/{tx_hash}",
    ),
)

CHAINS: Mapping[int, Chain] = MappingProxyType({chain.chain_id: chain for chain in _CHAINS})
"""Chains by id."""


def block_time_s(chain_id: int) -> int:
    """Return the whole seconds that a transaction waits for its block; 0 on a chain that is not described."""
    chain = CHAINS.get(chain_id)
    return math.ceil(chain.block_time_s) if chain else 0

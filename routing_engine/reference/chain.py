"""What is known of one chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from routing_engine.model import NATIVE_ADDRESS, Token


class GasModel(StrEnum):
    """How a chain charges for a transaction."""

    EIP1559 = "eip1559"
    """By its gas alone: a base fee and a tip."""
    OP_STACK = "op_stack"
    """And by its data on Ethereum, as the predeployed oracle of OP-stack chains says."""
    ARBITRUM = "arbitrum"
    """And by its data on Ethereum, as Arbitrum's precompile says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeCurrency:
    """The coin in which a chain's gas is paid."""

    name: str
    symbol: str
    decimals: int = 18


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainToken:
    """A contract on the chain that stands for a token.

    `name`, `logo_uri` and `tags` are empty where the registry lists the symbol: it has them.
    """

    symbol: str
    address: str
    decimals: int
    name: str = ""
    logo_uri: str = ""
    tags: tuple[str, ...] = ()


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
    final_after_s : int
        Seconds after which nothing changes any more, where the chain's nodes do not say.
    explorer_tx_url : str
        Template of a transaction's page, with ``{tx_hash}``.
    gas_model : GasModel
        How transactions are charged for.
    settlement_rank : int
        1 for the chain on which tokens are settled by default, 2 for the one where the first lacks them, and so on; 0
        for those that are not preferred.
    bridges : mapping of str to mapping of str to object
        What bridges need to know of the chain, by bridge: the number or name that they give it, times, tokens. One that
        is missing does not serve the chain.
    sandbox : mapping of str to object, or None
        What the sandbox invents on the chain; None keeps the chain out of it.
    tokens : tuple of ChainToken
        Contracts on the chain, beside those that the registry lists.
    deployments : mapping of str to tuple of mapping
        Contracts of protocols on the chain, beside those of ``adapters/data/deployments.json`` and in their form.
    public_rpc_urls : tuple of str
        Endpoints that anybody may use: what a wallet is offered that does not know the chain.
    """

    chain_id: int
    name: str
    logo_uri: str
    native_currency: NativeCurrency
    wrapped_native: str
    wrapped_native_symbol: str
    block_time_s: float
    final_after_s: int
    explorer_tx_url: str
    gas_model: GasModel
    settlement_rank: int = 0
    bridges: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False, repr=False)
    sandbox: Mapping[str, Any] | None = field(default=None, hash=False, repr=False)
    tokens: tuple[ChainToken, ...] = field(default=(), repr=False)
    deployments: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict, hash=False, repr=False)
    public_rpc_urls: tuple[str, ...] = field(default=(), repr=False)

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

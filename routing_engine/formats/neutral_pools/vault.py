"""Pools of type ``erc4626``."""

from __future__ import annotations

from routing_engine.formats.neutral_pools.fields import Pool, Refused, require_two
from routing_engine.formats.neutral_pools.numbers import read_number, read_object
from routing_engine.markets.common.record import read_text
from routing_engine.markets.vault import Vault
from routing_engine.model import Token


def build(pool: Pool, market_id: str, tokens: list[Token]) -> Vault:
    """Build a vault from the prices and limits in ``raw_state``; answers for a few amounts only do not suffice."""
    if "raw_state" not in pool:
        raise Refused("prices_unknown")
    state = read_object(pool, "raw_state")
    address = read_text(state, "pool_address").lower()
    pair = require_two(tokens)
    if address not in (token.address for token in pair):
        raise Refused("share_token_unknown")
    asset, share = pair if pair[1].address == address else pair[::-1]
    market = Vault(
        id=market_id,
        protocol="erc4626",
        asset=asset,
        share=share,
        asset_price=read_number(state, "asset_price"),
        share_price=read_number(state, "share_price"),
        max_deposit=read_number(state, "max_deposit"),
        max_redeem=read_number(state, "max_redeem"),
    )
    if not market.edges():
        raise Refused("closed")
    return market

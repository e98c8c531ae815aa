"""Pools of type ``cpmm_bancor``: Bancor v2.1."""

from __future__ import annotations

from routing_engine.formats.neutral_pools.fields import Pool, Refused, read_fee_pips, read_reserves, require_two
from routing_engine.markets.bancor import BancorPool
from routing_engine.model import Token

BNT = "0x1f573d6fb3f13d689ff844b4ce37794d79a7ff1c"


def build(pool: Pool, market_id: str, tokens: list[Token]) -> BancorPool:
    """Build a pool of BNT and one other token."""
    token0, token1 = require_two(tokens)
    if BNT not in (token0.address, token1.address):
        raise Refused("without_bnt")
    reserve0, reserve1 = read_reserves(pool, 2)
    return BancorPool(
        id=market_id,
        protocol="bancor_v2",
        token0=token0,
        token1=token1,
        reserve0=reserve0,
        reserve1=reserve1,
        fee_pips=read_fee_pips(pool),
    )

"""Pools of type ``cpmm``, and Kyber's ``uniswap``."""

from __future__ import annotations

from routing_engine.formats.neutral_pools.fields import (
    Pool,
    protocol_name,
    read_fee_pips,
    read_reserves,
    require_two,
)
from routing_engine.markets import ConstantProductPool
from routing_engine.model import Token


def build(pool: Pool, market_id: str, tokens: list[Token]) -> ConstantProductPool:
    """Build a Uniswap v2 pair or a fork of it."""
    token0, token1 = require_two(tokens)
    reserve0, reserve1 = read_reserves(pool, 2)
    return ConstantProductPool(
        id=market_id,
        protocol=protocol_name(pool, "cpmm"),
        token0=token0,
        token1=token1,
        reserve0=reserve0,
        reserve1=reserve1,
        fee_pips=read_fee_pips(pool),
    )


def build_kyber(pool: Pool, market_id: str, tokens: list[Token]) -> ConstantProductPool:
    """Build a pair from Kyber's record, which names the fee as its source does."""
    return build({**pool, "fee": pool.get("kyber_swapFee")}, market_id, tokens)

"""Pools of Ekubo: types ``ekubo`` (state of Tycho's or of Kyber's simulator) and ``ekubov3`` (Kyber's)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from routing_engine.amm.ekubo.swap_loop import Tick
from routing_engine.amm.ekubo.ticks import tick_at_sqrt_ratio
from routing_engine.errors import InvalidMarket
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.pool_fields import Pool, PoolRefused, name_protocol, require_two
from routing_engine.markets.common.pool_numbers import read_hex, read_object
from routing_engine.markets.common.record import read, read_int, to_int
from routing_engine.markets.ekubo.pool import EkuboPool
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS, Token

BASE, ORACLE = 1, 2
"""Kyber's numbers of extensions that leave amounts alone: none, and one that only records prices."""


def build(pool: Pool, market_id: str, tokens: list[Token]) -> EkuboPool:
    """Build a pool of type ``ekubo`` in either notation."""
    return build_kyber(pool, market_id, tokens) if "raw_state" not in pool else build_tycho(pool, market_id, tokens)


def build_tycho(pool: Pool, market_id: str, tokens: list[Token]) -> EkuboPool:
    """Build a pool from ``raw_state``: {extension: {imp: {key, sorted_ticks}, state, active_tick}}."""
    token0, token1 = require_two(tokens)
    state = read_object(pool, "raw_state")
    if "Base" not in state:
        raise PoolRefused(f"unsupported_extension:{next(iter(state), 'none')}")
    base = read_object(state, "Base")
    now, contents = read_object(base, "state"), read_object(base, "imp")
    config = read_object(read_object(contents, "key"), "config")
    if read_hex(read(config, "extension"), "extension"):
        raise PoolRefused("unsupported_extension:unknown")
    return _check(
        EkuboPool(
            id=market_id,
            protocol=name_protocol(pool, "ekubo"),
            token0=token0,
            token1=token1,
            fee_x64=read_int(config, "fee"),
            tick_spacing=read_int(config, "tick_spacing"),
            sqrt_ratio=read_hex(read(now, "sqrt_ratio"), "sqrt_ratio"),
            tick=read_int(base, "active_tick"),
            liquidity=read_int(now, "liquidity"),
            ticks=_ticks(contents, "sorted_ticks", "index", "liquidity_delta"),
        )
    )


def build_kyber(pool: Pool, market_id: str, tokens: list[Token]) -> EkuboPool:
    """Build a pool from ``extra`` and ``static_extra``; the native coin is zero in the key, and written as wrapped."""
    state, fixed = read_object(pool, "extra"), read_object(pool, "static_extra")
    extension = read_int(fixed, "extensionType")
    if extension not in (BASE, ORACLE):
        raise PoolRefused(f"unsupported_extension:{extension}")
    key = read_object(fixed, "poolKey")
    config = read_object(key, "config")
    token0, token1 = require_two(tokens)
    if read(key, "token0") == ZERO_ADDRESS:
        token0 = replace(token0, address=NATIVE_ADDRESS, symbol=token0.symbol.removeprefix("W"))
    sqrt_ratio, spacing = read_int(state, "sqrtRatio"), read_int(config, "tickSpacing")
    return _check(
        EkuboPool(
            id=market_id,
            protocol="ekubo_v3" if pool.get("type") == "ekubov3" else "ekubo_v2",
            token0=token0,
            token1=token1,
            fee_x64=read_int(config, "fee"),
            tick_spacing=spacing,
            sqrt_ratio=sqrt_ratio,
            tick=read_int(state, "activeTick") if spacing else tick_at_sqrt_ratio(sqrt_ratio),
            liquidity=read_int(state, "liquidity"),
            ticks=_ticks(state, "sortedTicks", "number", "liquidityDelta") if spacing else (),
        )
    )


def _ticks(record: Mapping[str, Any], field: str, index: str, net: str) -> tuple[Tick, ...]:
    """Read ticks as objects; those without liquidity mark the range that was looked at, and are left out."""
    rows = read(record, field)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InvalidMarket(field, f"expected a list of objects with {index!r} and {net!r}")
    ticks = (
        (to_int(row.get(index), f"{field}.{n}.{index}"), to_int(row.get(net), f"{field}.{n}.{net}"))
        for n, row in enumerate(rows)
    )
    return tuple(tick for tick in ticks if tick[1])


def _check(market: EkuboPool) -> EkuboPool:
    try:
        market.validate()
    except InvalidMarket as error:
        raise PoolRefused(f"inconsistent_state:{error.field}") from error
    if not market.edges():
        raise PoolRefused("empty")
    return market


KIND = MarketKind(market=EkuboPool, pool_readers={"ekubo": build, "ekubov3": build_kyber})

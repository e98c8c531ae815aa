"""Pools of the Solidly family: type ``solidly``, and Kyber's ``solidly-v2`` and ``velodrome-v2``."""

from __future__ import annotations

from routing_engine.errors import InvalidMarket
from routing_engine.fixed_point import PIPS
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.pool_fields import (
    Pool,
    PoolRefused,
    name_protocol,
    read_fee_pips,
    read_reserves,
    require_two,
    squeeze,
)
from routing_engine.markets.common.pool_numbers import read_number, read_object
from routing_engine.markets.common.record import read
from routing_engine.markets.solidly.direction import Fork
from routing_engine.markets.solidly.pool import SolidlyPool
from routing_engine.model import Token

FORKS = {
    "solidly": Fork.SOLIDLY,
    "velodromev1": Fork.SOLIDLY,
    "velodromev2": Fork.VELODROME_V2,
    "aerodrome": Fork.VELODROME_V2,
}
"""Contracts by the start of a protocol's squeezed name."""


def build(pool: Pool, market_id: str, tokens: list[Token]) -> SolidlyPool:
    """Build a pool whose curve and fee are known."""
    name = squeeze(str(read(pool, "protocol")))
    fork = next((fork for start, fork in FORKS.items() if name.startswith(start)), None)
    if fork is None:
        raise PoolRefused(f"unsupported_protocol:{pool['protocol']}")
    stable = pool.get("stable")
    if stable is None:
        raise PoolRefused("stable_flag_unknown")
    if not isinstance(stable, bool):
        raise InvalidMarket("stable", f"expected true or false, not {stable!r}")
    return _pool(pool, market_id, tokens, fork=fork, stable=stable, fee_pips=read_fee_pips(pool))


def build_kyber(pool: Pool, market_id: str, tokens: list[Token]) -> SolidlyPool:
    """Build a pool whose state is in Kyber's ``extra`` and ``static_extra``."""
    state, constants = read_object(pool, "extra"), read_object(pool, "static_extra")
    if state.get("isPaused"):
        raise PoolRefused("paused")
    scales = [read_number(constants, "decimal0"), read_number(constants, "decimal1")]
    if scales != [10**token.decimals for token in tokens]:
        raise PoolRefused("inconsistent_state:decimals")
    fee, remainder = divmod(read_number(state, "fee") * PIPS, max(1, read_number(constants, "feePrecision")))
    if remainder:
        raise PoolRefused("fee_out_of_range")
    return _pool(pool, market_id, tokens, fork=Fork.VELODROME_V2, stable=bool(read(constants, "stable")), fee_pips=fee)


def _pool(pool: Pool, market_id: str, tokens: list[Token], *, fork: Fork, stable: bool, fee_pips: int) -> SolidlyPool:
    token0, token1 = require_two(tokens)
    reserve0, reserve1 = read_reserves(pool, 2)
    return SolidlyPool(
        id=market_id,
        protocol=name_protocol(pool, "solidly"),
        token0=token0,
        token1=token1,
        reserve0=reserve0,
        reserve1=reserve1,
        stable=stable,
        fork=fork,
        fee0_pips=fee_pips,
        fee1_pips=fee_pips,
    )


KIND = MarketKind(
    market=SolidlyPool,
    pool_readers={"solidly": build, "solidly-v2": build_kyber, "velodrome-v2": build_kyber},
)

"""Pools of Fluid DEX v1: types ``fluid_dex`` (as the reserves resolver says) and ``fluid-dex-t1`` (Kyber's)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from routing_engine.errors import InvalidMarket
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.pool_fields import Pool, PoolRefused, read_fee_pips, require_two
from routing_engine.markets.common.pool_numbers import read_number, read_object
from routing_engine.markets.fluid.pool import FluidPool, Pair, Quad
from routing_engine.model import Token


def build(pool: Pool, market_id: str, tokens: list[Token]) -> FluidPool:
    """Build a pool of type ``fluid_dex``."""
    state = read_object(pool, "raw_state")
    limits = read_object(state, "dex_limits")
    # The contract knows the native coin by an address of its own, the file by the zero address: orders can differ.
    tokens = sorted(require_two(tokens), key=lambda token: token.address)
    return _open(
        market_id,
        tokens,
        fee_pips=read_fee_pips(pool),
        center_price=read_number(state, "center_price"),
        collateral=_reserves(read_object(state, "collateral_reserves"), "token{}_real_reserves"),
        debt=_reserves(read_object(state, "debt_reserves"), "token{}_real_reserves"),
        withdrawable=_read_available(limits, "withdrawable_token{}"),
        borrowable=_read_available(limits, "borrowable_token{}"),
    )


def build_kyber(pool: Pool, market_id: str, tokens: list[Token]) -> FluidPool:
    """Build a pool of type ``fluid-dex-t1``; one with a native side is refused, as the file writes it as wrapped."""
    state = read_object(pool, "extra")
    limits = read_object(state, "DexLimits")
    if state.get("IsSwapAndArbitragePaused"):
        raise PoolRefused("paused")
    if read_object(pool, "static_extra").get("hasNative") is not False:
        raise PoolRefused("native_side_unknown")
    return _open(
        market_id,
        require_two(tokens),
        fee_pips=_read_percent(pool, "kyber_swapFee"),
        center_price=read_number(state, "CenterPrice"),
        collateral=_reserves(read_object(state, "CollateralReserves"), "token{}RealReserves"),
        debt=_reserves(read_object(state, "DebtReserves"), "token{}RealReserves"),
        withdrawable=_read_available(limits, "withdrawableToken{}"),
        borrowable=_read_available(limits, "borrowableToken{}"),
    )


def _open(market_id: str, tokens: Sequence[Token], **state: Any) -> FluidPool:
    market = FluidPool(id=market_id, protocol="fluid_v1", token0=tokens[0], token1=tokens[1], **state)
    if not market.edges():
        raise PoolRefused("nothing_withdrawable")
    return market


def _reserves(record: Mapping[str, Any], real: str) -> Quad:
    imaginary = real.replace("real", "imaginary").replace("Real", "Imaginary")
    return (
        read_number(record, real.format(0)),
        read_number(record, real.format(1)),
        read_number(record, imaginary.format(0)),
        read_number(record, imaginary.format(1)),
    )


def _read_available(limits: Mapping[str, Any], name: str) -> Pair:
    """Read what can be taken out in the recorded block; that it grows with time is left out."""
    first, second = (read_number(read_object(limits, name.format(side)), "available") for side in (0, 1))
    return first, second


def _read_percent(pool: Pool, field: str) -> int:
    if pool.get(field) is None:
        raise PoolRefused("fee_unknown")
    try:
        fraction = Decimal(str(pool[field])) / 100
    except InvalidOperation:
        raise InvalidMarket(field, f"expected a percentage, not {pool[field]!r}") from None
    return read_fee_pips({"fee": str(fraction)})


KIND = MarketKind(market=FluidPool, pool_readers={"fluid_dex": build, "fluid-dex-t1": build_kyber})

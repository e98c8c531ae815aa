"""Curve's crypto pools: type ``curve_crypto``, and Kyber's ``curve-tricrypto-ng`` and ``curve-twocrypto-ng``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routing_engine.amm.cryptoswap.curves import A_SCALE
from routing_engine.amm.cryptoswap.exchange import Method, Profit
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.pool_fields import Pool, PoolRefused, read_reserves, refuse_many_decimals
from routing_engine.markets.common.pool_numbers import read_number, read_object
from routing_engine.markets.common.record import read_int
from routing_engine.markets.cryptoswap.pool import CryptoSwapPool
from routing_engine.markets.stableswap.readers import PROTOCOL, read_kyber_state, read_numbers, with_native
from routing_engine.model import Token

State = Mapping[str, Any]

PROFIT = ("priceOracle", "xcpProfit", "virtualPrice", "lpSupply", "allowedExtraProfit", "adjustmentStep")


def build_kyber(pool: Pool, market_id: str, tokens: list[Token]) -> CryptoSwapPool:
    """Build an NG pool; with a mathematics contract of its own it has StableSwap's."""
    state, constants = read_kyber_state(pool)
    end, now = read_int({"futureAGammaTime": 0, **state}, "futureAGammaTime"), pool.get("timestamp")
    if end and not isinstance(now, int):
        raise PoolRefused("time_unknown")
    if isinstance(now, int) and end > now:
        raise PoolRefused("parameters_changing")
    stable = bool(state.get("useCustomMath"))
    method = Method.STABLE if stable else Method.CLOSED_FORM
    state = {**state, "ann": state.get("futureA"), "gamma": state.get("futureGamma")}
    known = not stable and all(state.get(field) is not None for field in PROFIT)
    profit = _profit(state, len(tokens) - 1) if known else None
    coins = with_native(pool, tokens, constants.get("isNativeCoins"))
    return _pool(pool, market_id, coins, state, method, profit)


def build_read(pool: Pool, market_id: str, tokens: list[Token]) -> CryptoSwapPool:
    """Build a pool from before NG, whose parameters stand in ``params`` under the names of the contract's getters."""
    params = read_object(pool, "params")
    renamed = {
        "ann": read_number(params, "a_coefficient") * A_SCALE,
        "gamma": params.get("gamma"),
        "d": params.get("d"),
        "priceScale": params.get("price_scale"),
        "midFee": params.get("mid_fee"),
        "outFee": params.get("out_fee"),
        "feeGamma": params.get("fee_gamma"),
    }
    return _pool(pool, market_id, tokens, renamed, Method.NEWTON, None)


def _profit(state: State, count: int) -> Profit:
    numbers = (read_number(state, field) for field in PROFIT[1:])
    return Profit(tuple(read_numbers(state, "priceOracle", count)), *numbers)


def _pool(
    pool: Pool, market_id: str, tokens: list[Token], state: State, method: Method, profit: Profit | None
) -> CryptoSwapPool:
    if any(state.get(field) is None for field in ("ann", "gamma", "d", "priceScale", "midFee", "outFee", "feeGamma")):
        raise PoolRefused("parameters_unknown")
    if not 2 <= len(tokens) <= 3:
        raise PoolRefused("not_two_or_three_tokens")
    refuse_many_decimals(tokens)
    return CryptoSwapPool(
        id=market_id,
        protocol=PROTOCOL,
        tokens=tuple(tokens),
        balances=tuple(read_reserves(pool, len(tokens))),
        price_scale=tuple(read_numbers(state, "priceScale", len(tokens) - 1)),
        d=read_number(state, "d"),
        ann=read_number(state, "ann"),
        gamma=read_number(state, "gamma"),
        mid_fee=read_number(state, "midFee"),
        out_fee=read_number(state, "outFee"),
        fee_gamma=read_number(state, "feeGamma"),
        method=method,
        profit=profit,
    )


KIND = MarketKind(
    market=CryptoSwapPool,
    pool_readers={
        "curve_crypto": build_read,
        "curve-tricrypto-ng": build_kyber,
        "curve-twocrypto-ng": build_kyber,
    },
)

"""Markets from an auction's liquidity, each kind as the driver describes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from routing_engine.amm.balancer.stable import AMP_PRECISION, Invariant
from routing_engine.auction.numbers import (
    parse_address,
    read_decimal,
    read_id,
    read_member,
    read_owner,
    read_positive,
    read_scaled,
    read_signed,
    read_units,
    read_word,
)
from routing_engine.errors import InvalidAuction
from routing_engine.fixed_point import PIPS, WAD
from routing_engine.market import Market
from routing_engine.markets import BalancerStablePool, ConstantProductPool, LadderMarket, Level, WeightedPool
from routing_engine.markets.concentrated.readers import build as build_concentrated
from routing_engine.model import Token

MOST_GAS = 100_000_000
FindToken = Callable[[str], Token]
"""Gives the token of an address."""

Record = Mapping[str, Any]
MOST_DECIMALS = 18
MOST_TICKS = 20_000


def read_liquidity(record: Record, find_token: FindToken) -> Market:
    """Build the market of one piece of liquidity.

    Raises
    ------
    InvalidAuction, InvalidMarket, PoolRefused
        If a field is missing or impossible, or the kind is not known.
    """
    kind = read_word(record, "kind", tuple(_KINDS))
    read_owner(record, "address")
    gas = read_units(record, "gasEstimate")
    if gas > MOST_GAS:
        raise InvalidAuction("gasEstimate", f"must be at most {MOST_GAS}, not {gas}")
    return _KINDS[kind](record, find_token, read_id(record, "id"), gas)


def _constant_product(record: Record, find_token: FindToken, market_id: str, gas: int) -> Market:
    (first, one), (second, other) = _read_reserves(record, 2)
    return ConstantProductPool(
        id=market_id,
        protocol="constant_product",
        token0=find_token(first),
        token1=find_token(second),
        reserve0=read_positive(one, "balance"),
        reserve1=read_positive(other, "balance"),
        fee_pips=read_scaled(record, "fee", PIPS),
        gas=gas,
    )


def _weighted(record: Record, find_token: FindToken, market_id: str, gas: int) -> Market:
    rows = _read_reserves(record, None)
    return WeightedPool(
        id=market_id,
        protocol="weighted_product",
        tokens=tuple(_check_scale(find_token(address), row) for address, row in rows),
        balances=tuple(read_positive(row, "balance") for _, row in rows),
        weights=tuple(read_scaled(row, "weight", WAD) for _, row in rows),
        fee_e18=read_scaled(record, "fee", WAD),
        multiplies_powers=str(record.get("version", "v0")).lower() == "v3plus",
        gas=gas,
    )


def _check_scale(token: Token, row: Record) -> Token:
    """Return the token, if the pool's scaling factor is that of its decimals: the contract computes by these."""
    factor = read_decimal(row, "scalingFactor")
    if token.decimals > MOST_DECIMALS or factor != 10 ** (MOST_DECIMALS - token.decimals):
        raise InvalidAuction("scalingFactor", f"is {factor}, which is not that of a token of {token.decimals} decimals")
    return token


def _stable(record: Record, find_token: FindToken, market_id: str, gas: int) -> Market:
    rows = _read_reserves(record, None)
    return BalancerStablePool(
        id=market_id,
        protocol="stable",
        tokens=tuple(find_token(address) for address, _ in rows),
        balances=tuple(read_positive(row, "balance") for _, row in rows),
        scales=tuple(read_scaled(row, "scalingFactor", WAD) for _, row in rows),
        amp=read_scaled(record, "amplificationParameter", AMP_PRECISION),
        fee_e18=read_scaled(record, "fee", WAD),
        invariant=Invariant.UP,  # the auction does not tell the version; this one asks for more
        gas=gas,
    )


def _concentrated(record: Record, find_token: FindToken, market_id: str, gas: int) -> Market:
    tokens, nets = read_member(record, "tokens"), read_member(record, "liquidityNet")
    if not isinstance(tokens, list) or len(tokens) != 2:
        raise InvalidAuction("tokens", "must be a list of two addresses")
    if not isinstance(nets, Mapping) or len(nets) > MOST_TICKS:
        raise InvalidAuction("liquidityNet", f"must be an object of at most {MOST_TICKS} ticks")
    ticks = sorted((read_signed({"tick": key}, "tick", 24), read_signed(nets, key, 128)) for key in nets)
    pool = {
        "protocol": "uniswap_v3", "fee": str(read_decimal(record, "fee")), "ticks": [list(row) for row in ticks],
        "ticks_partial": True, "sqrt_price_x96": read_units(record, "sqrtPrice"),
        "liquidity": read_units(record, "liquidity"), "tick": read_signed(record, "tick", 24),
    }  # fmt: skip
    ends = sorted(parse_address(address, "tokens") for address in tokens)
    market = build_concentrated(pool, market_id, [find_token(address) for address in ends])
    return replace(market, gas=gas, gas_per_step=0)


def _limit_order(record: Record, find_token: FindToken, market_id: str, gas: int) -> Market:
    if read_units(record, "takerTokenFeeAmount"):
        raise InvalidAuction("takerTokenFeeAmount", "is charged, and the order does not say how for a partial fill")
    taker, maker = read_positive(record, "takerAmount"), read_positive(record, "makerAmount")
    return LadderMarket(
        id=market_id,
        protocol="limit_order",
        token_in=find_token(read_owner(record, "takerToken")),
        token_out=find_token(read_owner(record, "makerToken")),
        levels=(Level(taker, taker, maker),),
        gas=gas,
        gas_per_level=0,
    )


_Build = Callable[[Record, FindToken, str, int], Market]
_KINDS: Mapping[str, _Build] = {
    "constantProduct": _constant_product,
    "weightedProduct": _weighted,
    "stable": _stable,
    "concentratedLiquidity": _concentrated,
    "limitOrder": _limit_order,
}


def _read_reserves(record: Record, count: int | None) -> list[tuple[str, Record]]:
    """Return what is said of each token, in the order of addresses, which is that of the contracts."""
    tokens = read_member(record, "tokens")
    if not isinstance(tokens, Mapping) or (count is not None and len(tokens) != count):
        raise InvalidAuction("tokens", f"must be an object of {count or 'several'} tokens")
    rows = sorted((parse_address(address, "tokens"), address) for address in tokens)
    return [(address, tokens[key]) for address, key in rows]

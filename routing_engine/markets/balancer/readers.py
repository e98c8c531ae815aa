"""Pools of Balancer: types ``weighted``, ``stable`` and ``composable_stable``, and Kyber's of versions 1 and 2."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from routing_engine.amm.balancer.stable import AMP_PRECISION, Invariant
from routing_engine.errors import InvalidMarket
from routing_engine.fixed_point import WAD
from routing_engine.markets.balancer.stable import BalancerStablePool
from routing_engine.markets.balancer.v1 import BalancerV1Pool
from routing_engine.markets.balancer.weighted import WeightedPool
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.pool_fields import (
    Pool,
    PoolRefused,
    name_protocol,
    read_fee,
    read_reserves,
    refuse_many_decimals,
)
from routing_engine.markets.common.pool_numbers import read_number, read_object
from routing_engine.markets.common.record import read, read_text
from routing_engine.model import Token

MOVING_WEIGHTS = ("LiquidityBootstrapping", "Investment", "Managed")
"""Kinds of pools whose weights may follow a schedule, which the sources do not record."""

INVARIANTS = {
    ("Stable", 1): Invariant.UP,
    ("Stable", 2): Invariant.DOWN,
    ("MetaStable", 1): Invariant.UP,
    ("StablePhantom", 1): Invariant.UP,
}
"""Which version of the library a kind of pool has; every composable one rounds down."""


def build_weighted(pool: Pool, market_id: str, tokens: list[Token]) -> WeightedPool:
    """Build a weighted pool.

    The sources do not tell which library of powers a pool has. The first one never pays more than the later ones, so
    it is assumed: for a later pool whose weights stand as 1, 2 or 4 to one the quote may be 1e-14 of the balance low.
    """
    if pool.get("source_pool_type") in MOVING_WEIGHTS:
        raise PoolRefused(f"weights_may_move:{pool['source_pool_type']}")
    refuse_many_decimals(tokens)
    reserves = read_reserves(pool, len(tokens))
    weights = [to_wad(row.get("weight"), f"tokens.{number}.weight") for number, row in enumerate(pool["tokens"])]
    if sum(weights) != WAD:
        raise PoolRefused("weights_do_not_add_up")
    return WeightedPool(
        id=market_id,
        protocol=name_protocol(pool, "balancer_v2"),
        tokens=tuple(tokens),
        balances=tuple(reserves),
        weights=tuple(weights),
        fee_e18=read_fee(pool, WAD),
        multiplies_powers=False,
    )


def build_kyber_weighted(pool: Pool, market_id: str, tokens: list[Token]) -> WeightedPool:
    """Build a weighted pool from Kyber's record, which knows the pool's version."""
    extra, static = _open_objects(pool)
    if static.get("poolType") != "Weighted":
        raise PoolRefused(f"weights_may_move:{static.get('poolType')}")
    refuse_many_decimals(tokens)
    return WeightedPool(
        id=market_id,
        protocol="balancer_v2",
        tokens=tuple(tokens),
        balances=tuple(read_reserves(pool, len(tokens))),
        weights=tuple(_numbers(static, "normalizedWeights", len(tokens))),
        fee_e18=read_number(extra, "swapFeePercentage"),
        multiplies_powers=_version(static) > 1,
    )


def build_kyber_v1(pool: Pool, market_id: str, tokens: list[Token]) -> BalancerV1Pool:
    """Build a pool of Balancer v1 from Kyber's record of its bound tokens."""
    extra = read_object(pool, "extra")
    if extra.get("publicSwap") is not True:
        raise PoolRefused("paused")
    bound = read_object(extra, "records")
    rows = [read_object(bound, token.address) for token in tokens]
    if not all(row.get("bound") is True for row in rows) or len(bound) != len(rows):
        raise PoolRefused("tokens_not_bound")
    balances = tuple(read_number(row, "balance") for row in rows)
    if min(balances) <= 0:
        raise PoolRefused("empty")
    return BalancerV1Pool(
        id=market_id,
        protocol="balancer_v1",
        tokens=tuple(tokens),
        balances=balances,
        weights=tuple(read_number(row, "denorm") for row in rows),
        fee_e18=read_number(extra, "swapFee"),
    )


def build_stable(pool: Pool, market_id: str, tokens: list[Token]) -> BalancerStablePool:
    """Build a stable pool, without its own token.

    The sources do not tell which library a pool has. The first one, which rounds the invariant up, is assumed: an
    output of a later pool may differ by some hundred units of 1e-18.
    """
    reserves, scales = read_reserves(pool, len(tokens)), _scales(pool, tokens)
    return _stable(pool, market_id, tokens, (reserves, scales), _amp(pool), read_fee(pool, WAD), Invariant.UP)


def build_kyber_stable(pool: Pool, market_id: str, tokens: list[Token]) -> BalancerStablePool:
    """Build a stable pool from Kyber's record, which knows the pool's version and the rates in force."""
    extra, static = _open_objects(pool)
    kind, version = read_text(static, "poolType"), _version(static)
    scales = _numbers(extra, "scalingFactors", len(tokens))
    if (kind, version) == ("Stable", 1):
        scales = [scale * WAD for scale in scales]
    rounding = Invariant.DOWN if kind == "ComposableStable" else INVARIANTS.get((kind, version))
    if rounding is None:
        raise PoolRefused(f"unsupported_version:{kind}_{version}")
    reserves, fee = read_reserves(pool, len(tokens)), read_number(extra, "swapFeePercentage")
    return _stable(pool, market_id, tokens, (reserves, scales), read_number(extra, "amp"), fee, rounding)


def _stable(
    pool: Pool,
    market_id: str,
    tokens: list[Token],
    amounts: tuple[list[int], list[int]],
    amp: int,
    fee_e18: int,
    rounding: Invariant,
) -> BalancerStablePool:
    own = str(pool.get("address", "")).lower()
    kept = [row for row in zip(tokens, *amounts, strict=True) if row[0].address != own]
    if len(kept) < 2:
        raise PoolRefused("tokens_not_distinct")
    return BalancerStablePool(
        id=market_id,
        protocol="balancer_v2",
        tokens=tuple(token for token, _, _ in kept),
        balances=tuple(reserve for _, reserve, _ in kept),
        scales=tuple(scale for _, _, scale in kept),
        amp=amp,
        fee_e18=fee_e18,
        invariant=rounding,
    )


def _amp(pool: Pool) -> int:
    """Return the amplification times its precision; the source says whether it multiplied already."""
    try:
        amp = Decimal(str(read(pool, "amp")))
    except InvalidOperation:
        raise InvalidMarket("amp", f"expected a number, not {pool['amp']!r}") from None
    amp = amp if "raw" in str(pool.get("amp_note", "")) else amp * AMP_PRECISION
    if not amp.is_finite() or amp != int(amp):
        raise PoolRefused("amplification_not_whole")
    return int(amp)


def _scales(pool: Pool, tokens: list[Token]) -> list[int]:
    """Return the scaling factors from whichever of three forms the source has."""
    units = [10 ** (18 - token.decimals) if token.decimals <= 18 else 0 for token in tokens]
    if min(units) == 0:
        raise PoolRefused("decimals_out_of_range")
    if pool.get("scaling_factors") is not None:
        if max(units) > 1:
            raise PoolRefused("scaling_unclear")
        return _numbers(pool, "scaling_factors", len(tokens))
    if pool.get("scaling_rates") is not None:
        rates = _numbers(pool, "scaling_rates", len(tokens))
        return [_inverse_rate(rate, unit) for rate, unit in zip(rates, units, strict=True)]
    rates = [
        to_wad(row.get("price_rate") or 1, f"tokens.{number}.price_rate") for number, row in enumerate(pool["tokens"])
    ]
    return [rate * unit for rate, unit in zip(rates, units, strict=True)]


def _inverse_rate(inverse: int, unit: int) -> int:
    """Return the scaling factor of which the source keeps the inverse, where the digits left determine it."""
    if inverse * unit == WAD:
        return WAD * unit
    if inverse <= 0:
        raise InvalidMarket("scaling_rates", "must be positive")
    low, high = WAD * WAD // (inverse + 1) + 1, WAD * WAD // inverse
    if low != high:
        raise PoolRefused("rate_not_exact")
    return high


def to_wad(value: object, field: str) -> int:
    """Return a decimal string with 18 decimals; `PoolRefused` where it has more."""
    try:
        number = Decimal(str(value)) * WAD
    except InvalidOperation:
        raise InvalidMarket(field, f"expected a decimal number, not {value!r}") from None
    if not number.is_finite() or number != int(number):
        raise PoolRefused("more_than_18_decimals")
    return int(number)


def _open_objects(pool: Pool) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return Kyber's two objects of state, what changes and what does not, of a pool that is not paused."""
    extra, static = read_object(pool, "extra"), read_object(pool, "static_extra")
    if extra.get("paused"):
        raise PoolRefused("paused")
    return extra, static


def _version(static: Mapping[str, Any]) -> int:
    """Return the version of a kind of pool, under either of Kyber's names."""
    return read_number(static, "poolTypeVer" if "poolTypeVer" in static else "poolTypeVersion")


def _numbers(record: Mapping[str, Any], field: str, count: int) -> list[int]:
    values = read(record, field)
    if not isinstance(values, list) or len(values) != count:
        raise InvalidMarket(field, f"expected a list of {count} integers")
    return [read_number({f"{field}.{place}": value}, f"{field}.{place}") for place, value in enumerate(values)]


WEIGHTED = MarketKind(
    market=WeightedPool,
    pool_readers={"weighted": build_weighted, "balancer-v2-weighted": build_kyber_weighted},
)
V1 = MarketKind(market=BalancerV1Pool, pool_readers={"balancer-v1": build_kyber_v1})
STABLE = MarketKind(
    market=BalancerStablePool,
    pool_readers={
        "stable": build_stable,
        "composable_stable": build_stable,
        "balancer-v2-stable": build_kyber_stable,
        "balancer-v2-composable-stable": build_kyber_stable,
    },
)

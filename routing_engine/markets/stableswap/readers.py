"""Curve's StableSwap pools: types ``curve_stable`` and ``curve_meta``, and Kyber's ``curve-…``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routing_engine.amm.stableswap import Product, amplification
from routing_engine.errors import InvalidMarket
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.pool_fields import Pool, PoolRefused, read_reserves
from routing_engine.markets.common.pool_numbers import read_number, read_object
from routing_engine.markets.common.record import read, read_int, to_int
from routing_engine.markets.stableswap.pool import StableSwapPool
from routing_engine.markets.stableswap.templates import FIRST_LENDING, HOLD_NATIVE, Template, template_of
from routing_engine.model import NATIVE_ADDRESS, Token

State = Mapping[str, Any]

PROTOCOL = "curve"
"""What requests allow and deny, for every generation of its contracts."""

CACHE_SECONDS = 600
"""How long a metapool keeps the virtual price of its base pool (``BASE_CACHE_EXPIRES``)."""


def build_plain(pool: Pool, market_id: str, tokens: list[Token]) -> StableSwapPool:
    """Build a plain pool, with rates where its coins are not worth the same."""
    state, constants = read_kyber_state(pool)
    rates = _rates(state, constants, tokens)
    template = template_of(read_int(pool, "chain_id"), str(pool.get("address", "")))
    return _pool(pool, market_id, tokens, state, constants, rates, template)


def build_ng(pool: Pool, market_id: str, tokens: list[Token]) -> StableSwapPool:
    """Build an NG pool, or an NG metapool: its second rate is the base pool's virtual price."""
    state, constants = read_kyber_state(pool)
    rates = read_numbers(state, "rateMultipliers", len(tokens))
    multiplier = read_number({**constants, **state}, "offpegFeeMultiplier")
    return _pool(pool, market_id, tokens, state, constants, rates, Template(product=Product.LAST), multiplier)


def build_lending(pool: Pool, market_id: str, tokens: list[Token]) -> StableSwapPool:
    """Build a pool of lending tokens, whose rates the source has read."""
    state, constants = read_kyber_state(pool)
    state = {**state, "initialA": read(state, "a"), "futureA": read(state, "a"), "futureATime": 0}
    rates = _rates(state, constants, tokens)
    return _pool(pool, market_id, tokens, state, {**constants, "aPrecision": 1}, rates, FIRST_LENDING)


def build_meta(pool: Pool, market_id: str, tokens: list[Token]) -> StableSwapPool:
    """Refuse a metapool whose source did not read the base pool's virtual price."""
    raise PoolRefused("base_virtual_price_unknown")


def build_read(pool: Pool, market_id: str, tokens: list[Token]) -> StableSwapPool:
    """Build a pool whose parameters stand in ``params`` under the names of the contract's getters."""
    params = read_object(pool, "params")
    if params.get("initial_a") is None:
        raise PoolRefused("parameters_unknown")
    renamed = {
        "initialA": params["initial_a"],
        "futureA": read(params, "future_a"),
        "initialATime": read(params, "initial_a_time"),
        "futureATime": read(params, "future_a_time"),
        "swapFee": read(params, "fee"),
        "adminFee": read(params, "admin_fee"),
        "timestamp": read(params, "block_timestamp"),
    }
    precision = read_amp(renamed, read_int(params, "block_timestamp")) // max(1, read_number(params, "a_coefficient"))
    rates = [10 ** (36 - token.decimals) for token in tokens]
    if "base_pool" in params:
        rates = _meta_rates(params, tokens)
    template = template_of(read_int(pool, "chain_id"), str(pool.get("address", "")))
    return _pool(pool, market_id, tokens, renamed, {"aPrecision": precision}, rates, template)


def read_amp(state: State, timestamp: object) -> int:
    """Return the stored coefficient at the time of the recording."""
    if state.get("futureA") is None:
        raise PoolRefused("parameters_unknown")
    end = read_int({"futureATime": 0, **state}, "futureATime")
    if end == 0:
        return read_number(state, "futureA")
    if not isinstance(timestamp, int):
        raise PoolRefused("time_unknown")
    initial, future = read_number(state, "initialA"), read_number(state, "futureA")
    return amplification(initial, future, read_int(state, "initialATime"), end, timestamp)


def read_kyber_state(pool: Pool) -> tuple[State, State]:
    """Return ``extra`` and ``static_extra`` with their names in one spelling: it changed over the years."""
    extra, static = read_object(pool, "extra"), read_object(pool, "static_extra")
    return _lower(extra), _lower(static)


def with_native(pool: Pool, tokens: list[Token], flags: object) -> list[Token]:
    """Replace the wrapped coin that the source writes where the pool holds the chain's own."""
    held = list(flags) if isinstance(flags, list) else [False] * len(tokens)
    if pool.get("address") in HOLD_NATIVE and pool.get("chain_id") == 1:
        held[0] = True
    held = [flag is True or token.symbol == "ETH" for flag, token in zip(held, tokens, strict=True)]
    return [_native(token) if flag else token for flag, token in zip(held, tokens, strict=True)]


def _native(token: Token) -> Token:
    return Token(chain_id=token.chain_id, address=NATIVE_ADDRESS, symbol="ETH", decimals=18)


def _lower(record: State) -> dict[str, Any]:
    return {name[:1].lower() + name[1:]: value for name, value in record.items()}


def read_numbers(state: State, field: str, count: int) -> list[int]:
    """Return the list of `count` integers at `field`."""
    values = read(state, field)
    if not isinstance(values, list) or len(values) != count:
        raise InvalidMarket(field, f"expected {count} integers")
    return [to_int(value, f"{field}.{number}") for number, value in enumerate(values)]


def _rates(state: State, constants: State, tokens: list[Token]) -> list[int]:
    if "rateMultipliers" in state:
        return read_numbers(state, "rateMultipliers", len(tokens))
    if "rates" in state:
        scales = read_numbers(constants, "precisionMultipliers", len(tokens))
        rates = read_numbers(state, "rates", len(tokens))
        return [rate * scale for rate, scale in zip(rates, scales, strict=True)]
    if max(token.decimals for token in tokens) > 18:
        raise PoolRefused("decimals_out_of_range")
    return [10 ** (36 - token.decimals) for token in tokens]


def _meta_rates(params: State, tokens: list[Token]) -> list[int]:
    age = read_int(params, "block_timestamp") - read_int(params, "base_cache_updated")
    base = read_object(params, "base_pool")
    price = read_number(params, "base_virtual_price") if age <= CACHE_SECONDS else read_number(base, "virtual_price")
    own = params.get("redemption_price")
    return [10 ** (36 - tokens[0].decimals) if own is None else to_int(own, "redemption_price"), price]


def _pool(
    pool: Pool,
    market_id: str,
    tokens: list[Token],
    state: State,
    constants: State,
    rates: list[int],
    template: Template,
    multiplier: int | None = None,
) -> StableSwapPool:
    if state.get("swapFee") is None or state.get("adminFee") is None:
        raise PoolRefused("parameters_unknown")
    flags = constants.get("isNativeCoins", constants.get("isNativeCoin"))
    return StableSwapPool(
        id=market_id,
        protocol=PROTOCOL,
        tokens=tuple(with_native(pool, tokens, flags)),
        balances=tuple(read_reserves(pool, len(tokens))),
        rates=tuple(rates),
        amp=read_amp(state, state.get("timestamp", pool.get("timestamp"))),
        amp_precision=read_number(constants, "aPrecision"),
        fee_e10=read_number(state, "swapFee"),
        admin_fee_e10=read_number(state, "adminFee"),
        product=template.product,
        spare=template.spare,
        accounting=template.accounting,
        multiplier_e10=multiplier or 0,
        oracle=multiplier is not None,
    )


KIND = MarketKind(
    market=StableSwapPool,
    pool_readers={
        "curve_stable": build_read,
        "curve_meta": build_read,
        "curve-base": build_plain,
        "curve-stable-plain": build_plain,
        "curve-plain-oracle": build_plain,
        "curve-stable-ng": build_ng,
        "curve-stable-meta-ng": build_ng,
        "curve-compound": build_lending,
        "curve-meta": build_meta,
    },
)

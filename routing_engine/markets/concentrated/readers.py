"""Pools of type ``clmm`` that follow Uniswap v3's mathematics, or Uniswap v4's without hooks."""

from __future__ import annotations

from routing_engine.amm.concentrated.swap_loop import MAX_AMOUNT, MAX_AMOUNT_V4
from routing_engine.amm.concentrated.walk import Tick
from routing_engine.errors import InvalidMarket
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.pool_fields import Pool, PoolRefused, read_fee_pips, require_two, squeeze
from routing_engine.markets.common.pool_numbers import read_hex
from routing_engine.markets.common.record import read_int, read_list, read_text, to_int
from routing_engine.markets.concentrated.pool import ConcentratedPool
from routing_engine.markets.concentrated.pool_key import NO_HOOKS, pool_id, unwrapped
from routing_engine.model import Token
from routing_engine.reference.chains import CHAINS

V3_PROTOCOLS = {
    "uniswapv3": "uniswap_v3",
    "sushiswapv3": "sushiswap_v3",
    "pancakeswapv3": "pancakeswap_v3",
    "pancakev3": "pancakeswap_v3",
    "aerodromev3": "aerodrome_slipstream",
    "uniswapv4": "uniswap_v4",
}
"""Protocols of this mathematics, by the start of their squeezed name."""

NOT_V3 = ("uniswapv4bunni", "uniswapv4renzo", "uniswapv4euler")
"""Uniswap v4 pools whose hooks change amounts."""

SPACINGS = {100: 1, 500: 10, 3_000: 60, 10_000: 200}
"""Uniswap v3's factory fixes the spacing of each fee."""

DYNAMIC_FEE = "8.388608"
"""0x800000 pips: what a Uniswap v4 pool says instead of a fee when its hooks set one."""

SWAP_HOOKS = 0b1100_1100
"""Bits of a hooks contract's address that have it called before or after swaps, or change their amounts."""


def build(pool: Pool, market_id: str, tokens: list[Token]) -> ConcentratedPool:
    """Build a concentrated pool whose price, tick, liquidity and ticks agree."""
    protocol = _protocol(pool)
    for field in ("ticks", "sqrt_price_x96", "tick", "liquidity"):
        if pool.get(field) is None:
            raise PoolRefused(f"{field}_unknown")
    is_v4 = protocol == "uniswap_v4"
    if is_v4 and pool.get("fee") == DYNAMIC_FEE:
        raise PoolRefused("dynamic_fee")
    fee_pips = read_fee_pips(pool)
    spacing = _spacing(pool, protocol, fee_pips)
    ticks = tuple(
        (to_int(index, f"ticks.{n}.0"), to_int(net, f"ticks.{n}.1"))
        for n, (index, net) in enumerate(read_list(pool, "ticks", 2))
    )
    tick, liquidity = read_int(pool, "tick"), read_int(pool, "liquidity")
    token0, token1 = require_two(_v4_tokens(pool, tokens, fee_pips, spacing) if is_v4 else tokens)
    market = ConcentratedPool(
        id=market_id,
        protocol=protocol,
        token0=token0,
        token1=token1,
        fee_pips=fee_pips,
        tick_spacing=spacing,
        sqrt_price_x96=read_int(pool, "sqrt_price_x96"),
        tick=tick,
        liquidity=liquidity,
        ticks=_close_window(ticks, tick, liquidity) if pool.get("ticks_partial") else ticks,
        largest_amount=MAX_AMOUNT_V4 if is_v4 else MAX_AMOUNT,
    )
    try:
        market.validate()
    except InvalidMarket as error:
        raise PoolRefused(f"inconsistent_state:{error.field.split('.')[0]}") from error
    return market


def _close_window(ticks: tuple[Tick, ...], tick: int, liquidity: int) -> tuple[Tick, ...]:
    """Let liquidity begin at the first of some neighbouring ticks and end at the last, as if there were no others.

    Whatever stays between the two is quoted as by all ticks: the contract stops at both of them as well. What would
    lead beyond is refused, because no liquidity is left there. Ticks that are all there are stay as they are.
    """
    if len(ticks) < 2 or not ticks[0][0] <= tick < ticks[-1][0]:
        return ticks
    first = liquidity - sum(net for index, net in ticks[1:] if index <= tick)
    last = liquidity + sum(net for index, net in ticks[:-1] if index > tick)
    return ((ticks[0][0], first), *ticks[1:-1], (ticks[-1][0], -last))


def _protocol(pool: Pool) -> str:
    squeezed = squeeze(read_text(pool, "protocol"))
    protocol = next((name for start, name in V3_PROTOCOLS.items() if squeezed.startswith(start)), None)
    if protocol is None or squeezed.startswith(NOT_V3):
        raise PoolRefused(f"unsupported_protocol:{pool['protocol']}")
    return protocol


def _spacing(pool: Pool, protocol: str, fee_pips: int) -> int:
    if pool.get("tick_spacing") is not None:
        return read_int(pool, "tick_spacing")
    if protocol != "uniswap_v3" or fee_pips not in SPACINGS:
        raise PoolRefused("tick_spacing_unknown")
    return SPACINGS[fee_pips]


def _v4_tokens(pool: Pool, tokens: list[Token], fee_pips: int, spacing: int) -> list[Token]:
    """Return the tokens that the pool's id commits to.

    Raises
    ------
    PoolRefused
        If hooks act on swaps, or the id is not that of these tokens, this fee and the hooks given, or none.
    """
    hooks = read_text(pool, "hooks") if pool.get("hooks") else NO_HOOKS
    if read_hex(hooks.removeprefix("0x"), "hooks") & SWAP_HOOKS:
        raise PoolRefused("hooks_act_on_swaps")
    chain = CHAINS.get(tokens[0].chain_id)
    candidates = [tokens, unwrapped(tokens, chain.wrapped_native)] if chain else [tokens]
    for candidate in candidates:
        if pool_id(candidate, fee_pips, spacing, hooks) == read_text(pool, "pool_id").lower():
            return candidate
    raise PoolRefused("pool_id_of_another_key_or_with_hooks")


KIND = MarketKind(market=ConcentratedPool, pool_readers={"clmm": build})

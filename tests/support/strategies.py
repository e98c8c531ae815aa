"""Hypothesis strategies: markets of every kind, over the magnitudes that real ones have."""

from __future__ import annotations

from hypothesis import strategies as st

from routing_engine.amm.concentrated.tick_math import MAX_TICK, sqrt_ratio_at_tick
from routing_engine.amm.constant_product import MAX_RESERVE
from routing_engine.fixed_point import WAD
from routing_engine.market import UNLIMITED
from routing_engine.markets import BridgeLane, ConcentratedPool, ConstantProductPool, LaneFee, NativeWrap
from routing_engine.model import NATIVE_ADDRESS, Token


def make_token(number: int, decimals: int = 18, chain_id: int = 1) -> Token:
    return Token(chain_id=chain_id, address=f"0x{number:040x}", symbol=f"T{number}", decimals=decimals)


TOKEN0, TOKEN1 = make_token(1), make_token(2, decimals=6)


@st.composite
def magnitudes(draw: st.DrawFn, low: int, high: int) -> int:
    """Integers spread evenly over the binary magnitudes from `low` to `high`."""
    bits = draw(st.integers(low.bit_length(), high.bit_length()))
    return draw(st.integers(max(low, 1 << (bits - 1)), min(high, (1 << bits) - 1)))


@st.composite
def constant_product_pools(draw: st.DrawFn, most: int = MAX_RESERVE // 2) -> ConstantProductPool:
    return ConstantProductPool(
        id="1:0xcp",
        protocol="uniswap_v2",
        token0=TOKEN0,
        token1=TOKEN1,
        reserve0=draw(magnitudes(1, most)),
        reserve1=draw(magnitudes(1, most)),
        fee_pips=draw(st.sampled_from((0, 1, 100, 2_500, 3_000, 10_000, 500_000, 999_999))),
    )


@st.composite
def concentrated_pools(draw: st.DrawFn, most_positions: int = 8) -> ConcentratedPool:
    """Pools of overlapping, neighbouring and distant positions, with the price inside, outside, or on a tick."""
    spacing, widest = draw(st.sampled_from(((1, 200), (10, 2_000), (60, 5_000), (200, 1_000))))
    centre = draw(st.integers(-250_000 // spacing, 250_000 // spacing))
    nets: dict[int, int] = {}
    for _ in range(draw(st.integers(1, most_positions))):
        lower = centre + draw(st.integers(-widest // spacing, widest // spacing))
        upper = lower + draw(st.integers(1, widest // spacing))
        _provide(nets, lower * spacing, upper * spacing, draw(magnitudes(10**6, 2**96)))
    if spacing >= 60 and draw(st.booleans()):
        edge = MAX_TICK // spacing * spacing
        _provide(nets, -edge, edge, draw(magnitudes(10**6, 2**90)))
    ticks = tuple(sorted(nets.items()))
    anywhere = st.integers(centre * spacing - widest, centre * spacing + widest)
    tick = draw(st.one_of(st.sampled_from(sorted(nets)), anywhere))
    below, above = sqrt_ratio_at_tick(tick), sqrt_ratio_at_tick(tick + 1)
    return ConcentratedPool(
        id="1:0xcl",
        protocol="uniswap_v3",
        token0=TOKEN0,
        token1=TOKEN1,
        fee_pips=draw(st.sampled_from((0, 100, 500, 3_000, 10_000, 100_000))),
        tick_spacing=spacing,
        sqrt_price_x96=draw(st.one_of(st.just(below), st.integers(below, above - 1))),
        tick=tick,
        liquidity=sum(net for index, net in ticks if index <= tick),
        ticks=ticks,
    )


def _provide(nets: dict[int, int], lower: int, upper: int, liquidity: int) -> None:
    nets[lower] = nets.get(lower, 0) + liquidity
    nets[upper] = nets.get(upper, 0) - liquidity


def most_steps(pool: ConcentratedPool) -> int:
    """Bound the rounds of one swap: initialised ticks, word edges on the way to the furthest, and one more each."""
    indices = [index for index, _ in pool.ticks]
    span = max(pool.tick, *indices) - min(pool.tick, *indices)
    return len(indices) + span // (256 * pool.tick_spacing) + 3


@st.composite
def lanes(draw: st.DrawFn) -> BridgeLane:
    token_in = make_token(3, draw(st.integers(0, 24)))
    token_out = make_token(4, draw(st.integers(0, 24)), chain_id=10)
    rates = st.one_of(st.just(0), magnitudes(1, WAD // 4))
    least = draw(st.one_of(st.just(0), magnitudes(1, 10**20)))
    fee = st.builds(LaneFee, name=st.just("fee"), flat=st.one_of(st.just(0), magnitudes(1, 10**24)), rate_e18=rates)
    return BridgeLane(
        id="lane",
        protocol="across",
        token_in=token_in,
        token_out=token_out,
        fees=tuple(draw(st.lists(fee, max_size=3))),
        min_amount_in=least,
        max_amount_in=draw(st.one_of(st.just(UNLIMITED), magnitudes(max(1, least), 10**40))),
        fill_time_s=draw(st.integers(0, 100_000)),
        gas=100_000,
    )


def wraps() -> st.SearchStrategy[NativeWrap]:
    native = Token(chain_id=1, address=NATIVE_ADDRESS, symbol="ETH", decimals=18)
    return st.just(NativeWrap(id="1:weth", native=native, wrapped=TOKEN0))

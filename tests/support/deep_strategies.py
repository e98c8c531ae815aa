"""Hypothesis strategies for Fluid, Ekubo and Bancor pools and for vaults."""

from __future__ import annotations

from hypothesis import assume
from hypothesis import strategies as st

from routing_engine.amm.bancor import MAX_RESERVE
from routing_engine.amm.ekubo.ticks import round_ratio, sqrt_ratio_at_tick
from routing_engine.markets.bancor import BancorPool
from routing_engine.markets.ekubo.pool import EkuboPool
from routing_engine.markets.fluid.pool import OFF, FluidPool, Quad
from routing_engine.markets.vault import Vault
from tests.support.strategies import magnitudes, make_token

DEEP_KINDS = {"bancor", "ekubo", "fluid", "vault"}
"""Kinds that ``tests/conformance/test_deep_markets.py`` runs the suite on."""

PRICE_SCALE = 10**27


@st.composite
def fluid_pools(draw: st.DrawFn) -> FluidPool:
    """Pools of collateral, of debt, or of both at nearly one price, with limits that bind or not."""
    decimals = draw(st.sampled_from((6, 8, 12, 18))), draw(st.sampled_from((6, 8, 18)))
    price = draw(magnitudes(PRICE_SCALE // 10_000, PRICE_SCALE * 10_000))
    sides = draw(st.sampled_from(("collateral", "debt", "both")))
    fee_pips = draw(st.sampled_from((7, 29, 100, 1_000, 5_000) if sides == "both" else (0, 7, 100, 10_000)))
    # Where the two prices are further apart than the fee, trading there and back gains, on chain as here.
    drift = draw(st.integers(-min(500 * fee_pips, 10**5), min(500 * fee_pips, 10**5)))
    collateral = draw(fluid_reserves(price)) if sides != "debt" else OFF
    debt = draw(fluid_reserves(price + price * drift // 10**9)) if sides != "collateral" else OFF
    return FluidPool(
        id="1:0xfluid",
        protocol="fluid_v1",
        token0=make_token(1, decimals[0]),
        token1=make_token(2, decimals[1]),
        fee_pips=fee_pips,
        center_price=price,
        collateral=collateral,
        debt=debt,
        withdrawable=(draw(_limits(decimals[0])), draw(_limits(decimals[1]))),
        borrowable=(draw(_limits(decimals[0])), draw(_limits(decimals[1]))),
    )


@st.composite
def fluid_reserves(draw: st.DrawFn, price: int) -> Quad:
    """Reserves of one pool at a price, from a wide range of prices to a narrow one, in its middle or at its edge."""
    imaginary0 = draw(magnitudes(max(10**13, 10**12 * PRICE_SCALE // price), 10**22))
    imaginary1 = imaginary0 * price // PRICE_SCALE
    parts = [draw(st.one_of(st.integers(0, 10**6), st.integers(0, 2_000))) for _ in range(2)]
    return (imaginary0 * parts[0] // 10**6, imaginary1 * parts[1] // 10**6, imaginary0, imaginary1)


def _limits(decimals: int) -> st.SearchStrategy[int]:
    return st.one_of(st.just(0), magnitudes(10, 10 ** (decimals + 12)), st.just(10 ** (decimals + 20)))


@st.composite
def ekubo_pools(draw: st.DrawFn) -> EkuboPool:
    """Pools of up to six positions around a price, on a tick or between two, and such over the whole range."""
    spacing = draw(st.sampled_from((0, 1, 50, 1_000, 19_802)))
    centre = draw(st.integers(-30_000_000 // (spacing or 1), 30_000_000 // (spacing or 1)))
    nets: dict[int, int] = {}
    for _ in range(draw(st.integers(1, 6)) if spacing else 0):
        lower, width = centre + draw(st.integers(-500, 500)), draw(st.integers(1, 500))
        liquidity = draw(magnitudes(10**8, 10**24))
        nets[lower * spacing] = nets.get(lower * spacing, 0) + liquidity
        nets[(lower + width) * spacing] = nets.get((lower + width) * spacing, 0) - liquidity
    ticks = tuple(sorted((index, net) for index, net in nets.items() if net))
    anywhere = st.integers((centre - 600) * spacing, (centre + 600) * spacing) if spacing else st.just(centre)
    tick = draw(st.one_of(st.sampled_from([index for index, _ in ticks] or [centre]), anywhere))
    below, above = sqrt_ratio_at_tick(tick), sqrt_ratio_at_tick(tick + 1)
    inside = st.integers(below, above - 1).map(lambda ratio: round_ratio(ratio, up=False))
    active = sum(net for index, net in ticks if index <= tick)
    return EkuboPool(
        id="1:0xekubo",
        protocol="ekubo_v2",
        token0=make_token(1),
        token1=make_token(2, 6),
        fee_x64=draw(st.sampled_from((0, 1, 922337203685477, 184467440737095516, 1 << 62))),
        tick_spacing=spacing,
        sqrt_ratio=draw(st.one_of(st.just(below), inside)),
        tick=tick,
        liquidity=active if spacing else draw(magnitudes(10**8, 10**24)),
        ticks=ticks,
    )


@st.composite
def bancor_pools(draw: st.DrawFn) -> BancorPool:
    return BancorPool(
        id="1:0xbancor",
        protocol="bancor_v2",
        token0=make_token(1),
        token1=make_token(2, 8),
        reserve0=draw(magnitudes(1, MAX_RESERVE // 2)),
        reserve1=draw(magnitudes(1, MAX_RESERVE // 2)),
        fee_pips=draw(st.sampled_from((0, 1_000, 2_250, 10_000, 500_000, 999_999))),
    )


@st.composite
def vaults(draw: st.DrawFn) -> Vault:
    """Vaults of a supply and assets, some of which keep a part on the way."""
    decimals = draw(st.sampled_from((6, 8, 18))), draw(st.sampled_from((6, 18)))
    assets, shares = draw(magnitudes(10**6, 10**26)), draw(magnitudes(10**6, 10**26))
    kept = draw(st.sampled_from((0, 0, 1, 25)))
    asset_price = 10 ** decimals[0] * shares // assets
    share_price = 10 ** decimals[1] * assets * (10_000 - kept) // (shares * 10_000)
    assume(asset_price and share_price)
    limits = st.one_of(st.just(0), magnitudes(1, 2**256 - 1))
    return Vault(
        id="1:0xvault",
        protocol="erc4626",
        asset=make_token(1, decimals[0]),
        share=make_token(2, decimals[1]),
        asset_price=asset_price,
        share_price=share_price,
        max_deposit=draw(limits),
        max_redeem=draw(limits),
    )

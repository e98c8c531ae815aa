"""Hypothesis strategies: ladders of quotes, and Stargate's lanes."""

from __future__ import annotations

from hypothesis import strategies as st

from routing_engine.amm.stargate_fee import MAX_SHARED, FeeTerms
from routing_engine.markets import LadderMarket, Level, StargateLane
from tests.support.strategies import TOKEN0, TOKEN1, magnitudes, make_token


@st.composite
def ladders(draw: st.DrawFn) -> LadderMarket:
    """Levels of falling price, sizes of every magnitude, with or without a minimum."""
    levels = draw(
        st.lists(
            st.builds(Level, magnitudes(1, 10**30), magnitudes(1, 10**24), magnitudes(1, 10**24)),
            min_size=1,
            max_size=6,
        )
    )
    return LadderMarket(
        id="1:ladder",
        protocol="limit_orders",
        token_in=TOKEN0,
        token_out=TOKEN1,
        levels=tuple(sorted(levels, key=lambda level: level.price_in * 10**60 // level.price_out)),
        min_amount_in=draw(st.one_of(st.just(1), magnitudes(1, 10**20))),
    )


FEES = st.sampled_from((0, 1, 60, 600, 3_000, 200_000))


@st.composite
def stargate_lanes(draw: st.DrawFn, *, zones: bool = True) -> StargateLane:
    """Paths with and without deficit, reward, treasury and limited credit; with one fee or with three."""
    bounds = sorted((draw(magnitudes(1_000, 10**14)), draw(magnitudes(1_000, 10**14))))
    fees = sorted((draw(FEES), draw(FEES), draw(FEES)))
    return StargateLane(
        id="stargate",
        token_in=make_token(3, draw(st.sampled_from((6, 8, 18)))),
        token_out=make_token(4, draw(st.sampled_from((6, 8, 18))), chain_id=10),
        terms=FeeTerms(*bounds, *(fees if zones else fees[:1] * 3), draw(FEES)),
        deficit=draw(st.one_of(st.just(0), magnitudes(1, 10**13))),
        treasury=draw(st.one_of(st.just(0), magnitudes(1, 10**12))),
        credit=draw(st.one_of(st.just(MAX_SHARED), magnitudes(1, 10**15))),
        native_fee=draw(st.integers(0, 10**15)),
        fill_time_s=100,
    )

"""Hypothesis strategies: StableSwap pools of every generation, balanced and far from it."""

from __future__ import annotations

from hypothesis import strategies as st

from routing_engine.amm.stableswap import FEE_SCALE, Product
from routing_engine.markets.cryptoswap.pool import CryptoSwapPool
from routing_engine.markets.stableswap.pool import Accounting, StableSwapPool
from tests.support.strategies import magnitudes, make_token

NG_MULTIPLIERS = (FEE_SCALE, 2 * FEE_SCALE, 5 * FEE_SCALE, 20 * FEE_SCALE)


@st.composite
def stableswap_pools(draw: st.DrawFn) -> StableSwapPool:
    """Pools of two to four coins, each worth up to a hundred times less than the largest."""
    count = draw(st.integers(2, 4))
    tokens = tuple(make_token(20 + number, draw(st.sampled_from((2, 6, 8, 18)))) for number in range(count))
    rates = tuple(10 ** (36 - token.decimals) * draw(st.integers(50, 150)) // 100 for token in tokens)
    worth = draw(magnitudes(10**22, 10**29))
    shares = [draw(st.integers(1, 100)) for _ in tokens]
    balances = tuple(worth * share * 10**16 // rate for share, rate in zip(shares, rates, strict=True))
    modern = draw(st.booleans())
    oracle = modern and draw(st.booleans())
    return StableSwapPool(
        id="1:0xstable",
        protocol="curve",
        tokens=tokens,
        balances=balances,
        rates=rates,
        amp=draw(st.integers(10, 5_000)) * (100 if modern else 1),
        amp_precision=100 if modern else 1,
        product=draw(st.sampled_from(list(Product))),
        fee_e10=draw(st.sampled_from((1_000_000, 4_000_000, 20_000_000))),
        admin_fee_e10=draw(st.sampled_from((0, FEE_SCALE // 2, FEE_SCALE))),
        multiplier_e10=draw(st.sampled_from(NG_MULTIPLIERS)) if oracle else 0,
        oracle=oracle,
        accounting=Accounting.AMOUNTS if modern else draw(st.sampled_from(list(Accounting))),
    )


def greatest_fee(pool: StableSwapPool) -> float:
    """Return the largest fraction of an output that the pool can keep."""
    return pool.fee_e10 / FEE_SCALE * max(1.0, pool.multiplier_e10 / FEE_SCALE)


CURVE_KINDS = {StableSwapPool.kind, CryptoSwapPool.kind}
"""Kinds that the suite is run on for Curve's families."""

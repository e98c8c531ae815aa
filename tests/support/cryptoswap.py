"""Hypothesis strategies: crypto pools in states that their contracts could be in."""

from __future__ import annotations

from hypothesis import strategies as st

from routing_engine.amm.cryptoswap.curves import geometric_mean
from routing_engine.amm.cryptoswap.exchange import CryptoRules, Method, Profit, find_invariant, scaled
from routing_engine.fixed_point import WAD
from routing_engine.markets.cryptoswap.pool import CryptoSwapPool
from tests.support.strategies import magnitudes, make_token

GAMMAS = {2: (10**12, 10**17), 3: (10**12, 10**16)}


@st.composite
def cryptoswap_pools(draw: st.DrawFn) -> CryptoSwapPool:
    """Pools of two or three coins, up to four times away from balance, with and without known profits."""
    count = draw(st.integers(2, 3))
    tokens = tuple(make_token(60 + number, draw(st.sampled_from((6, 8, 18)))) for number in range(count))
    precisions = [10 ** (18 - token.decimals) for token in tokens]
    prices = tuple(draw(magnitudes(10**14, 10**23)) for _ in range(count - 1))
    worth = draw(magnitudes(10**22, 10**28))
    shares = [draw(st.integers(50, 200)) for _ in tokens]
    units = zip(shares, precisions, (WAD, *prices), strict=True)
    balances = tuple(worth * share // 100 * WAD // price // precision for share, precision, price in units)
    method = draw(st.sampled_from((Method.CLOSED_FORM, Method.CLOSED_FORM, Method.NEWTON)))
    mid_fee = draw(st.sampled_from((1_000_000, 3_000_000, 26_000_000)))
    rules = CryptoRules(
        method,
        ann=draw(st.integers(20, 3_000)) * count**count * 100,
        gamma=draw(magnitudes(*GAMMAS[count])),
        mid_fee=mid_fee,
        out_fee=mid_fee * draw(st.integers(1, 15)),
        fee_gamma=draw(magnitudes(10**13, 10**17)),
    )
    d = find_invariant(scaled(balances, precisions, prices), rules)
    known = method is Method.CLOSED_FORM and draw(st.booleans())
    return CryptoSwapPool(
        id="1:0xcrypto",
        protocol="curve",
        tokens=tokens,
        balances=balances,
        price_scale=prices,
        d=d,
        ann=rules.ann,
        gamma=rules.gamma,
        mid_fee=rules.mid_fee,
        out_fee=rules.out_fee,
        fee_gamma=rules.fee_gamma,
        method=method,
        profit=_profit(draw, d, prices) if known else None,
    )


def _profit(draw: st.DrawFn, d: int, prices: tuple[int, ...]) -> Profit:
    """Return profits that go with D, and an oracle so near that no round trip gains by a move of prices."""
    count = len(prices) + 1
    worth = geometric_mean([d // count, *(d * WAD // (count * price) for price in prices)])
    supply = worth * 1000 // draw(st.integers(1_001, 1_300))
    virtual_price = WAD * worth // supply
    return Profit(
        price_oracle=tuple(price * draw(st.integers(9_995, 10_005)) // 10_000 for price in prices),
        xcp_profit=WAD + (virtual_price - WAD) * draw(st.integers(10, 25)) // 10,
        virtual_price=virtual_price,
        supply=supply,
        allowed_extra_profit=draw(st.sampled_from((10**8, 10**12))),
        adjustment_step=draw(st.sampled_from((10**11, 10**14, 10**15))),
    )

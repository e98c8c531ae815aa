"""Bounds hold for what contracts give to the unit: where they round in a trader's favour, and far from balance."""

from __future__ import annotations

import pytest

from routing_engine import QuoteRefused, Router, RouteRequest, Snapshot
from routing_engine.certificate import IMPRECISE
from routing_engine.curves.fitting import fit_curve
from routing_engine.graph.wide_pieces import measure_wide_pieces
from routing_engine.market import Market
from routing_engine.markets import BalancerV1Pool, BancorPool, ConstantProductPool, Fork, SolidlyPool, StableSwapPool
from routing_engine.model import Token
from tests.support.markets import token

DECIMALS = (0, 2, 6, 8, 18, 24)


def make_pools(a: Token, b: Token) -> list[Market]:
    """Return pools of a million whole tokens each, of kinds that round down what they charge, or round to the nearest.

    Balances are never below 10^12 units, as formulas lose their meaning there.
    """
    reserves = (10 ** max(12, 6 + a.decimals), 10 ** max(12, 6 + b.decimals))
    names = {"protocol": "pools", "token0": a, "token1": b, "reserve0": reserves[0], "reserve1": reserves[1]}
    pools: list[Market] = [
        SolidlyPool(id=f"{fork}{stable}", **names, stable=stable, fork=fork, fee0_pips=fee, fee1_pips=fee)
        for fork in (Fork.VELODROME_V2, Fork.SOLIDLY)
        for stable, fee in ((True, 500), (False, 9_000))
    ]
    pools.append(BancorPool(id="bancor", **names, fee_pips=2_000))
    basket = {"protocol": "pools", "tokens": (a, b), "balances": reserves}
    weights, rates = (5 * 10**18, 5 * 10**18), tuple(10 ** (36 - each.decimals) for each in (a, b))
    pools.append(BalancerV1Pool(id="v1", **basket, weights=weights, fee_e18=10**15))
    curve = {"amp": 20_000, "fee_e10": 4_000_000, "multiplier_e10": 0, "admin_fee_e10": 5 * 10**9}
    pools.append(StableSwapPool(id="curve", **basket, rates=rates, **curve))
    return pools


@pytest.mark.parametrize("decimals_in", DECIMALS)
@pytest.mark.parametrize("decimals_out", DECIMALS)
def test_no_market_gives_more_than_its_bound(decimals_in: int, decimals_out: int) -> None:
    a, b = token("A", decimals_in), token("B", decimals_out)
    for pool in make_pools(a, b):
        router, most = Router(Snapshot([pool])), 10 ** max(12, 6 + decimals_in)
        for amount in {1, 2, 3, 7, 19, 100, *(int(most ** (part / 6)) for part in range(1, 7))}:
            found = router.find_routes(RouteRequest(token_in=a, token_out=b, amount=amount))
            if found.status == "found":
                assert found.certificate.gap_bps is not None, (pool.id, amount, found.certificate.reason)


def test_far_from_balance_pieces_are_no_higher_than_said() -> None:
    """Where a stable pool is nearly empty, its formula lies farthest above a wide piece near where that begins."""
    a, b = token("A", 6), token("B")
    pool = SolidlyPool(
        id="s", protocol="velodrome", token0=a, token1=b, reserve0=10**12, reserve1=10**25, stable=True,
        fork=Fork.VELODROME_V2, fee0_pips=500, fee1_pips=500,
    )  # fmt: skip
    curve = pool.curve(b, a)
    pieces = fit_curve(curve).pieces
    measure_wide_pieces(curve, pieces)
    for power in range(200):
        x = 1e24 * 1.06**power
        x0, y0, slope, width, bend, above = pieces[pieces[:, 0].searchsorted(x, side="right") - 1].tolist()
        given = y0 + slope * (x - x0) / (width + bend * (x - x0))
        assert pool.quote_exact_in(b, a, int(x)).amount_out <= given * (1.0 + above) * (1.0 + IMPRECISE) + 1


@pytest.mark.parametrize("fee_pips", [500, 9_000])
def test_at_a_flat_end_exact_out_claims_no_more_than_it_proves(fee_pips: int) -> None:
    """What exact-in gives for an input, nobody needs more for; this answer costs up to 6 % more, and must say so."""
    a, b = token("A", 6), token("B")
    stable = SolidlyPool(
        id="s", protocol="velodrome", token0=a, token1=b, reserve0=10**12, reserve1=10**25, stable=True,
        fork=Fork.VELODROME_V2, fee0_pips=fee_pips, fee1_pips=fee_pips,
    )  # fmt: skip
    plain = ConstantProductPool(
        id="c", protocol="v2", token0=a, token1=b, reserve0=10**11, reserve1=10**23, fee_pips=3_000
    )
    router = Router(Snapshot([stable, plain]))
    for times in (20, 40):
        amount = times * 10**25
        given = 0
        for part in range(9_900, 10_000, 2):
            try:
                hops = (
                    stable.quote_exact_in(b, a, amount * part // 10_000),
                    plain.quote_exact_in(b, a, amount // 10_000 * (10_000 - part)),
                )
            except QuoteRefused:
                continue
            given = max(given, sum(hop.amount_out for hop in hops))
        sold = router.find_routes(RouteRequest(token_in=b, token_out=a, amount=amount))
        assert sold.certificate.gap_bps is not None
        assert given <= sold.best().amount_out / (1 - sold.certificate.gap_bps / 1e4) * (1 + 1e-9) + 1
        given = max(given, sold.best().amount_out)
        bought = router.find_routes(RouteRequest(token_in=b, token_out=a, amount=given, side="exact_out"))
        gap = bought.certificate.gap_bps
        assert gap is None or amount >= bought.best().amount_in * (1 - gap / 1e4) * (1 - 1e-9) - 1

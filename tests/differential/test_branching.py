"""Certificates that branch: pools in parallel of which some earn their gas, against every choice of pools."""

from __future__ import annotations

import random
from itertools import combinations

import pytest

from routing_engine import Route, Router, RouteRequest, RouteResult, Snapshot, Token
from routing_engine.markets import ConstantProductPool
from routing_engine.search.splits.split import FEW

UNIT, POOL_GAS, POOLS, GAS_PRICE = 10**18, 120_000, 7, 30 * 10**9
WETH, BUY = (
    Token(chain_id=1, address=address, symbol=symbol, decimals=18)
    for address, symbol in (("0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", "WETH"), (f"0x{1:040x}", "BUY"))
)
AMOUNT = 10 * UNIT


def make_pools(rng: random.Random) -> list[ConstantProductPool]:
    """Pools whose parts of the amount save about as much as they cost."""
    return [
        ConstantProductPool(
            id=f"{number}", token0=WETH, token1=BUY, reserve0=int(depth),
            reserve1=int(depth * rng.uniform(0.9995, 1.0005)), fee_pips=3000, gas=POOL_GAS, protocol="uniswap_v2",
        )
        for number, depth in enumerate(AMOUNT * 10 ** rng.uniform(0.8, 1.8) for _ in range(POOLS))
    ]  # fmt: skip


def route(pools: list[ConstantProductPool], gas_price: int, **asked: object) -> RouteResult:
    fields = {"token_in": WETH, "token_out": BUY, "amount": AMOUNT} | asked
    return Router(Snapshot(pools, gas_prices={1: gas_price})).find_routes(RouteRequest(**fields))  # type: ignore[arg-type]


def get_closest(best: Route) -> float:
    """Return how closely an answer is proven, in bps: over few paths it is looked at until nothing is left."""
    return 0.05 if len(best.hops) <= FEW else 1.0


@pytest.mark.parametrize("seed", range(6))
def test_the_best_choice_of_pools_is_found_and_proven(seed: int) -> None:
    pools = make_pools(random.Random(seed))
    answer = route(pools, GAS_PRICE)
    best = answer.best()
    gas_value = best.gas_cost_out / best.gas
    nets = [
        route(list(chosen), 0).best().amount_out - POOL_GAS * count * gas_value
        for count in range(1, POOLS + 1)
        for chosen in combinations(pools, count)
    ]
    assert answer.certificate is not None
    gap = answer.certificate.gap_bps
    assert gap is not None
    assert 1 < len(best.hops) < POOLS
    assert float(best.amount_out_net) * (1 + gap / 1e4) >= max(nets) * (1 - 1e-12)
    assert float(best.amount_out_net) >= max(nets) * (1 - 1e-8)
    assert gap <= get_closest(best)


@pytest.mark.parametrize("seed", range(6))
def test_exact_out_is_proven_as_closely(seed: int) -> None:
    pools = make_pools(random.Random(seed))
    wanted = route(pools, GAS_PRICE).best().amount_out
    answer = route(pools, GAS_PRICE, amount=wanted, side="exact_out")
    best = answer.best()
    gas_value = best.gas_cost_in / best.gas
    costs = [
        found.best().amount_in + POOL_GAS * count * gas_value
        for count in range(1, POOLS + 1)
        for chosen in combinations(pools, count)
        if (found := route(list(chosen), 0, amount=wanted, side="exact_out")).routes
    ]
    assert answer.certificate is not None
    gap = answer.certificate.gap_bps
    assert gap is not None
    assert float(best.amount_in_gross) * (1 - gap / 1e4) <= min(costs) * (1 + 1e-9)
    assert float(best.amount_in_gross) <= min(costs) * (1 + 1e-8)
    assert gap <= get_closest(best)

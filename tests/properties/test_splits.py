"""Properties of routes that divide: exact books, never worse than one path, optimal where a closed form exists."""

from __future__ import annotations

import math
import random

import pytest

from routing_engine import Route, Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool
from routing_engine.model import Token
from tests.support.markets import market_of, random_markets, token

GAS_PRICES = {1: 20 * 10**9, 10: 10**8}


def books(route: Route) -> None:
    """Check that hops spend what is there, all of it, and that each is what its market does."""
    have = {route.token_in: route.amount_in}
    for hop in route.hops:
        assert have.get(hop.token_in, 0) >= hop.amount_in > 0
        have[hop.token_in] -= hop.amount_in
        have[hop.token_out] = have.get(hop.token_out, 0) + hop.amount_out
    assert have.pop(route.token_out) == route.amount_out
    assert set(have.values()) == {0}
    assert len({hop.market_id for hop in route.hops}) == len(route.hops)


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_every_unit_is_accounted_for_and_more_paths_are_never_worse(side: str) -> None:
    divided = 0
    for seed in range(150):
        rng = random.Random(f"{side}{seed}")
        markets = random_markets(rng)
        snapshot = Snapshot(markets, gas_prices=GAS_PRICES if rng.random() < 0.7 else {})
        router = Router(snapshot)
        tokens = sorted(router.graph.tokens, key=str)
        if len(tokens) < 2:
            continue
        token_in, token_out = rng.sample(tokens, 2)
        fixed = token_in if side == "exact_in" else token_out
        amount = int(10 ** rng.uniform(0, 5) * 10**fixed.decimals)
        answers = [
            router.find_routes(
                RouteRequest(token_in=token_in, token_out=token_out, amount=amount, side=side, max_splits=most)
            )
            for most in (1, 40)
        ]
        assert answers[1].routes or answers[0].status == answers[1].status
        if answers[1].routes:
            books(answers[1].best())
        if not answers[0].routes:
            continue
        one, many = (answer.best() for answer in answers)
        divided += len(many.hops) > len(one.hops)
        if side == "exact_in":
            assert many.amount_in == amount
            assert many.amount_out_net >= one.amount_out_net, seed
        else:
            assert many.amount_out >= amount
            assert many.amount_in_gross <= one.amount_in_gross, seed
        for hop in many.hops:
            again, _ = snapshot.markets[hop.market_id].swap_exact_in(hop.token_in, hop.token_out, hop.amount_in)
            assert again == hop
    assert divided > 30


@pytest.mark.parametrize("count", [2, 5, 12])
def test_parallel_pools_are_filled_to_equal_marginal_prices(count: int) -> None:
    """Against the closed form: plus R_in / g each, inputs are proportional to sqrt(R_in * R_out / g)."""
    rng = random.Random(count)
    kept = 0.997
    pools = []
    for number in range(count):
        depth, price = 10 ** rng.uniform(3, 6), rng.uniform(0.98, 1.02)
        pools.append(
            ConstantProductPool(
                id=f"p{number}", protocol="uniswap_v2", token0=token("A"), token1=token("B"),
                reserve0=int(depth * 1e18), reserve1=int(depth * price * 1e18), fee_pips=3000,
            )
        )  # fmt: skip
    amount = 10**6 * 10**18
    roots = [math.sqrt(p.reserve0 * p.reserve1 / kept) for p in pools]
    offsets = [p.reserve0 / kept for p in pools]
    level = (amount + sum(offsets)) / sum(roots)
    best = sum(
        kept * p.reserve1 * x / (p.reserve0 + kept * x)
        for p, x in zip(pools, (level * r - o for r, o in zip(roots, offsets, strict=True)), strict=True)
    )
    route = Router(Snapshot(pools)).find_routes(
        RouteRequest(token_in=token("A"), token_out=token("B"), amount=amount)
    ).best()  # fmt: skip
    assert len(route.hops) == count
    assert route.amount_out == pytest.approx(best, rel=1e-12)


def test_a_shared_market_carries_what_several_paths_bring() -> None:
    text = "ab1: A B 1000 1000 30bps\nab2: A B 1000 1000 5bps\nbc: B C 100000 100000 30bps\nac: A C 500 500 30bps"
    route = Router(Snapshot(market_of(text))).find_routes(
        RouteRequest(token_in=token("A"), token_out=token("C"), amount=500 * 10**18)
    ).best()  # fmt: skip
    books(route)
    assert sorted(hop.market_id for hop in route.hops) == ["ab1", "ab2", "ac", "bc"]
    assert len(route.paths) == 3
    (shared,) = (hop for hop in route.hops if hop.market_id == "bc")
    assert shared.amount_in == sum(hop.amount_out for hop in route.hops if hop.token_out == token("B"))


def _pool(name: str, reserve: int, gas: int) -> ConstantProductPool:
    weth = Token(chain_id=1, address="0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", symbol="WETH", decimals=18)
    return ConstantProductPool(
        id=name,
        protocol="p",
        token0=token("A"),
        token1=weth,
        reserve0=reserve,
        reserve1=reserve,
        fee_pips=3000,
        gas=gas,
    )


def test_a_pool_is_used_only_if_it_earns_its_gas() -> None:
    weth = _pool("any", 1, 1).token1
    pools = [_pool("deep", 10**22, 100_000), _pool("shallow", 10**20, 100_000)]
    request = RouteRequest(token_in=token("A"), token_out=weth, amount=10**18)
    for gas_price, expected in ((0, 2), (10**9, 1)):
        route = Router(Snapshot(pools, gas_prices={1: gas_price})).find_routes(request).best()
        assert len(route.hops) == expected

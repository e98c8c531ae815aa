"""Fynd's routers as benchmarks re-create them give what Fynd's own tests and documents say that they give.

The numbers are those of propeller-heads/fynd: six scenarios with the net outputs of the best single path and of the
optimum (``split_test_harness.rs`` at 0a50ca32), its tests of both routers, and the worked example of
``docs/algorithms/bellman-ford.md`` at 351831b4. Its test pools take no fee; their gas is 50,000 units at 100 wei.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from benchmarks import recorded
from benchmarks.measure import bps
from benchmarks.peers.fynd.bellman_ford import find_path, list_steps
from benchmarks.peers.fynd.board import Board
from benchmarks.peers.fynd.path_frank_wolfe import Options, PathFrankWolfe, find_probe, search_golden
from benchmarks.peers.fynd.water_fill import COARSE, WaterFill, choose_disjoint, exchange, fill_disjoint
from routing_engine import Market, Route, Router, RouteRequest, Snapshot, Token
from routing_engine.markets import ConstantProductPool, LadderMarket, Level

ETHER = 10**18
COIN = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
"""What gas is priced in: pools at one for one give every token of a scenario the same price."""

A, B, C, D = (
    Token(chain_id=1, address=COIN if number == 0 else f"0x{number:040x}", symbol="ABCD"[number], decimals=18)
    for number in range(4)
)
Reserves = tuple[Token, Token, int, int]
SEARCHED = Options(max_paths=6, max_probe=0.5, min_split=0.01, line_search=16)
"""As Fynd's scenario tests set it."""


def make_router(pools: Sequence[Reserves], gas: int = 50_000) -> Router:
    markets = [
        ConstantProductPool(
            id=f"1:{number}", token0=first, token1=second, reserve0=held, reserve1=other, fee_pips=0, gas=gas,
            protocol="uniswap_v2",
        )
        for number, (first, second, held, other) in enumerate(pools)
    ]  # fmt: skip
    return Router(Snapshot(markets, gas_prices={1: 100}))


def even(first: Token, second: Token, whole: float) -> Reserves:
    return first, second, int(whole) * ETHER, int(whole) * ETHER


SCENARIOS = {
    "symmetric": ([even(A, B, 1e6)] * 2, B, 100_000, 90_909_090_909_090_904_090_909, 95_238_095_238_095_226_709_344),
    "asymmetric": (
        [even(A, B, 1e6), even(A, B, 5e5)], B, 200_000, 166_666_666_666_666_661_666_666,
        176_470_588_235_294_087_103_232,
    ),
    "no alternative": ([even(A, B, 1e6)], B, 100_000, 90_909_090_909_090_904_090_909, 90_909_090_909_090_904_090_909),
    "bottleneck": (
        [even(A, B, 1e7), even(B, C, 1e6), even(B, C, 5e5)], C, 200_000, 163_934_426_229_508_186_721_311,
        173_410_404_624_277_448_881_280,
    ),
    "double": (
        [even(A, B, 1e6), even(A, B, 5e5), even(B, C, 5e5), even(B, C, 1.5e6)], C, 500_000,
        272_727_272_727_272_717_272_727, 315_789_473_684_210_526_295_789,
    ),
}  # fmt: skip
"""Pools, token bought, whole tokens sold, net output of the best single path, and of the optimum."""


def ask(target: Token, amount: int) -> RouteRequest:
    return RouteRequest(token_in=A, token_out=target, amount=amount)


def count_ways(route: Route) -> int:
    return sum(hop.token_in == A for hop in route.hops)


@pytest.mark.parametrize("name", SCENARIOS)
def test_published_scenarios(name: str) -> None:
    pools, target, sold, single, best = SCENARIOS[name]
    router, request = make_router(pools), ask(target, sold * ETHER)
    board = Board(router, request)
    way = find_path(board, list_steps(board.markets.values()), request.amount, 4)
    route = board.build_route(((request.amount, way),))
    assert route is not None
    assert route.amount_out_net == single
    # Fynd's own tests ask for 5 %, and of water_fill for 10 % where both hops are divided differently.
    for found, loss in (
        (WaterFill(router, max_hops=4).find_route(request), 0.1 if name == "double" else 0.05),
        (PathFrankWolfe(router, max_hops=4, options=SEARCHED).find_route(request), 0.05),
    ):
        assert found is not None
        assert found.amount_out_net >= (1 - loss) * best
        assert found.amount_out_net > single or single == best
        assert found.amount_out_net <= router.find_routes(request).best().amount_out_net + 1e-9 * best


def test_gas_can_be_dearer_than_what_a_division_gives() -> None:
    router, request = make_router([(A, B, 20_000_000, 20_000_000)] * 2), ask(B, 10_000_000)
    for found in (
        WaterFill(router, max_hops=4).find_route(request),
        PathFrankWolfe(router, max_hops=4, options=SEARCHED).find_route(request),
    ):
        assert found is not None
        assert len(found.hops) == 1
        assert found.amount_out_net == 1_666_666


@pytest.mark.parametrize(("gas_price", "pools_used"), [(100, 2), (50, 3)])
def test_frank_wolfe_stops_where_too_little_impact_is_left(gas_price: int, pools_used: int) -> None:
    """Three pools of 5,000, 2,000 sold: gas of 100 tokens a swap stops it after two pools, gas of 50 does not."""
    router = make_router([(A, B, 5_000, 5_000)] * 3, gas=1)
    request = RouteRequest(token_in=A, token_out=B, amount=2_000, gas_prices={1: gas_price})
    found = PathFrankWolfe(router, max_hops=2, options=Options(min_split=0.01)).find_route(request)
    assert found is not None
    assert len(found.hops) == pools_used


def test_probes_pay_for_a_ways_gas() -> None:
    assert find_probe(100_000, 0.001, 1_000_000, 0.25) == 0
    assert find_probe(1_000, 0.10, 1_000_000, 0.25) == 10_000
    assert find_probe(1_000, 0.0, 1_000_000, 0.25) == 0
    assert find_probe(1_000, 0.05, 10_000_000, 0.25) == 2 * find_probe(1_000, 0.10, 10_000_000, 0.25)


def test_a_peak_is_found_by_golden_sections() -> None:
    assert search_golden(lambda x: -((x - 0.3) ** 2), 40) == pytest.approx(0.3, abs=1e-6)


def test_two_equal_pools_are_filled_within_a_thousandth_of_the_optimum() -> None:
    """1,000 WETH and 3,000,000 USDC each, 500 WETH sold: 1,200,000 USDC at best."""
    dollars = 10**6
    pools = [(A, B, 1_000 * ETHER, 3_000_000 * dollars)] * 2
    found = WaterFill(make_router(pools)).find_candidates(ask(B, 500 * ETHER))
    exchanged = found["256 chunks, disjoint, exchanged"]
    assert count_ways(exchanged) == 2
    assert 0.999 * 1_200_000 * dollars <= exchanged.amount_out <= 1_200_000 * dollars


def ladder(name: str, first: Token, second: Token, price: float, most: int) -> Market:
    level = Level(most, 10**6, round(price * 10**6))
    return LadderMarket(id=name, protocol="orders", token_in=first, token_out=second, levels=(level,))


def test_water_is_filled_into_pools_of_which_none_holds_it_all() -> None:
    router = Router(Snapshot([ladder(name, A, B, 2, 800) for name in ("x", "y")], gas_prices={1: 0}))
    found = WaterFill(router).find_candidates(ask(B, 1_000))
    assert "single path" not in found
    assert all(route.amount_out == 2_000 and len(route.hops) == 2 for route in found.values())
    assert found


def test_the_worked_example_of_bellman_ford() -> None:
    prices = [(A, B, 2.0), (A, C, 5.0), (B, D, 3.0), (C, B, 0.5), (C, D, 4.0)]
    markets = [ladder(f"pool{n}", *ends, price, 10**9) for n, (*ends, price) in enumerate(prices, 1)]
    board = Board(Router(Snapshot(markets, gas_prices={1: 0})), ask(D, 1_000))
    way = find_path(board, list_steps(board.markets.values()), 1_000, 3)
    assert [market for market, *_ in way] == ["pool2", "pool5"]
    run = board.run(way, 1_000)
    assert run is not None
    assert run.amount_out == 20_000


def test_exchanging_gains_on_chunks_and_keeps_the_amount() -> None:
    router = make_router([even(A, B, 1e6), even(A, B, 3.1e5), even(A, B, 7e4)])
    board = Board(router, ask(B, 200_000 * ETHER))
    ways = choose_disjoint([(step,) for step in list_steps(board.markets.values())[A]])
    amounts = fill_disjoint(board, ways, COARSE, gated=True)
    moved = exchange(board, ways, list(amounts))
    assert sum(moved) == sum(amounts) == board.request.amount
    before, after = (
        board.build_route(tuple(zip(each, ways, strict=True))) for each in (amounts, moved)
    )  # fmt: skip
    assert before is not None
    assert after is not None
    assert after.amount_out > before.amount_out


@pytest.mark.shared_data
def test_single_paths_are_those_that_fynd_recorded(shared_data: Path) -> None:
    """Fynd 0.19.0 on its market at block 24,721,181: the same net outputs, but for how gas is valued."""
    market = recorded.market(shared_data, recorded.GOLDEN_RECORDING, recorded.GOLDEN_BLOCK)
    router = Router(market)
    water = WaterFill(router)
    scenarios, _ = recorded.golden(shared_data, market, 10**10)
    for scenario in scenarios:
        single = water.find_candidates(scenario.request)["single path"]
        assert abs(bps(single.amount_out_net, scenario.fynd_net)) < 0.03, scenario.name

"""How much of a token there can be, where shallow markets sell far too cheaply: tight, and never too little."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np

from benchmarks.peers.emulations import Emulations
from benchmarks.peers.replay import routes_of
from routing_engine import Router, RouteRequest, Snapshot, Token
from routing_engine.kernels.arrays import SplitProblem
from routing_engine.kernels.bound.flow_limits import clear_limits, fill_limits, tighten_limits
from routing_engine.markets import ConstantProductPool
from routing_engine.search.path_search import Search
from tests.differential.test_certificate import PATIENT_MS, excluded, own_rivals

UNIT, POOL_GAS = 10**18, 120_000
AMOUNT = 100 * UNIT
WETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
"""What is sold, so that gas has a price."""

SELL, HUB, OTHER, BUY = (
    Token(chain_id=1, address=address, symbol=symbol, decimals=18)
    for address, symbol in zip((WETH, *(f"0x{number:040x}" for number in (1, 2, 3))), "SHOB", strict=True)
)
CENTS = 10**-5
"""Part of the amount that a market of next to nothing holds."""


def pool(number: int, first: Token, second: Token, depth: float, price: float) -> ConstantProductPool:
    return ConstantProductPool(
        id=f"{number}", token0=first, token1=second, reserve0=int(depth), reserve1=int(depth * price), fee_pips=3000,
        gas=POOL_GAS, protocol="uniswap_v2",
    )  # fmt: skip


def market_with_dust(rng: random.Random, dust: int, direct_price: float) -> Snapshot:
    """Twelve pools sell the hub, of which some hold next to nothing and ask next to nothing for it."""
    pairs = [(SELL, HUB)] * 12 + [(SELL, OTHER)] * 9 + [(OTHER, HUB)] * 9 + [(HUB, BUY)] * 3
    pairs += [(OTHER, BUY)]
    cheap = set(rng.sample(range(30), dust))
    pools = [
        pool(
            number, *pair,
            depth=AMOUNT * (CENTS if number in cheap else 10 ** rng.uniform(0.5, 2.5)),
            price=rng.uniform(3.0, 30.0) if number in cheap else rng.uniform(0.998, 1.002),
        )
        for number, pair in enumerate(pairs)
    ]  # fmt: skip
    direct = pool(len(pools), SELL, BUY, depth=300 * AMOUNT, price=direct_price)
    return Snapshot([*pools, direct], gas_prices={1: 0})


def limits(router: Router, amount: int, max_hops: int, *, close: bool) -> np.ndarray:
    graph = router.graph
    state, workspace = Search(graph).get_memory()
    is_adjacent = workspace.scratch.is_adjacent
    problem = SplitProblem(
        graph=graph.arrays, allowed=graph.every_market, wraps=graph.wraps, gas=np.zeros(1), start=graph.index[SELL],
        end=graph.index[BUY], max_hops=max_hops, amount=float(amount),
    )  # fmt: skip
    size = fill_limits(problem, state, is_adjacent, False)
    if close:
        tighten_limits(problem, state, is_adjacent)
    found = state.limit.copy()
    clear_limits(state, size)
    for left in (state.inflow.most, state.limit, state.supply.most, state.inflow.has_surplus, is_adjacent):
        assert not left.any()
    return found


def test_a_limit_is_no_less_than_what_the_best_route_brings_and_little_more() -> None:
    lowered = 0
    for seed in range(30):
        rng = random.Random(f"dust {seed}")
        router = Router(market_with_dust(rng, dust=rng.randint(0, 6), direct_price=0.9))
        loose, close = (limits(router, AMOUNT, 4, close=close) for close in (False, True))
        for token in (HUB, OTHER):
            place = router.graph.index[token]
            most = router.find_routes(RouteRequest(token_in=SELL, token_out=token, amount=AMOUNT, max_hops=3))
            assert close[place] >= most.best().amount_out
            assert close[place] <= loose[place]
            if loose[place] > 1.5 * most.best().amount_out:
                lowered += 1
                assert close[place] < 1.1 * most.best().amount_out
    assert lowered > 20


def test_no_rival_is_excluded_where_there_are_dust() -> None:
    gaps = []
    for seed in range(20):
        rng = random.Random(f"rivals {seed}")
        # At the higher price the direct way leaves only the dust to the others.
        router = Router(market_with_dust(rng, dust=rng.randint(1, 6), direct_price=rng.choice((0.9, 1.05))))
        emulations = Emulations(router, max_hops=4)
        for gas_price in (0, 10**9, 10**10, 10**11, 10**13):
            request = RouteRequest(
                token_in=SELL, token_out=BUY, amount=int(AMOUNT * 10 ** rng.uniform(-3, 0.5)), max_hops=4,
                gas_prices={1: gas_price}, time_budget_ms=PATIENT_MS,
            )  # fmt: skip
            result = router.find_routes(request)
            assert result.certificate is not None
            assert result.best().gas_priced or not gas_price
            answers = [
                *(emulations.chunked(request, count) for count in (1, 2, 5, 16, 50)),
                *(emulations.disjoint(request, count) for count in (2, 4, 8)),
            ]
            rivals = [route for answer in answers for route in routes_of(router, request, answer)]
            for rival in (*rivals, *own_rivals(router, request)):
                assert not excluded(result, rival), (seed, gas_price)
            for splits in (1, 2):
                assert not excluded(router.find_routes(replace(request, max_splits=splits)), result.best())
            if result.certificate.gap_bps is not None:
                gaps.append(result.certificate.gap_bps)
    assert len(gaps) > 40

"""What certificates leave out: nothing that a better route uses, and most dust; what is left at a token is little."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np

from routing_engine import Hop, Route, Router, RouteRequest, Snapshot, Token
from routing_engine.deadline import Budget
from routing_engine.kernels.arrays import SplitProblem
from routing_engine.kernels.bound.exclusion import exclude_edges
from routing_engine.kernels.bound.flow_limits import clear_limits, fill_limits
from routing_engine.kernels.split.flow_network import MergedPaths, create_network
from routing_engine.kernels.split.newton_allocation import FINE
from routing_engine.kernels.split.pruning import optimise
from routing_engine.markets import ConstantProductPool
from routing_engine.search.allocations.allocation import Allocation
from routing_engine.search.paths.path_search import Search
from tests.differential.test_certificate import PATIENT_MS, excluded, own_rivals
from tests.support.dirty_markets import make_market
from tests.support.emulations import Emulations
from tests.support.kernels import expose
from tests.support.peer_routes import routes_of

UNIT, POOL_GAS = 10**18, 120_000
AMOUNT = 100 * UNIT
WETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
"""What is sold, so that gas has a price."""

SELL, HUB, OTHER, BUY = (
    Token(chain_id=1, address=address, symbol=symbol, decimals=18)
    for address, symbol in zip((WETH, *(f"0x{number:040x}" for number in (1, 2, 3))), "SHOB", strict=True)
)
ROUNDED = 1e-4
"""Part by which a market may round a fee of few units in favour of who swaps: what kernels prove is without rounding.
"""
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


@dataclass(frozen=True)
class Exclusion:
    """What may be left out, knowing a route: edges, what is at a token, and what no route nets more than."""

    floor: float
    bound: float
    closed: np.ndarray
    loose: np.ndarray
    close: np.ndarray


def exclude(router: Router, request: RouteRequest, known: Route) -> Exclusion:
    """Exclude what no route uses that is better than a known single path."""
    graph = router.graph
    state, workspace = Search(graph).get_memory()
    start, end = graph.index[request.token_in], graph.index[request.token_out]
    gas = graph.gas_cost(request.gas_prices)
    problem = SplitProblem(
        graph=graph.arrays, allowed=graph.every_market, wraps=graph.wraps, gas=gas * graph.units[end],
        units=graph.settled_units(gas), start=start, end=end, max_hops=request.max_hops, amount=float(request.amount),
        least_price=0.0, work=Budget(float, None).work,
    )  # fmt: skip
    path = [edge_of(router, hop) for hop in known.hops]
    paths = Allocation.from_parts([(path, float(request.amount))], 1, request.max_hops).paths
    network = create_network(1, request.max_hops, problem.work)
    net, count, total = expose(optimise)(paths, 1, problem, network, FINE)
    reached = fill_limits(problem, state, workspace.scratch.is_adjacent, False)
    loose = state.limit.copy()
    merged = MergedPaths(graph.arrays, network, count, total)
    bound, again = expose(exclude_edges)(problem, state, workspace, merged, reached, net)
    found = Exclusion(net, bound, state.closed.copy(), loose, state.limit.copy())
    clear_limits(problem, state, again)
    for left in (
        state.inflow.most,
        state.limit,
        state.room,
        state.losses.price,
        state.multiplier,
        workspace.scratch.is_adjacent,
    ):
        assert not left.any()
    return found


def edge_of(router: Router, hop: Hop) -> int:
    graph = router.graph
    ends = hop.token_in, hop.token_out
    return next(edge for edge in graph.find_edges(hop.market_id) if graph.edge_ends(edge)[1:] == ends)


def check(router: Router, request: RouteRequest, floor: float, found: Exclusion) -> int:
    """Compare with the best route that is known; return 1 if it is better than what was known before."""
    best = router.find_routes(replace(request, time_budget_ms=PATIENT_MS)).best()
    if best.net_amount <= floor * (1 + ROUNDED):
        return 0
    assert found.bound >= best.net_amount * (1 - ROUNDED)
    arrived: dict[Token, int] = defaultdict(int)
    for hop in best.hops:
        assert not found.closed[edge_of(router, hop)], hop
        arrived[hop.token_out] += hop.amount_out
    for token, amount in arrived.items():
        assert amount <= found.close[router.graph.index[token]] * (1 + ROUNDED), token
    return 1


def test_nothing_is_left_out_that_a_better_route_uses() -> None:
    better = closed = edges = 0
    for seed in range(300):
        rng = random.Random(f"left out {seed}")
        if seed % 2:
            markets, first, last = make_market(rng)
            router = Router(Snapshot(markets, gas_prices={1: 0}))
            amount = int(10 ** (first.decimals + rng.uniform(-1, 5)))
        else:
            router = Router(market_with_dust(rng, dust=rng.randint(0, 8), direct_price=rng.choice((0.9, 0.999, 1.05))))
            first, last, amount = SELL, BUY, int(AMOUNT * 10 ** rng.uniform(-4, 1))
        request = RouteRequest(
            token_in=first, token_out=last, amount=amount, max_hops=4, gas_prices={1: int(10 ** rng.uniform(5, 11))}
        )
        single = router.find_routes(replace(request, max_splits=1))
        if not single.routes or single.best().net_amount <= 0:
            continue
        found = exclude(router, request, single.best())
        better += check(router, request, found.floor, found)
        closed, edges = closed + int(found.closed.sum()), edges + found.closed.size
    assert better > 60
    assert closed > 0.1 * edges


def test_a_limit_is_no_less_than_what_the_best_route_brings_and_little_more() -> None:
    lowered = 0
    for seed in range(30):
        rng = random.Random(f"dust {seed}")
        router = Router(market_with_dust(rng, dust=rng.randint(0, 6), direct_price=0.9))
        request = RouteRequest(token_in=SELL, token_out=BUY, amount=AMOUNT, max_hops=4, gas_prices={1: 10**11})
        found = exclude(router, request, router.find_routes(replace(request, max_splits=1)).best())
        for token in (HUB, OTHER):
            place = router.graph.index[token]
            most = router.find_routes(RouteRequest(token_in=SELL, token_out=token, amount=AMOUNT, max_hops=3))
            assert found.close[place] <= found.loose[place]
            if found.loose[place] > 1.5 * most.best().amount_out:
                lowered += 1
                assert found.close[place] < 1.2 * most.best().amount_out
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

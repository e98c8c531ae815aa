"""Networks of markets in exact integers: what they spend and give, forwards and backwards."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from routing_engine import Hop, QuoteRefused, Route, Router, RouteRequest, Snapshot
from routing_engine.graph.graph import Graph
from routing_engine.paths import decompose
from routing_engine.search.replays.flow_replay import FlowPlan
from routing_engine.search.replays.room import replay_with_room
from tests.support.markets import market_of, random_markets, token

UNIT = 10**18
DIAMOND = """
    ab1: A B 1000 1000 30bps
    ab2: A B 1000 1000 5bps
    ac: A C 500 500 30bps
    bd: B D 100000 100000 30bps
    cd: C D 700 600 30bps
"""


def plan_of(graph: Graph, route: Route) -> FlowPlan:
    """Return the network that a route's hops are a replay of."""
    ends = {graph.edge_ends(edge): edge for edge in range(graph.source.size)}
    edges = [ends[graph.markets[graph.market_index[hop.market_id]], hop.token_in, hop.token_out] for hop in route.hops]
    plan = FlowPlan.of(graph, edges, [float(hop.amount_in) for hop in route.hops])
    spent = dict(zip(edges, [hop.amount_in for hop in route.hops], strict=True))
    return replace(plan, weights=tuple(spent[edge] for edge in plan.edges))


def asked(router: Router, side: str, amount: int, end: str = "D", **options: int) -> Route:
    request = RouteRequest(token_in=token("A"), token_out=token(end), amount=amount, side=side, **options)
    return router.find_routes(request).best()


def test_backwards_and_forwards_meet() -> None:
    router = Router(Snapshot(market_of(DIAMOND)))
    route = asked(router, "exact_in", 300 * UNIT)
    plan = plan_of(router.graph, route)
    outputs = [hop.amount_out for hop in plan.replay(route.amount_in)]
    backwards = plan.plan_backwards(outputs, route.amount_out)
    assert len(plan.edges) == 5
    for spent in (backwards.amount_in, backwards.amount_in - 1, route.amount_in // 2):  # known hops, some, none
        assert backwards.replay(spent) == replace(backwards, hops=()).replay(spent)
    assert abs(backwards.amount_in - route.amount_in) <= 5 + route.amount_in * 1e-15
    assert 0 <= backwards.add_up_output(backwards.replay(backwards.amount_in)) - route.amount_out <= 5


def test_a_full_market_is_kept_full_and_others_give_the_rest() -> None:
    lanes = "cheap: B@1 > B@10 max=100 1bps 60s\ndear: B@1 > B@10 fee=1 5bps 60s\nab: A B 1000 1000 30bps"
    router = Router(Snapshot(market_of(lanes)))
    route = asked(router, "exact_out", 290 * UNIT, end="B@10")
    plan = plan_of(router.graph, route)
    cheap = next(hop for hop in route.hops if hop.market_id == "cheap")
    assert 0 <= route.amount_out - 290 * UNIT <= 5
    assert 99 * UNIT < cheap.amount_in <= 100 * UNIT
    assert route.amount_in < asked(router, "exact_out", 290 * UNIT, end="B@10", max_splits=1).amount_in
    uneven = plan.plan_backwards([10**6, 1, 1], 290 * UNIT)
    assert 0 <= uneven.add_up_output(uneven.replay(uneven.amount_in)) - 290 * UNIT <= 20
    with pytest.raises(QuoteRefused):
        plan.plan_backwards([1, 1, 1], 10**6 * UNIT)


CROWDED = """
    ab: A B 100000 100000 30bps
    bc: B C 100000 100000 30bps
    full: C > D@10 max=100 1bps 60s
    other: A > D@10 max=1000 100bps 60s
"""


def crowded_plan(text: str, too_much: int, *names: str) -> FlowPlan:
    """Return a plan by which so much more arrives at the lane ``full`` than it takes; the rest goes over ``other``."""
    graph = Router(Snapshot(market_of(text))).graph
    markets = {market.id: market for market in graph.markets}
    needed, edges, flows = 100 * UNIT + too_much, list[int](), list[float]()
    for name in reversed(names):
        edge = next(edge for edge in graph.find_edges(name) if graph.edge_ends(edge)[2] in (token("B"), token("C")))
        _, token_in, token_out = graph.edge_ends(edge)
        needed = markets[name].swap_exact_out(token_in, token_out, needed)[0].amount_in
        edges, flows = [edge, *edges], [needed, *flows]
    edges += [graph.find_edges(name)[0] for name in ("full", "other") if name in markets]
    return FlowPlan.of(graph, edges, [*flows, 100.0 * UNIT, 50.0 * UNIT][: len(edges)])


@pytest.mark.parametrize("too_much", [UNIT // 10**10, UNIT // 10**5])
def test_less_arrives_at_a_market_that_is_full_and_others_take_it(too_much: int) -> None:
    plan = crowded_plan(CROWDED, too_much, "ab", "bc")
    with pytest.raises(QuoteRefused):
        plan.replay(plan.amount_in)
    eased, hops = replay_with_room(plan, plan.amount_in)
    spent = {hop.market_id: hop.amount_in for hop in hops}
    assert spent["ab"] + spent["other"] == plan.amount_in
    assert 100 * UNIT * (1 - 2e-6) < spent["full"] <= 100 * UNIT
    assert hops == eased.replay(plan.amount_in)


def test_full_markets_beside_the_one_that_is_eased_get_no_more_than_before() -> None:
    """Nearly all goes to two that are full; what one of them is spared is no more than the rest can take."""
    pairs = "\n".join(f"a{name}: A {name} 100000 100000 30bps\n{name}: {name} > D@10 max=100 1bps 60s" for name in "BC")
    graph = Router(Snapshot(market_of(f"{pairs}\nother: A > D@10 max=1000 100bps 60s"))).graph
    ways = [
        next(edge for edge in graph.find_edges(f"a{name}") if graph.edge_ends(edge)[1] == token("A")) for name in "BC"
    ]
    needed = [graph.edge_ends(edge)[0].swap_exact_out(*graph.edge_ends(edge)[1:], 100 * UNIT)[0] for edge in ways]
    lanes = [graph.find_edges(name)[0] for name in ("B", "C", "other")]
    flows = [*(float(hop.amount_in) for hop in needed), 100.0 * UNIT, 100.0 * UNIT, 0.5 * UNIT]
    plan = FlowPlan.of(graph, [*ways, *lanes], flows)
    more = int(plan.amount_in * 1.0001)
    _, hops = replay_with_room(plan, more)
    spent = {hop.market_id: hop.amount_in for hop in hops}
    assert sum(hop.amount_in for hop in hops if hop.token_in == token("A")) == more
    assert all(100 * UNIT * (1 - 3e-4) < spent[name] <= 100 * UNIT for name in "BC")


def test_an_edge_of_next_to_nothing_is_asked_for_a_unit_at_least() -> None:
    router = Router(Snapshot(market_of("ab: A B 1000 1000 30bps\nab1: A B 1000 1000 30bps")))
    plan = plan_of(router.graph, asked(router, "exact_in", 10 * UNIT, end="B"))
    backwards = plan.plan_backwards([10**30, 1], 10 * UNIT)
    assert min(backwards.weights) >= 1
    assert backwards.add_up_output(backwards.replay(backwards.amount_in)) >= 10 * UNIT


def test_where_nothing_takes_what_a_full_market_declines_the_plan_is_refused() -> None:
    alone = "\n".join(line for line in CROWDED.splitlines() if "other" not in line)
    plan = crowded_plan(alone, UNIT // 10**10, "ab", "bc")
    with pytest.raises(QuoteRefused):
        replay_with_room(plan, plan.amount_in)


def test_of_an_exact_out_network_not_one_unit_of_input_can_be_spared() -> None:
    plans = 0
    for seed in range(60):
        rng = random.Random(f"spare {seed}")
        router = Router(Snapshot(random_markets(rng)))
        tokens = sorted(router.graph.tokens, key=str)
        if len(tokens) < 2:
            continue
        token_in, token_out = rng.sample(tokens, 2)
        amount = int(10 ** rng.uniform(0, 5) * 10**token_out.decimals)
        request = RouteRequest(token_in=token_in, token_out=token_out, amount=amount, side="exact_out")
        for route in router.find_routes(request).routes:
            plan = plan_of(router.graph, route)
            if len(route.paths) == 1:
                continue
            plans += 1
            assert plan.add_up_output(plan.replay(route.amount_in)) >= amount
            try:
                assert plan.add_up_output(plan.replay(route.amount_in - 1)) < amount, seed
            except QuoteRefused:
                continue
    assert plans > 7


def test_no_path_takes_nothing() -> None:
    """One unit becomes ten, which two markets share: one path shows the unit, the other would show none."""
    a, b, c = token("A"), token("B"), token("C")
    hops = tuple(
        Hop(market_id=name, protocol="p", token_in=first, token_out=second, amount_in=given, amount_out=taken)
        for name, first, second, given, taken in (("in", a, b, 1, 10), ("one", b, c, 5, 5), ("two", b, c, 5, 6))
    )
    (path,) = decompose(hops, a, c)
    assert (path.amount_in, len(path.hops)) == (1, 2)

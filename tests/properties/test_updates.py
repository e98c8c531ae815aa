"""Updates: a graph that is written over equals one that is compiled anew, and disturbs nobody who searches."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from routing_engine import Router, RouteRequest, RouteResult, Snapshot
from routing_engine.errors import QuoteRefused
from routing_engine.graph.graph import Graph
from routing_engine.kernels.arrays import EDGE
from routing_engine.market import Market
from routing_engine.markets import BridgeLane, ConstantProductPool
from routing_engine.model import Token
from routing_engine.snapshot import content_hash
from routing_engine.snapshot.content_hash import digest
from tests.support.balancer_pools import linear_pools, stable_pools, v1_pools, weighted_pools
from tests.support.cryptoswap import cryptoswap_pools
from tests.support.deep_strategies import bancor_pools, ekubo_pools, fluid_pools, vaults
from tests.support.ladders import ladders, stargate_lanes
from tests.support.markets import market_of, random_markets, token
from tests.support.solidly import solidly_pools
from tests.support.stableswap import stableswap_pools
from tests.support.strategies import concentrated_pools, constant_product_pools, lanes

SANDBOX = Snapshot.sandbox()
SEARCHERS = 2
KINDS = (
    bancor_pools(), concentrated_pools(), constant_product_pools(), cryptoswap_pools(), ekubo_pools(), fluid_pools(),
    ladders(), lanes(), linear_pools(), solidly_pools(), stable_pools(), stableswap_pools(), stargate_lanes(),
    v1_pools(), vaults(), weighted_pools(),
)  # fmt: skip


def assert_same(one: Graph, other: Graph) -> None:
    """Check that two graphs have the same arrays, to the bit."""
    assert (one.tokens, one.chains, one.protocols) == (other.tokens, other.chains, other.protocols)
    assert one.markets == other.markets
    assert (one.charging, one.gas_prices) == (other.charging, other.gas_prices)
    for mine, theirs in ((one.forward, other.forward), (one.reverse, other.reverse)):
        assert np.array_equal(mine.first, theirs.first)
        for name in EDGE.names or ():
            assert np.array_equal(mine.edges[name], theirs.edges[name]), name
        assert np.array_equal(mine.links, theirs.links)
    assert np.array_equal(one.pieces, other.pieces)
    assert np.array_equal(one.source, other.source)
    assert np.array_equal(one.prices, other.prices)
    assert np.array_equal(one.units, other.units)
    for followed, compiled in zip(one.roundings, other.roundings, strict=True):
        assert np.array_equal(followed, compiled)


def traded(rng: random.Random, market: Market) -> Market:
    """Return the market after a trade that is small against its depth, or as it is where it declines."""
    edges = market.edges()
    if not edges:
        return market
    token_in, token_out = rng.choice(edges)
    curve, limits = market.curve(token_in, token_out), market.limits(token_in, token_out)
    _, _, _, b, c = curve.pieces[0].tolist()
    depth = min(b / c if c else curve.x_max, curve.x_max, 1e40)
    amount = max(limits.min_amount_in, int(depth * 10 ** rng.uniform(-5, -1)))
    try:
        return market.swap_exact_in(token_in, token_out, amount)[1]
    except QuoteRefused:
        return market


def edges_of(markets: Iterable[Market]) -> list[object]:
    return [(type(market), market.edges()) for market in markets]


@settings(max_examples=10, deadline=None, derandomize=True)
@given(drawn=st.tuples(*(st.lists(pools, min_size=1, max_size=2) for pools in KINDS)), seed=st.integers(0, 2**32))
def test_every_kind_of_market_is_written_as_it_would_be_compiled(drawn: Any, seed: int) -> None:
    rng = random.Random(seed)
    first: dict[Token, int] = {}  # of a token's decimals a snapshot knows one number
    markets: list[Any] = [
        market
        for kind in drawn
        for market in kind
        if all(first.setdefault(each, each.decimals) == each.decimals for each in market.tokens)
    ]
    snapshot = Snapshot([replace(market, id=str(number)) for number, market in enumerate(markets)])
    graph: Graph | None = Graph.compile(snapshot.markets.values())
    for _ in range(3):
        assert graph is not None
        chosen = rng.sample(list(snapshot.markets.values()), rng.randint(1, len(markets)))
        following = snapshot.apply([traded(rng, market) for market in chosen])
        states = following.changed_since(snapshot)
        assert states is not None
        graph = graph.apply(states)
        expected = Graph.compile(following.markets.values())
        keeps_edges = edges_of(snapshot.markets.values()) == edges_of(following.markets.values())
        assert (graph is not None) == keeps_edges
        if graph:
            assert_same(graph, expected)
        graph, snapshot = expected if graph is None else graph, following


def test_a_whole_market_is_updated_again_and_again() -> None:
    rng = random.Random(5)
    snapshot, router = SANDBOX, Router(SANDBOX)
    updates = 0
    for _ in range(4):
        chosen = rng.sample(list(snapshot.markets.values()), 60)
        snapshot = snapshot.apply([traded(rng, market) for market in chosen])
        states = snapshot.changed_since(router.snapshot)
        assert states is not None
        updates += router.graph.apply(states, snapshot.gas_prices) is not None
        router = router.follow(snapshot)
        assert_same(router.graph, Graph.compile(snapshot.markets.values(), snapshot.gas_prices))
    assert updates > 1


def test_routes_after_updates_are_those_of_a_new_router() -> None:
    found = 0
    for seed in range(60):
        rng = random.Random(seed)
        markets = random_markets(rng)
        snapshot = Snapshot(markets, gas_prices={1: 10**10, 10: 10**7})
        tokens = sorted({each for market in markets for each in market.tokens}, key=str)
        if len(tokens) < 2:
            continue
        router = Router(snapshot)
        for _ in range(3):
            news = [traded(rng, market) for market in rng.sample(markets, rng.randint(0, len(markets)))]
            snapshot = snapshot.apply(news, gas_prices={1: rng.randrange(10**11)})
            router = router.follow(snapshot)
            token_in, token_out = rng.sample(tokens, 2)
            request = RouteRequest(
                token_in=token_in, token_out=token_out, amount=int(10 ** rng.uniform(0, 3) * 10**token_in.decimals),
                alternatives=2,
            )  # fmt: skip
            result = router.find_routes(request)
            assert result == Router(snapshot).find_routes(request), seed
            found += bool(result.routes)
    assert found > 60


def test_gas_prices_change_what_lanes_charge_in_coin() -> None:
    lanes_out = market_of("lane: A@1 > A@10 60s\nother: A@1 > A@10 5bps 5s\nab: A B 100 100 30bps")
    markets = [lanes_out[2], replace(cast(BridgeLane, lanes_out[0]), native_fee=10**15), lanes_out[1]]
    cheap, dear = {1: 10**9}, {1: 5 * 10**9}
    graph = Graph.compile(markets, cheap)
    assert graph.charging == {1}
    updated = graph.apply([], dear)
    assert updated is not None
    assert_same(updated, Graph.compile(markets, dear))
    assert not np.array_equal(updated.forward.edges["gas"], graph.forward.edges["gas"])
    waived = updated.apply([lanes_out[0]], dear)
    assert waived is not None
    assert waived.charging == frozenset()
    assert_same(waived, Graph.compile([markets[0], lanes_out[0], markets[2]], dear))


def pool(name: str, reserve0: int, **changes: object) -> ConstantProductPool:
    fixed = {"protocol": "v2", "token0": token("A"), "token1": token("B"), "reserve1": 10**20, "fee_pips": 3000}
    return ConstantProductPool(id=name, reserve0=reserve0, **fixed | changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "news",
    [
        [pool("new", 10**20)],
        [pool("x", 0)],  # closed in one direction
        [pool("x", 10**20, token1=token("C"))],
        [pool("x", 10**20, token0=token("B"), token1=token("A"))],
        [pool("x", 10**20, protocol="v3")],
        market_of("x: A@1 > A@10 60s"),
    ],
)
def test_what_changes_the_edges_is_compiled_anew(news: list[Market]) -> None:
    snapshot = Snapshot([pool("x", 10**20), pool("y", 10**21)])
    router = Router(snapshot)
    assert router.graph.apply(news, snapshot.gas_prices) is None
    following = snapshot.apply(news)
    assert_same(router.follow(following).graph, Graph.compile(following.markets.values()))


def test_markets_may_come_go_and_return() -> None:
    first = Snapshot([pool("x", 10**20), pool("y", 10**21)])
    removed = first.apply(removed=["x"])
    back = removed.apply([pool("x", 10**20)])
    router = Router(first)
    for snapshot in (removed, back, first):
        router = router.follow(snapshot)
        assert router.snapshot is snapshot
        assert_same(router.graph, Graph.compile(snapshot.markets.values()))
    assert first.id == back.id
    assert first.changed_since(back) is None  # in another order
    assert removed.changed_since(first) is None


def test_a_snapshot_knows_what_changed() -> None:
    first = Snapshot([pool("x", 10**20), pool("y", 10**21)])
    second = first.apply([pool("x", 5)])
    third = second.apply([pool("y", 6), pool("x", 7)])
    assert first.changed_since(first) == []
    assert second.changed_since(first) == (pool("x", 5),)
    assert third.changed_since(second) == (pool("y", 6), pool("x", 7))
    assert third.changed_since(first) == [pool("x", 7), pool("y", 6)]
    assert first.changed_since(third) == [pool("x", 10**20), pool("y", 10**21)]
    assert Snapshot([pool("x", 5), pool("y", 10**21)]).changed_since(second) == []


def test_ids_do_not_depend_on_when_they_are_asked_for() -> None:
    rng = random.Random(3)
    lazy = eager = Snapshot([pool(str(number), 10**20) for number in range(9)])
    assert eager.id
    for _ in range(20):
        news = [pool(str(rng.randrange(12)), rng.randrange(1, 10**20)) for _ in range(rng.randint(0, 3))]
        gone = [str(rng.randrange(12))] if rng.random() < 0.3 else []
        eager, lazy = (each.apply(news, removed=gone) for each in (eager, lazy))
        assert eager.id == Snapshot(eager.markets.values()).id
    assert lazy.id == eager.id


def test_a_state_that_was_hashed_is_not_hashed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[Market] = []

    def counted(market: Market, *write: Callable[[Market], str]) -> int:
        hashed.append(market)
        return digest(market, *write)

    snapshot = Snapshot([pool("x", 10**20), pool("y", 10**21)])
    assert snapshot.id
    monkeypatch.setattr(content_hash, "digest", counted)
    states = [pool("x", 10**20 + step) for step in range(1, 5)]
    for state in states:
        snapshot = snapshot.apply([state])
        assert snapshot.id
    assert hashed == [pool("x", 10**20), *states]
    removed = snapshot.apply(removed=["x"])
    assert removed.id
    assert hashed == [pool("x", 10**20), *states]
    assert removed.apply(states[-1:]).id == snapshot.id == Snapshot([states[-1], pool("y", 10**21)]).id


def blocks(snapshot: Snapshot, count: int) -> Iterator[Snapshot]:
    rng = random.Random(1)
    for _ in range(count):
        news = [traded(rng, market) for market in rng.sample(list(snapshot.markets.values()), 20)]
        snapshot = snapshot.apply(news)
        yield snapshot


def test_searches_go_on_while_updates_come_in() -> None:
    """Each result is exact on the snapshot that it names, and each snapshot is searched, whatever comes meanwhile."""
    ends = [SANDBOX.token(name) for name in ("WETH@1", "USDC@1", "USDC@8453")]
    shared = [Router(SANDBOX)]
    finished = threading.Condition()
    results: list[tuple[Snapshot, RouteResult, bool]] = []
    is_over = threading.Event()

    def search(seed: int) -> None:
        rng = random.Random(seed)
        while not is_over.is_set():
            router = shared[-1]
            before = [order.edges.tobytes() for order in (router.graph.forward, router.graph.reverse)]
            request = RouteRequest(
                token_in=ends[0], token_out=ends[rng.randint(1, 2)], amount=rng.randrange(10**17, 3 * 10**18)
            )
            result = router.find_routes(request)
            after = [order.edges.tobytes() for order in (router.graph.forward, router.graph.reverse)]
            with finished:
                results.append((router.snapshot, result, before == after))
                finished.notify_all()

    threads = [threading.Thread(target=search, args=(seed,), daemon=True) for seed in range(SEARCHERS)]
    for thread in threads:
        thread.start()
    for snapshot in blocks(SANDBOX, 8):
        shared.append(shared[-1].follow(snapshot))
        del shared[:-2]
        with finished:  # when so many have ended, at least one of them has begun since
            enough = len(results) + SEARCHERS + 1
            assert finished.wait_for(lambda enough=enough: len(results) >= enough, timeout=120)
    is_over.set()
    for thread in threads:
        thread.join()
    assert len({snapshot.id for snapshot, _, _ in results}) >= 8
    for snapshot, result, was_undisturbed in results:
        assert was_undisturbed
        assert result.snapshot_id == snapshot.id
        for hop in result.best().hops:
            market = snapshot.markets[hop.market_id]
            assert market.swap_exact_in(hop.token_in, hop.token_out, hop.amount_in)[0] == hop


def test_curves_that_are_written_together_are_those_of_each_pool() -> None:
    rng = random.Random(2)
    pools = [
        replace(pool(str(n), int(10 ** rng.uniform(0, 33))), reserve1=int(10 ** rng.uniform(0, 33)), fee_pips=n * 100)
        for n in range(400)
    ]
    graph = Graph.compile(pools)
    assert graph.forward.edges.size == sum(len(each.edges()) for each in pools)
    for row in range(graph.forward.edges.size):
        market, token_in, token_out = graph.edge_ends(row)
        edge, curve = graph.forward.edges[row], market.curve(token_in, token_out)
        assert [edge[name] for name in ("x0", "y0", "a", "b", "c")] == curve.pieces[0].tolist()
        assert edge["x_max"] == pytest.approx(curve.x_max, rel=1e-15)
        assert edge["x_min"] == pytest.approx(curve.x_min, rel=1e-12, abs=1.0)
        assert (edge["gas"], edge["n_pieces"], edge["time"]) == (curve.gas, 1, 0.0)

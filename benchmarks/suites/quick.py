"""Generated markets that need no data: two minutes with all peers that run in Python."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.harness.suite import Arena, Case, Group
from benchmarks.instances import CONSISTENT, LOOPS, SIZES, constant_product_market, queries
from benchmarks.measure import PATIENT_MS, gas_price, request_of
from routing_engine import Router, RouteRequest, Snapshot

GENERATED = "generated"
POOLS_PER_TOKEN = 4
POOLS, LARGER = 800, (4_000, 20_000)
SMALL = SIZES[1:3]
"""Of the depth of a pair: what most trades are."""

SANDBOX_ENDS = ("WETH@1", "USDC@1", "USDC@8453", "WETH@10", "USDT@42161")
BOUGHT = (
    ("WETH@1", "USDC@1", "5000"),
    ("USDC@1", "WETH@1", "25"),
    ("USDT@1", "WBTC@1", "1"),
    ("WETH@1", "DAI@1", "90000"),
)
"""Pairs, and whole tokens bought."""


def list_arenas(pairs: int = 3) -> Iterator[Arena]:
    """Yield the markets, of which those of several sizes tell growth.

    Parameters
    ----------
    pairs : int
        Pairs for each size of trade.
    """
    yield _make_generated("prices agree", POOLS, CONSISTENT, pairs)
    yield _make_generated("prices disagree", POOLS, LOOPS, pairs)
    yield _make_sandbox()
    for pools in LARGER:
        yield make_larger(pools, pairs)


def _make_generated(name: str, pools: int, disagreement: float, pairs: int) -> Arena:
    snapshot = constant_product_market(tokens=pools // POOLS_PER_TOKEN, pools=pools, disagreement=disagreement)
    router = Router(snapshot)
    asked = queries(router, pairs)
    free = tuple(Case(request=request_of(query, gas_prices={1: 0})) for query in asked)
    costly = tuple(Case(request=request_of(query, gas_prices={1: gas_price(router, query)})) for query in asked)
    return Arena(
        name=f"{name}, {pools:,} pools", source=GENERATED, snapshot=snapshot, grows=disagreement == CONSISTENT,
        groups=(Group(name=f"{name}, gas free", cases=free), Group(name=f"{name}, 1 bps a pool", cases=costly)),
    )  # fmt: skip


def make_larger(pools: int, pairs: int) -> Arena:
    """Return a market of one of several sizes, whose prices agree; trades are small, and gas is free."""
    snapshot = constant_product_market(tokens=pools // POOLS_PER_TOKEN, pools=pools)
    asked = queries(Router(snapshot), pairs, SMALL)
    cases = tuple(Case(request=request_of(query, gas_prices={1: 0})) for query in asked)
    group = Group(name=f"{pools:,} pools, gas free", cases=cases)
    return Arena(name=f"{pools:,} pools", source=GENERATED, snapshot=snapshot, groups=(group,), grows=True)


def _make_sandbox() -> Arena:
    """The engine's own example market: five chains, several kinds of markets, bridges."""
    snapshot = Snapshot.sandbox()
    ends = [snapshot.token(name) for name in SANDBOX_ENDS]
    sold = [
        RouteRequest(
            token_in=one, token_out=other, amount=one.units("2" if "ETH" in one.symbol else "4000"),
            time_budget_ms=PATIENT_MS, gas_prices=dict(snapshot.gas_prices),
        )
        for one in ends for other in ends if one != other
    ]  # fmt: skip
    bought = [
        RouteRequest(
            token_in=snapshot.token(one), token_out=snapshot.token(other), side="exact_out",
            amount=snapshot.token(other).units(amount), time_budget_ms=PATIENT_MS, gas_prices=dict(snapshot.gas_prices),
        )
        for one, other, amount in BOUGHT
    ]  # fmt: skip
    groups = tuple(
        Group(name=name, cases=tuple(Case(request=each) for each in asked))
        for name, asked in (("five chains, sold", sold), ("five chains, bought", bought))
    )
    return Arena(name="five chains, many kinds", source=GENERATED, snapshot=snapshot, groups=groups)

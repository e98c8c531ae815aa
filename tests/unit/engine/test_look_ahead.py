"""A search that looks ahead finds what a search without it finds, in machine code and on a market that is large.

Kernels look ahead on markets of more than so many edges. Pools that no route can reach make a market that large, and
change nothing else.
"""

from __future__ import annotations

from benchmarks.instances import constant_product_market, queries
from benchmarks.measure import gap_of, request_of
from routing_engine import Router, Snapshot, Token
from routing_engine.kernels.bound.arrivals import LARGE
from routing_engine.markets import ConstantProductPool

TOKENS, POOLS, OUT_OF_REACH = 2_500, 8_100, 200
ASKED, SIZES = 6, (0.003, 0.03)
ROUNDING = 1e-6
"""Bps by which a bound may be looser that other edges were added up for."""

ELSEWHERE = [Token(chain_id=1, address=f"0x{number:040x}", symbol="FAR", decimals=18) for number in (10**9, 10**9 + 1)]


def make_far_pool(number: int) -> ConstantProductPool:
    """Return a pool whose tokens no other pool has."""
    return ConstantProductPool(
        id=f"far {number}", protocol="far", token0=ELSEWHERE[0], token1=ELSEWHERE[1], reserve0=10**24, reserve1=10**24,
        fee_pips=3000,
    )  # fmt: skip


def test_looking_ahead_loses_no_route_and_proves_no_less() -> None:
    snapshot = constant_product_market(tokens=TOKENS, pools=POOLS)
    larger = Snapshot([*snapshot.markets.values(), *map(make_far_pool, range(OUT_OF_REACH))], gas_prices={1: 0})
    plain, ahead = Router(snapshot), Router(larger)
    assert plain.graph.source.size <= LARGE < ahead.graph.source.size
    divided = 0
    for query in queries(plain, ASKED, SIZES):
        request = request_of(query, max_hops=5, max_splits=20)
        known, found = plain.find_routes(request), ahead.find_routes(request)
        assert found.best().amount_out >= known.best().amount_out
        assert gap_of(found) <= gap_of(known) + ROUNDING
        divided += len(known.best().paths) > 2
    assert divided > ASKED

"""Threads that take turns need the memory of one; what they find is the same."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from routing_engine import Router, RouteRequest, RouteResult, Snapshot


def test_threads_that_take_turns_share_one_memory_and_find_the_same() -> None:
    router = Router(Snapshot.sandbox())
    amounts = [10**exponent for exponent in range(16, 22)]
    pair = {"token_in": "WETH@1", "token_out": "USDC@1"}
    alone = [router.find_routes(RouteRequest(amount=amount, **pair)) for amount in amounts]
    router.lend_memory()
    memories = router._search.memories

    def search(amount: int) -> RouteResult:
        assert len(memories._lent) == 1
        found = router.find_routes(RouteRequest(amount=amount, **pair))
        assert not memories._lent
        router.lend_memory()
        return found

    for amount, expected in zip(amounts, alone, strict=True):
        with ThreadPoolExecutor(1) as another:
            assert another.submit(search, amount).result() == expected
    router.lend_memory()  # of nothing
    assert len(memories._lent) == 1

"""Markets as text, expected routes as one string."""

from __future__ import annotations

from typing import Any

import pytest

from routing_engine import InsufficientLiquidity, NoRoute, Router, RouteRequest, Snapshot
from routing_engine.errors import InvalidRequest, Refusal
from tests.support.markets import market_of, token

TRIANGLE = """
    ab: A B 1000 1000 30bps
    bc: B C 1000 1000 30bps
    ac: A C 100 100 30bps
"""
BRIDGED = """
    fast: A@1 > A@10 50bps 5s
    slow: A@1 > A@10 900s
    tiny: A@1 > A@10 max=5 1s
    dex: A@10 B@10 1000 1000 30bps
"""


def route(text: str, token_in: str, token_out: str, amount: int, **options: Any) -> str:
    """Return the best route of a market as a string, amount in whole tokens."""
    request = RouteRequest(
        **{"token_in": token(token_in), "token_out": token(token_out), "amount": amount * 10**18, "max_splits": 1}
        | options
    )
    return str(Router(Snapshot(market_of(text))).find_routes(request).best())


@pytest.mark.parametrize(
    ("amount", "expected"),
    [(10, "A@1 -[ab]-> B@1 -[bc]-> C@1"), (50, "A@1 -[ab]-> B@1 -[bc]-> C@1")],
)
def test_large_trades_take_the_deep_detour(amount: int, expected: str) -> None:
    assert route(TRIANGLE, "A", "C", amount) == expected
    assert route(TRIANGLE, "A", "C", amount, side="exact_out") == expected


def test_small_trades_take_the_direct_pool() -> None:
    router = Router(Snapshot(market_of(TRIANGLE)))
    request = RouteRequest(token_in=token("A"), token_out=token("C"), amount=10**16)
    assert str(router.find_routes(request).best()) == "A@1 -[ac]-> C@1"


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("cheapest", "A@1 -[slow]-> A@10 -[dex]-> B@10"),
        ("fastest", "A@1 -[fast]-> A@10 -[dex]-> B@10"),
        ("balanced", "A@1 -[slow]-> A@10 -[dex]-> B@10"),
    ],
)
def test_time_and_money_pick_different_bridges(order: str, expected: str) -> None:
    assert route(BRIDGED, "A@1", "B@10", 20, order=order) == expected


def test_the_fastest_bridge_is_taken_while_its_limit_allows() -> None:
    assert route(BRIDGED, "A@1", "A@10", 4, order="fastest") == "A@1 -[tiny]-> A@10"
    assert route(BRIDGED, "A@1", "A@10", 6, order="fastest") == "A@1 -[fast]-> A@10"


def test_denied_and_allowed_protocols() -> None:
    deny = {"deny_protocols": frozenset({"slow"})}
    assert route(BRIDGED, "A@1", "A@10", 20, **deny) == "A@1 -[fast]-> A@10"
    with pytest.raises(NoRoute):
        route(TRIANGLE, "A", "C", 1, allow_protocols=frozenset({"ab"}))


def test_alternatives_avoid_a_market_of_the_best_route() -> None:
    router = Router(Snapshot(market_of(BRIDGED)))
    request = RouteRequest(token_in=token("A"), token_out=token("B@10"), amount=2 * 10**18, alternatives=5)
    routes = router.find_routes(request).routes
    assert [str(r).split("[")[1].split("]")[0] for r in routes] == ["tiny", "slow", "fast"]
    assert len({r.fingerprint for r in routes}) == len(routes)
    assert [r.amount_out for r in routes] == sorted((r.amount_out for r in routes), reverse=True)


def test_streamed_results_only_improve_and_end_with_the_best() -> None:
    router = Router(Snapshot(market_of(TRIANGLE)))
    request = RouteRequest(token_in=token("A"), token_out=token("C"), amount=50 * 10**18)
    results = list(router.stream(request))
    outputs = [result.best().amount_out for result in results]
    assert len(outputs) == 3  # one hop, two hops, both
    assert outputs == sorted(outputs)
    assert results[-1] == router.find_routes(request)


def test_times_add_over_transactions_and_hops_share_one() -> None:
    router = Router(Snapshot(market_of("x: A C 9 9 0bps\n" + BRIDGED + "\ny: C A 9 9 0bps")))
    best = router.find_routes(RouteRequest(token_in=token("A"), token_out=token("B@10"), amount=10**18)).best()
    assert [leg.chain_id for leg in best.legs] == [1, 10]
    assert best.fill_time_s == 12 + 1 + 2  # a block of Ethereum, the lane's second, a block of Optimism


def test_why_there_is_no_route() -> None:
    router = Router(Snapshot(market_of(BRIDGED)))
    request = RouteRequest(
        token_in=token("A"), token_out=token("A@10"), amount=6 * 10**18, deny_protocols=frozenset({"fast", "slow"}),
    )  # fmt: skip
    result = router.find_routes(request)
    reasons = {entry.protocol: entry.reason for entry in result.unavailable}
    assert reasons == {"fast": "DENIED", "slow": "DENIED", "tiny": Refusal.AMOUNT_TOO_HIGH, "dex": "NO_PATH"}
    with pytest.raises(InsufficientLiquidity):
        result.best()
    apart = Router(Snapshot(market_of(f"{BRIDGED}\nyz: Y Z 1000 1000 30bps")))
    nowhere = apart.find_routes(RouteRequest(token_in=token("A"), token_out=token("Z"), amount=1))
    assert {entry.reason for entry in nowhere.unavailable} == {"NO_PATH"}
    with pytest.raises(NoRoute):
        nowhere.best()


def test_too_much_output_is_insufficient_liquidity() -> None:
    router = Router(Snapshot(market_of(TRIANGLE)))
    request = RouteRequest(token_in=token("A"), token_out=token("C"), amount=5000 * 10**18, side="exact_out")
    result = router.find_routes(request)
    assert {entry.reason for entry in result.unavailable} <= {Refusal.INSUFFICIENT_LIQUIDITY, "NO_PATH"}
    with pytest.raises(InsufficientLiquidity):
        result.best()


@pytest.mark.parametrize(
    ("field", "options"),
    [
        ("amount", {"amount": 0}),
        ("amount", {"amount": 2**256}),
        pytest.param("amount", {"amount": 10**5000}, id="long"),
        ("amount", {"amount": 1.5}),
        ("amount", {"amount": True}),
        ("side", {"side": "sideways"}),
        ("order", {"order": "prettiest"}),
        ("max_hops", {"max_hops": 7}),
        ("alternatives", {"alternatives": -1}),
        ("gas_prices", {"gas_prices": {1: -5}}),
        ("token_out", {"token_out": token("A")}),
    ],
)
def test_bad_requests_name_the_field(field: str, options: dict[str, Any]) -> None:
    arguments = {"token_in": token("A"), "token_out": token("C"), "amount": 1} | options
    with pytest.raises(InvalidRequest) as caught:
        RouteRequest(**arguments)
    assert caught.value.field == field

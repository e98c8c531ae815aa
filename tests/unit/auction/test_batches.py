"""Orders together: what they want of each other, prices that hold for all, time, and what is left out."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from typing import Any

import pytest

from routing_engine.auction.model import Fulfillment
from routing_engine.auction.reading import read_auction
from routing_engine.auction.settlement import charge_policies, execute
from routing_engine.auction.solver import solve_auction
from tests.support.cow.auctions import FAR, TOKENS, UNIT, WETH, write_auction, write_order, write_pair, write_token
from tests.support.cow.validator import judge
from tests.unit.auction.test_vectors import solve

A = TOKENS[1]
PRICES = {WETH: write_token(UNIT), A: write_token(UNIT)}
POOL = write_pair(0, (WETH, A), (1000 * UNIT, 1000 * UNIT))


def test_opposite_orders_meet_between_the_prices_of_the_pool() -> None:
    orders = [
        write_order(1, WETH, A, (10 * UNIT, 9 * UNIT)),
        write_order(2, A, WETH, (8 * UNIT, 7 * UNIT)),
    ]
    body = write_auction(orders, [POOL], PRICES)
    together, *alone = solve(body)
    assert [len(each["trades"]) for each in (together, *alone)] == [2, 1, 1]
    shared, single = judge(body, together), [judge(body, each) for each in alone]
    for uid, price in shared.paid.items():
        assert price > next(each.paid[uid] for each in single if uid in each.paid)
    assert shared.score > sum(each.score for each in single)
    [swap] = together["interactions"]
    assert int(swap["inputAmount"]) < 3 * UNIT, "the pool takes the rest alone"


def test_orders_meet_where_there_is_no_pool() -> None:
    orders = [
        write_order(1, WETH, A, (10 * UNIT, 9 * UNIT), partiallyFillable=True),
        write_order(2, A, WETH, (4 * UNIT, 3 * UNIT)),
    ]
    [solution] = solve(write_auction(orders, [], PRICES))
    assert solution["interactions"] == []
    assert len(solution["trades"]) == 2
    assert solution["gas"] == 106_391 + 99_026


def test_orders_that_do_not_meet_stay_alone() -> None:
    orders = [write_order(1, WETH, A, (UNIT, 2 * UNIT)), write_order(2, A, WETH, (UNIT, 2 * UNIT))]
    assert solve(write_auction(orders, [POOL], PRICES)) == []


def test_orders_of_one_direction_share_a_price_and_the_gas() -> None:
    orders = [write_order(n, WETH, A, (n * UNIT, n * UNIT * 9 // 10)) for n in (1, 2, 3)]
    body = write_auction(orders, [POOL], PRICES)
    together = solve(body)[0]
    prices = judge(body, together).paid
    assert len(prices) == 3
    assert max(prices.values()) / min(prices.values()) < 1 + Fraction(1, 10**15)


def test_gas_decides_whether_an_order_is_filled() -> None:
    orders = [write_order(1, WETH, A, (10**15, 9 * 10**14))]
    assert solve(write_auction(orders, [POOL], PRICES, effectiveGasPrice="15000000000")) == []
    assert len(solve(write_auction(orders, [POOL], PRICES, effectiveGasPrice="1000000"))) == 1


def test_a_token_without_a_price_pays_gas_by_the_pools() -> None:
    tokens = {WETH: write_token(UNIT), A: write_token(None)}
    body = write_auction([write_order(1, A, WETH, (10 * UNIT, 9 * UNIT))], [POOL], tokens)
    [solution] = solve(body)
    assert int(solution["trades"][0]["fee"]) == pytest.approx(166_391 * 15 * 10**9, rel=0.01)


def test_limit_orders_of_others_are_liquidity() -> None:
    foreign = {
        "kind": "limitOrder", "id": "7", "address": A, "gasEstimate": "70000", "hash": f"0x{0:064x}", "makerToken": A,
        "takerToken": WETH, "makerAmount": str(5 * UNIT), "takerAmount": str(4 * UNIT), "takerTokenFeeAmount": "0",
    }  # fmt: skip
    [solution] = solve(write_auction([write_order(1, WETH, A, (2 * UNIT, 2 * UNIT))], [foreign], PRICES))
    assert [each["id"] for each in solution["interactions"]] == ["7"]


def test_time_ends_the_search() -> None:
    orders = [write_order(n, WETH, A, (n * UNIT, n * UNIT * 9 // 10)) for n in range(1, 9)]
    auction = read_auction(write_auction(orders, [POOL], PRICES, deadline="2026-01-01T00:00:10Z"))
    start = datetime(2026, 1, 1, tzinfo=UTC)
    ticks = itertools.count()
    part = solve_auction(auction, now=start, clock=lambda: next(ticks) / 4)
    assert not part.is_complete
    assert 0 < len(part.solutions) < 8
    assert part.solutions[0].trades[0].order.uid.endswith("8"), "what gains most is asked first"
    late = solve_auction(auction, now=start + timedelta(seconds=10))
    assert (late.solutions, late.is_complete) == ((), False)


@pytest.mark.parametrize(
    ("policy", "fee"),
    [
        ({"volume": {"factor": 0.01}}, Fraction(1, 101)),
        ({"surplus": {"factor": 0.5, "maxVolumeFactor": 0.9}}, Fraction(1, 4)),
        ({"surplus": {"factor": 0.5, "maxVolumeFactor": 0.01}}, Fraction(1, 101)),
        (
            {
                "priceImprovement": {
                    "factor": 0.5, "maxVolumeFactor": 0.9,
                    "quote": {"sellAmount": str(UNIT), "buyAmount": str(3 * UNIT // 4), "fee": "0"},
                }
            },
            Fraction(1, 8),
        ),
    ],
)  # fmt: skip
def test_protocol_fees(policy: dict[str, Any], fee: Fraction) -> None:
    """An order that sells one for at least a half, at a price of one: its surplus is a half."""
    body = write_auction([write_order(1, WETH, A, (UNIT, UNIT // 2), feePolicies=[policy])], [POOL], PRICES)
    [order] = read_auction(body).orders
    prices = {order.sell: UNIT, order.buy: UNIT}
    charged = charge_policies(Fulfillment(order=order, executed=UNIT), prices)
    assert charged.fee == int(fee * UNIT)
    assert execute(charged, prices).sold == UNIT
    [solution] = solve(body)
    assert int(solution["trades"][0]["fee"]) > 0.9 * fee * UNIT


def test_the_far_deadline_is_no_reason_to_take_long() -> None:
    body = write_auction([write_order(1, WETH, A, (UNIT, UNIT // 2))], [POOL], PRICES, deadline=FAR)
    ticks = itertools.count()
    solve_auction(read_auction(body), clock=lambda: next(ticks) / 1000, longest_s=3)
    assert next(ticks) < 3100

"""Settled trades beside the best of their market, and routes at other gas prices, on pools of one price."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from routing_engine import InvalidRequest, Router, RouteRequest, Snapshot
from routing_engine.analysis.execution import Executions, SettledTrade, judge_trade, judge_trades
from routing_engine.analysis.gas_sensitivity import measure_gas_sensitivity
from routing_engine.markets import ConstantProductPool
from routing_engine.reference.chains import CHAINS
from tests.unit.analysis.test_measures import FAR_ONE, LARGE, ONE, SMALL, TWO, UNIT, pool

WETH = CHAINS[1].wrapped_native_token
COIN = ConstantProductPool(
    id="1:coin", protocol="uniswap_v2", token0=WETH, token1=TWO, reserve0=10_000 * UNIT, reserve1=10_000 * UNIT,
    fee_pips=0,
)  # fmt: skip
AMOUNT = 100 * UNIT


def sell_to_small(**fields: object) -> SettledTrade:
    hop, _ = SMALL.swap_exact_in(ONE, TWO, AMOUNT)
    given = {"token_in": ONE, "token_out": TWO, "amount_in": AMOUNT, "amount_out": hop.amount_out, **fields}
    return SettledTrade(**given)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def router() -> Router:
    return Router(Snapshot([LARGE, SMALL, COIN], gas_prices={1: 10**10}))


def test_a_poor_trade_without_gas(router: Router) -> None:
    """Two pools of one price are one of both depths."""
    found = judge_trade(router, sell_to_small())
    together, alone = 4000 * 100 / 4100, 1000 * 100 / 1100
    assert found.got_net == sell_to_small().amount_out
    assert found.at_least == found.best.amount_out - found.got_net > 0
    assert found.at_least_bps == pytest.approx((together / alone - 1) * 1e4, rel=1e-6)
    assert found.at_least <= found.at_most <= found.at_least + together * UNIT * 1e-6
    assert not found.is_beyond_market


def test_gas_counts_on_both_sides(router: Router) -> None:
    used = 150_000
    found = judge_trade(router, sell_to_small(gas=used))
    assert sell_to_small().amount_out - found.got_net == pytest.approx(used * 10**10, rel=1e-6)
    assert found.best_net == found.best.amount_out - found.best.gas_cost_out
    dear = judge_trade(router, sell_to_small(gas=used), gas_prices={1: 10**11})
    assert sell_to_small().amount_out - dear.got_net == pytest.approx(used * 10**11, rel=1e-6)


def test_the_best_there_was_and_more_than_there_was(router: Router) -> None:
    best = judge_trade(router, sell_to_small()).best
    same = judge_trade(router, sell_to_small(amount_out=best.amount_out))
    assert (same.at_least, same.at_least_bps, same.is_beyond_market) == (0, 0, False)
    more = judge_trade(router, sell_to_small(amount_out=best.amount_out * 2))
    assert (more.at_least, more.at_most, more.is_beyond_market) == (0, 0, True)
    none = judge_trade(router, sell_to_small(amount_out=0))
    assert none.at_least == none.best_net
    assert math.isnan(none.at_least_bps)


def test_where_nothing_is_found_nothing_is_claimed(router: Router) -> None:
    found = judge_trade(router, sell_to_small(), deny_protocols=["uniswap_v2", "sushiswap_v2"])
    assert (found.best, found.at_least, found.at_most) == (None, 0, None)
    frame = Executions((found,)).to_frame()
    assert frame["is_bounded"].tolist() == [False]
    assert frame["at_most_bps"].isna().all()


def test_trades_are_a_table(router: Router) -> None:
    found = judge_trades(router, [sell_to_small(name="0x12"), sell_to_small(token_in="T1@1", gas=1)])
    frame = found.to_frame()
    assert frame["trade"].tolist() == ["0x12", ""]
    assert frame["at_least"].tolist() == [each.at_least for each in found.executions]
    assert frame["gas_counts"].tolist() == [False, True]
    assert repr(found) == "Executions(2 trades, 2 could have been better)"
    assert "better at least" in repr(found.executions[0])


@pytest.mark.parametrize(
    ("fields", "options", "named"),
    [
        ({"amount_in": 0}, {}, "amount_in"), ({"amount_out": -1}, {}, "amount_out"), ({"gas": 1.5}, {}, "gas"),
        ({"token_out": "NONE@1"}, {}, "token_out"), ({}, {"side": "exact_out"}, "side"),
        ({"token_out": FAR_ONE}, {}, "token_out"),
    ],
)  # fmt: skip
def test_what_cannot_be_judged_is_named(fields: dict[str, object], options: dict[str, object], named: str) -> None:
    router = Router(
        Snapshot([LARGE, SMALL, pool("10:far", "uniswap_v2", 5, (FAR_ONE, replace(FAR_ONE, address=TWO.address)))])
    )
    with pytest.raises(InvalidRequest, match=named):
        judge_trade(router, sell_to_small(**fields), **options)


def test_a_split_gives_way_as_gas_gets_dear(router: Router) -> None:
    request = RouteRequest(token_in=ONE, token_out=TWO, amount=AMOUNT, max_hops=2)
    prices = [0, 1, 1_000, 10_000]
    found = measure_gas_sensitivity(router, request, prices)
    frame = found.to_frame()
    assert frame["gas_price_gwei"].tolist() == prices
    assert frame["markets"].tolist() == [2, 2, 2, 1]
    net = [result.best().net_amount for result in found.results]
    assert net == sorted(net, reverse=True)
    assert frame["regret_bps"].tolist()[:3] == pytest.approx([0, 0, 0], abs=1e-3)
    split = found.results[0].best()
    cost = 10_000 * 10**9 * split.gas
    expected = (net[3] - (split.amount_out - cost)) / net[3] * 1e4
    assert frame["regret_bps"].iloc[3] == pytest.approx(expected, rel=1e-6)
    assert repr(found) == "GasSensitivity(4 gas prices, 2 different routes)"
    bought = measure_gas_sensitivity(router, request, [0, 10_000], side="exact_out").to_frame()
    assert bought["regret_bps"].iloc[1] > 0
    for wrong in ([], [-1], [math.inf]):
        with pytest.raises(InvalidRequest, match="prices_gwei"):
            measure_gas_sensitivity(router, request, wrong)

"""Flows end before a pool's next step where its gas costs more than what lies behind it brings."""

from __future__ import annotations

import pytest

from routing_engine import Route, Router, RouteRequest, Snapshot, Token
from routing_engine.errors import QuoteRefused
from routing_engine.markets import ConcentratedPool, ConstantProductPool
from routing_engine.model import NATIVE_ADDRESS
from routing_engine.search.replays import allocation_replay, purchase_replay

COIN = Token(chain_id=1, address=NATIVE_ADDRESS, symbol="ETH", decimals=18)
BASE = Token(chain_id=1, address=f"0x{1:040x}", symbol="A", decimals=18)
QUOTE = Token(chain_id=1, address=f"0x{2:040x}", symbol="B", decimals=18)
GRID = 400


def make_snapshot(step: int) -> Snapshot:
    """Two pools between the same tokens, one of them with a tick each few tens of a percent."""
    ladder = ConcentratedPool.from_price(
        id="1:ladder",
        tokens=(BASE, QUOTE),
        price=1,
        positions=[(1.0 - 0.004 * width, 1.0 + 0.004 * width, 30_000 + 1_000 * width * step) for width in range(1, 12)],
        fee_pips=500,
    )
    plain = ConstantProductPool(
        id="1:plain",
        protocol="uniswap_v2",
        token0=BASE,
        token1=QUOTE,
        reserve0=2_000_000 * 10**18,
        reserve1=2_000_000 * 10**18,
        fee_pips=500,
    )
    priced = ConstantProductPool(
        id="1:coin",
        protocol="uniswap_v2",
        token0=COIN,
        token1=QUOTE,
        reserve0=10_000 * 10**18,
        reserve1=20_000_000 * 10**18,
        fee_pips=500,
    )
    return Snapshot((ladder, plain, priced), gas_prices={1: 1_000 * 10**9})


def find_best(snapshot: Snapshot, amount: int) -> Route:
    request = RouteRequest(token_in=BASE, token_out=QUOTE, amount=amount, max_hops=1)
    return Router(snapshot).find_routes(request).best()


def search_grid(snapshot: Snapshot, amount: int, best: Route) -> float:
    """Return the largest net output of all divisions of a grid, each replayed exactly, by the route's price of gas."""
    price = best.gas_cost_out / best.gas
    ladder, plain = (snapshot.markets[f"1:{name}"] for name in ("ladder", "plain"))
    nets = []
    for part in range(GRID + 1):
        there, net = amount * part // GRID, 0.0
        try:
            for market, each in ((ladder, there), (plain, amount - there)):
                if each:
                    hop, _ = market.swap_exact_in(BASE, QUOTE, each)
                    net += hop.amount_out - hop.gas * price
        except QuoteRefused:
            continue
        nets.append(net)
    return max(nets)


@pytest.mark.parametrize("step", [0, 1, 3])
def test_no_division_of_a_grid_nets_more(step: int) -> None:
    snapshot, spared = make_snapshot(step), 0
    for thousands in range(30, 330, 20):
        amount = thousands * 10**21
        best = find_best(snapshot, amount)
        assert search_grid(snapshot, amount, best) <= best.amount_out_net * (1 + 1e-9)
        spared += len(best.hops) > 1
    assert spared > 3, "several amounts are divided"


def test_steps_are_spared(monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = make_snapshot(0)
    amounts = [thousands * 10**21 for thousands in range(30, 330, 10)]
    with_it = [find_best(snapshot, amount) for amount in amounts]
    monkeypatch.setattr(allocation_replay, "spare_steps", lambda *_: None)
    without = [find_best(snapshot, amount) for amount in amounts]
    better = [(one, other) for one, other in zip(with_it, without, strict=True) if one != other]
    assert better, "some amount enters a step for little"
    for one, other in better:
        assert one.amount_out_net > other.amount_out_net
        assert one.gas < other.gas
        assert one.amount_in == other.amount_in


def buy(snapshot: Snapshot, amount: int) -> Route:
    request = RouteRequest(token_in=BASE, token_out=QUOTE, amount=amount, side="exact_out", max_hops=1)
    return Router(snapshot).find_routes(request).best()


def test_steps_are_spared_where_an_amount_is_bought(monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = make_snapshot(0)
    amounts = [thousands * 10**21 for thousands in range(30, 330, 10)]
    with_it = [buy(snapshot, amount) for amount in amounts]
    monkeypatch.setattr(purchase_replay, "spare_bought_steps", lambda *_: None)
    without = [buy(snapshot, amount) for amount in amounts]
    better = [(one, other) for one, other in zip(with_it, without, strict=True) if one != other]
    assert better, "some amount enters a step for little"
    for one, other in better:
        assert one.amount_in_gross < other.amount_in_gross
        assert one.gas < other.gas
    assert all(route.amount_out >= amount for route, amount in zip(with_it, amounts, strict=True))


def test_what_was_sold_is_bought_for_no_more() -> None:
    snapshot = make_snapshot(1)
    for thousands in range(30, 330, 20):
        sold = find_best(snapshot, thousands * 10**21)
        bought = buy(snapshot, sold.amount_out)
        assert bought.amount_in_gross <= sold.amount_in_gross * (1 + 1e-9)

"""Certificates stay as tight as they are. Where gas is free, a gap is the proof's own looseness."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from statistics import mean, median

import pytest

from benchmarks import recorded
from benchmarks.instances import constant_product_market, queries
from benchmarks.measure import gap_of, gas_price, request_of
from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.request import USUAL_HOPS
from routing_engine.token_fields import Transfers

SMALL = 0.01
"""Part of its pair's depth up to which a trade is looked at."""


def test_small_trades_on_the_generated_market_are_proven() -> None:
    router = Router(constant_product_market())
    asked = [query for query in queries(router, 6) if query.size <= SMALL]
    gaps = [gap_of(router.find_routes(request_of(query))) for query in asked]
    assert len(gaps) >= 12
    assert max(gaps) <= 0.1


def test_routes_that_pay_for_each_pool_are_proven_to_within_what_a_pool_costs() -> None:
    router = Router(constant_product_market())
    asked = [query for query in queries(router, 6) if query.size <= SMALL]
    gaps = [gap_of(router.find_routes(request_of(query, gas_prices={1: gas_price(router, query)}))) for query in asked]
    assert len(gaps) >= 12
    assert median(gaps) <= 1.0


@pytest.mark.shared_data
def test_large_trades_on_a_recorded_market_are_proven(shared_data: Path) -> None:
    """Its pools of next to nothing, at prices far off, once left gaps of hundreds of basis points."""
    market = recorded.market(shared_data, recorded.GOLDEN_RECORDING, recorded.GOLDEN_BLOCK)
    router = Router(market)
    scenarios, _ = recorded.golden(shared_data, market, 0)
    requests = [replace(scenario.request, max_hops=USUAL_HOPS) for scenario in scenarios]
    gaps = [gap_of(router.find_routes(request)) for request in requests]
    assert len(gaps) > 40
    # Measured: 37 of 41. The other four are 0.14, 0.94, 2.3 and 5.0 bps.
    assert sum(gap <= 0.05 for gap in gaps) >= 0.9 * len(gaps)


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["AAVE_to_GNO_5000", "LINK_to_AAVE_70000"])
def test_what_nearly_exhausts_its_markets_costs_what_it_was_sold_for(shared_data: Path, name: str) -> None:
    """At price impacts of 98 and 99.7 % exact-out once paid 397 and 1,914 bps more."""
    market = recorded.market(shared_data, recorded.GOLDEN_RECORDING)
    router, scenarios = Router(market), recorded.golden(shared_data, market, 10**10)[0]
    request = next(scenario.request for scenario in scenarios if scenario.name == name)
    sold = router.find_routes(replace(request, amount=30 * request.amount)).best()
    bought = router.find_routes(replace(request, amount=sold.amount_out, side="exact_out")).best()
    assert bought.amount_out >= sold.amount_out
    assert bought.amount_in_gross <= sold.amount_in_gross * (1 + 1e-5)


@pytest.mark.shared_data
def test_few_paths_are_looked_for_again_where_less_is_needed(shared_data: Path) -> None:
    """An input 5 % below the one that was sold cost 0.7 bps more than exact-in's, over paths for the larger one."""
    market = recorded.market(shared_data, recorded.GOLDEN_RECORDING)
    router, scenarios = Router(market), recorded.golden(shared_data, market, 10**10)[0]
    request = next(scenario.request for scenario in scenarios if scenario.name == "AAVE_to_GNO_5000")
    sold = router.find_routes(replace(request, amount=request.amount // 100)).best()
    bought = router.find_routes(replace(request, amount=sold.amount_out, side="exact_out")).best()
    assert bought.amount_in_gross <= sold.amount_in_gross * (1 + 1e-6)


@pytest.mark.shared_data
def test_selling_more_gives_more_where_markets_are_nearly_exhausted(shared_data: Path) -> None:
    """What 31 times the scenario gave was 2.1 bps more than what 33 times gave."""
    market = recorded.market(shared_data, recorded.GOLDEN_RECORDING)
    router, scenarios = Router(market), recorded.golden(shared_data, market, 10**10)[0]
    request = next(scenario.request for scenario in scenarios if scenario.name == "AAVE_to_GNO_5000")
    factors = (10, 28, 30, 31, 33, 40)
    given = [router.find_routes(replace(request, amount=each * request.amount)).best() for each in factors]
    assert [route.amount_out_net for route in given] == sorted(route.amount_out_net for route in given)


@pytest.mark.shared_data
def test_more_paths_give_more_where_few_may_be_used(shared_data: Path) -> None:
    """Over 16 paths this gave 150 bps less than over 12, as only twice as many as may be used were chosen from."""
    market = recorded.market(shared_data, recorded.GOLDEN_RECORDING)
    router, scenarios = Router(market), recorded.golden(shared_data, market, 10**10)[0]
    scenario = next(each for each in scenarios if each.name == "WETH_to_USDC_500")
    request = replace(scenario.request, amount=10 * scenario.request.amount, max_hops=4)
    fewer, more = (router.find_routes(replace(request, max_splits=most)).best() for most in (12, 16))
    assert more.amount_out_net >= fewer.amount_out_net
    assert fewer.amount_out_net >= 10_077_800 * 10**6


@pytest.mark.shared_data
def test_longer_paths_make_no_recorded_trade_worse(shared_data: Path) -> None:
    """Free of gas, where most markets come together: a division that cannot be replayed must not end in one path."""
    market = recorded.market(shared_data, recorded.GOLDEN_RECORDING, recorded.GOLDEN_BLOCK)
    router = Router(market)
    for scenario in recorded.golden(shared_data, market, 0)[0]:
        longer, usual = (
            router.find_routes(replace(scenario.request, max_hops=hops)).best().amount_out
            for hops in (USUAL_HOPS + 1, USUAL_HOPS)
        )
        assert longer >= usual * (1 - 1e-6), scenario.name


@pytest.mark.shared_data
def test_recorded_trades_reach_the_best_that_is_known(shared_data: Path) -> None:
    """Those of a slow solver without a limit of hops; four are not enough for two of them."""
    market = recorded.market(shared_data, recorded.GOLDEN_RECORDING, recorded.GOLDEN_BLOCK)
    router = Router(market)
    rows = json.loads((shared_data / "trades" / "best_known_24721181.json").read_text())["rows"]
    known = {row["name"]: int(row["net"]) for row in rows}
    asked = [each for each in recorded.golden(shared_data, market, 10**10)[0] if each.name in known]
    assert len(asked) > 40
    for scenario in asked:
        assert router.find_routes(scenario.request).best().amount_out_net >= known[scenario.name] * (1 - 1e-6)


@pytest.mark.shared_data
def test_real_requests_are_proven_net_of_gas(shared_data: Path) -> None:
    """Pools with a dollar's worth at a tenth of the price once made gas look shared by ten times what there is."""
    market = recorded.market(shared_data, recorded.RECORDINGS[1])
    router = Router(market)
    requests, _ = recorded.requests(shared_data, market, 10**10)
    gaps = [gap_of(result) for result in map(router.find_routes, requests[:300]) if result.routes]
    assert len(gaps) > 280
    assert sum(gap <= 0.01 for gap in gaps) >= 0.84 * len(gaps)
    assert sum(gap <= 1.0 for gap in gaps) >= 0.94 * len(gaps)


@pytest.mark.shared_data
def test_divisions_over_markets_that_are_full_are_replayed(shared_data: Path) -> None:
    """Requests that once ended in one path, as a market declined what arrived beyond all that it takes."""
    market = recorded.market(shared_data, recorded.RECORDINGS[0])
    router = Router(market)
    requests, _ = recorded.requests(shared_data, market, 0)
    for number, least_gain in ((100, 5.8e-4), (300, 10.2e-4)):
        alone, divided = (
            router.find_routes(replace(requests[number], max_splits=splits)).best() for splits in (1, 100)
        )
        assert divided.amount_out >= alone.amount_out * (1.0 + least_gain)


@pytest.mark.shared_data
@pytest.mark.parametrize("factor", [0.1, 1, 30])
def test_what_was_sold_is_bought_for_no_more_where_hardly_more_is_to_be_had(shared_data: Path, factor: float) -> None:
    """Paths over full pools have other prices than what one more unit brings; last digits of an output cost much."""
    market = recorded.market(shared_data, recorded.RECORDINGS[2])
    router = Router(market)
    scenario = next(each for each in recorded.golden(shared_data, market, 10**10)[0] if each.name == "WETH_to_GNO_500")
    request = replace(scenario.request, amount=int(scenario.request.amount * factor))
    sold = router.find_routes(request).best()
    bought = router.find_routes(replace(request, side="exact_out", amount=sold.amount_out))
    assert bought.best().amount_in_gross <= sold.amount_in_gross * (1 + 1e-5)
    assert gap_of(bought) <= 3.0  # 7,856 bps, 28,906 and 156,728 by the mean price of all paths


@pytest.mark.shared_data
@pytest.mark.parametrize("amount", [15_000, 20_000, 100_000])
def test_free_gas_gives_no_less_than_gas_at_a_price(shared_data: Path, amount: int) -> None:
    """Markets of next to nothing once took the paths of those that bring most: 22, 133 and 1,600 bps were lost."""
    router = Router(recorded.market(shared_data, recorded.RECORDINGS[2]))
    request = RouteRequest(token_in="WETH@1", token_out="USDC@1", amount=amount * 10**18)
    free, dear = (router.find_routes(replace(request, gas_prices={1: price})).best() for price in (0, 10**10))
    assert free.amount_out >= dear.amount_out * (1 - 1e-3)


@pytest.mark.shared_data
def test_what_orders_give_is_proven_to_cost_what_they_sell(shared_data: Path) -> None:
    """Their gas once counted as input that could be sold: 69 % were proven to within 1 bps, and some to 200."""
    market = recorded.market(shared_data, recorded.AUCTION)
    router = Router(market)
    sales = [
        order.request for order in recorded.orders(shared_data, market, 10**10)[0] if order.request.side == "exact_in"
    ]
    gaps = []
    for request in sales[:200]:
        sold = router.find_routes(request)
        if sold.routes:
            gaps.append(gap_of(router.find_routes(replace(request, side="exact_out", amount=sold.best().amount_out))))
    assert len(gaps) > 150
    assert sum(gap <= 1.0 for gap in gaps) >= 0.85 * len(gaps)


@pytest.mark.shared_data
def test_what_gas_is_worth_nothing_for_begins_with_dear_gas(shared_data: Path) -> None:
    """At a price impact of 99.9 % small paths kept great ones out: 3.12e24 were paid in the mean, once 2.57e24."""
    market = recorded.market(shared_data, recorded.AUCTION)
    sale, router = recorded.orders(shared_data, market, 10**10)[0][473].request, Router(market)
    purchases = [replace(sale, side="exact_out", amount=amount) for amount in (150_090_454, 152_000_000, 154_090_454)]
    assert mean(router.find_routes(each).best().amount_in_gross for each in purchases) <= 2.9e24


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["AAVE_to_GNO_5000", "GNO_to_AAVE_3500", "UNI_to_GNO_150000", "WETH_to_SHIB_500"])
def test_amounts_beyond_liquidity_give_no_less_than_smaller_ones(shared_data: Path, name: str) -> None:
    """Two once gave 7 and 9 bps less at 1,000 times than at 300, one two thirds less at a billion times."""
    market = recorded.market(shared_data, recorded.RECORDINGS[0])
    router, scenarios = Router(market), recorded.golden(shared_data, market, 10**10)[0]
    request = next(scenario.request for scenario in scenarios if scenario.name == name)
    most = 0
    for factor in (10, 100, 300, 1_000, 3_000, 10_000):
        result = router.find_routes(replace(request, amount=factor * request.amount))
        assert result.best().amount_out_net >= most * (1 - 1e-6)
        assert gap_of(result) <= 3.0
        most = max(most, result.best().amount_out_net)
    hopeless = router.find_routes(replace(request, amount=10**9 * request.amount)).best()
    assert hopeless.amount_out_net >= most * (1 - 1e-3)  # it is divided over fewer paths


@pytest.mark.shared_data
def test_what_moves_prices_far_is_approached_from_what_hardly_does(shared_data: Path) -> None:
    """On every other pool, by lot, of a market: 382 and 596 bps were open, and more input gave 2 % less."""
    market, lot = recorded.market(shared_data, recorded.GOLDEN_RECORDING), random.Random("fynd 1 half")
    half = Snapshot([each for each in market.markets.values() if lot.random() < 0.5])
    tokens = {token.symbol: token for each in half.markets.values() for token in reversed(each.tokens)}
    router, most = Router(half), 0
    for amount in (5_940, 39_600):
        request = RouteRequest(
            token_in=tokens["XAUt"], token_out=tokens["WBTC"], amount=amount * 10**6, gas_prices={1: 5 * 10**7}
        )
        result = router.find_routes(request)
        assert gap_of(result) <= 100.0  # 13 bps each as measured
        assert result.best().amount_out_net > most
        most = result.best().amount_out_net


@pytest.mark.shared_data
def test_what_stays_open_is_found_among_markets_drawn_by_lot(shared_data: Path) -> None:
    """A small order of the auction once gave 3.93e15, though less than half of what could be was proven."""
    router = Router(recorded.market(shared_data, recorded.AUCTION))
    request = RouteRequest(
        token_in="0x6dea81c8171d0ba574754ef6f8b412f2ed88c54d@1",
        token_out="0xae78736cd615f374d3085123a210448e74fc6393@1",
        amount=3_788_695_260_450_903_552,
        gas_prices={1: 10**9},
    )
    answer, fewer = router.find_routes(request), router.find_routes(replace(request, max_hops=4))
    assert answer.best().amount_out_net >= 4.6e15
    assert answer.best().amount_out_net >= fewer.best().amount_out_net


@pytest.mark.shared_data
def test_few_units_are_divided_over_few_paths_too(shared_data: Path) -> None:
    """A sixth of a cent once gave 405,517,646,841,338, as each path more loses parts of units at its markets."""
    router = Router(Snapshot.load(shared_data / "markets" / "polygon_2025_11.json", tuple(Transfers)))
    request = RouteRequest(
        token_in="0x3c499c542cef5e3811e1192ce70d8cc03d5c3359@137",
        token_out="0xb33eaad8d922b1083446dc23f610c2567fb5180f@137",
        amount=1704,
    )
    assert router.find_routes(request).best().amount_out_net >= 425_000_000_000_000

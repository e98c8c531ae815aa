"""Shadow prices against finite differences: exact quotes on markets that are a little deeper, or of a little more."""

from __future__ import annotations

import json
import math
import pickle

import pytest
from click.testing import CliRunner

from benchmarks.parts.market_kinds import Sample, samples
from routing_engine import NoRoute, Route, Router, RouteRequest, Side, Snapshot, Token
from routing_engine.analysis.fills import fill_route
from routing_engine.cli.app import cli
from routing_engine.duals import find_duals
from routing_engine.markets import BridgeLane, ConstantProductPool
from routing_engine.markets.kinds import installed_kinds
from tests.support.deeper import scale_market

UNIT = 10**18
SAMPLES = {sample.name: sample for sample in samples()}
DEEP = {name: sample for name, sample in SAMPLES.items() if sample.market.has_depth}
ONE, TWO, THREE = (Token(chain_id=1, address=f"0x{n:040x}", symbol=f"T{n}", decimals=18) for n in (1, 2, 3))


def route_of(sample: Sample, amount: int) -> Route:
    hop = sample.market.quote_exact_in(sample.token_in, sample.token_out, amount)
    return Route(token_in=hop.token_in, token_out=hop.token_out, side=Side.EXACT_IN, hops=(hop,))


def pool(name: str, ends: tuple[Token, Token], reserves: tuple[int, int], fee_pips: int = 3000) -> ConstantProductPool:
    return ConstantProductPool(
        id=name, protocol="v2", token0=ends[0], token1=ends[1], reserve0=reserves[0] * UNIT,
        reserve1=reserves[1] * UNIT, fee_pips=fee_pips,
    )  # fmt: skip


def test_a_sample_of_every_kind_with_depth_is_here() -> None:
    deep = {kind for kind, entry in installed_kinds().items() if entry.market.has_depth}
    assert {sample.market.kind for sample in DEEP.values()} == deep
    assert {sample.market.kind for sample in SAMPLES.values()} - deep == {
        "balancer_linear", "lane", "stargate", "vault", "wrap",
    }  # fmt: skip


@pytest.mark.parametrize("name", DEEP)
def test_depth_is_worth_what_a_deeper_market_gives(name: str) -> None:
    sample = DEEP[name]
    route = route_of(sample, sample.amount)
    [(_, gain)] = find_duals(route, {sample.market.id: sample.market}).depths
    ends = sample.token_in, sample.token_out, sample.amount
    more, less = (scale_market(sample.market, 1000 + sign, 1000).quote_exact_in(*ends).amount_out for sign in (1, -1))
    assert gain == pytest.approx((more - less) / 2 * 10, rel=5e-3, abs=20)
    assert gain >= 0 or gain == pytest.approx(0, abs=20)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_token_is_worth_what_one_more_brings(name: str) -> None:
    sample = SAMPLES[name]
    price = find_duals(route_of(sample, sample.amount), {sample.market.id: sample.market}).price(sample.token_in)
    step = max(1, sample.amount // 2000)
    more, less = (
        sample.market.quote_exact_in(sample.token_in, sample.token_out, sample.amount + sign * step).amount_out
        for sign in (1, -1)
    )
    assert price == pytest.approx((more - less) / (2 * step), rel=1e-3, abs=2 / step)


def test_two_pools_in_series_by_formula() -> None:
    first, second = pool("1:first", (ONE, TWO), (1000, 2000), 0), pool("1:second", (TWO, THREE), (5000, 4000), 0)
    router = Router(Snapshot([first, second]))
    duals = router.find_routes(RouteRequest(token_in=ONE, token_out=THREE, amount=100 * UNIT)).duals
    x, y = 100, 2000 * 100 / 1100
    slopes = 1000 * 2000 / 1100**2, 5000 * 4000 / (5000 + y) ** 2
    assert [token for token, _ in duals.prices] == [ONE, TWO, THREE]
    assert [price for _, price in duals.prices] == pytest.approx([slopes[0] * slopes[1], slopes[1], 1], rel=1e-8)
    out = 4000 * y / (5000 + y)
    expected = [(y - x * slopes[0]) * slopes[1], out - y * slopes[1]]
    assert [gain / UNIT * 100 for _, gain in duals.depths] == pytest.approx(expected, rel=1e-7)


@pytest.fixture(scope="module")
def router() -> Router:
    return Router(Snapshot.sandbox())


@pytest.mark.parametrize(
    ("token_in", "token_out", "whole", "side"),
    [
        ("WETH@1", "USDC@1", 300, "exact_in"),
        ("USDC@1", "WETH@1", 200, "exact_out"),
        ("WETH@1", "USDC@8453", 100, "exact_in"),
    ],
)
def test_a_divided_route(router: Router, token_in: str, token_out: str, whole: int, side: str) -> None:
    """What deeper markets add is found on the divided route as it is: at the best one, dividing anew adds nothing."""
    ends = router.snapshot.token(token_in), router.snapshot.token(token_out)
    amount = ends[side == "exact_out"].units(whole)
    result = router.find_routes(RouteRequest(token_in=ends[0], token_out=ends[1], amount=amount, side=side, max_hops=3))
    route, duals = result.best(), result.duals
    assert len(route.hops) > 1
    for hop, gain in duals.depths:
        market = router.snapshot.markets[hop.market_id]
        assert math.isnan(gain) != market.has_depth
        if market.has_depth:
            outs = [
                fill_route(route, router.snapshot.apply([scale_market(market, 100 + sign, 100)])).amount_out
                for sign in (1, -1)
            ]
            assert gain == pytest.approx((outs[0] - outs[1]) / 2, rel=2e-2, abs=30)
    bigger, smaller = (
        router.find_routes(
            RouteRequest(
                token_in=ends[0], token_out=ends[1], amount=route.amount_in * (1000 + sign) // 1000, max_hops=3
            )
        ).best()
        for sign in (2, -2)
    )
    slope = (bigger.amount_out - smaller.amount_out) / (bigger.amount_in - smaller.amount_in)
    assert duals.price(ends[0]) == pytest.approx(slope, rel=1e-3)


def test_they_are_a_table_that_travels(router: Router) -> None:
    result = router.find_routes(RouteRequest(token_in="WETH@1", token_out="USDC@1", amount=100 * UNIT, max_hops=2))
    frame = result.duals.to_frame()
    tokens, markets = frame[frame["of"] == "token"], frame[frame["of"] == "market"]
    assert tokens["price"].iloc[-1] == 1.0
    assert tokens["gain_per_percent"].isna().all()
    assert len(markets) == len(result.best().hops)
    assert markets["price"].isna().all()
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again.duals.prices == result.duals.prices
    assert repr(pickle.loads(pickle.dumps(result.duals)).depths) == repr(result.duals.depths)
    assert repr(result.duals).startswith("Duals(")
    assert math.isnan(result.duals.price(ONE))


def test_a_lane_has_no_depth_and_a_failure_no_prices() -> None:
    far = Token(chain_id=10, address=ONE.address, symbol="T1", decimals=18)
    lane = BridgeLane(id="lane", protocol="across", token_in=ONE, token_out=far, fill_time_s=60, gas=1)
    router = Router(Snapshot([lane]))
    [(_, gain)] = router.find_routes(RouteRequest(token_in=ONE, token_out=far, amount=UNIT)).duals.depths
    assert math.isnan(gain)
    with pytest.raises(NoRoute):
        _ = router.find_routes(RouteRequest(token_in=far, token_out=ONE, amount=UNIT)).duals


def test_the_command() -> None:
    arguments = ["analyse", "duals", "--from", "WETH@1", "--to", "USDC@1", "--amount", "100", "--format", "json"]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)
    assert {row["of"] for row in rows} == {"token", "market"}
    assert any(row["gain_per_percent"] for row in rows)

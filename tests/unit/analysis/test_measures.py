"""Contributions, depth, decay and sweeps, against what a market of few pools must say."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from routing_engine import InsufficientLiquidity, InvalidRequest, Router, RouteRequest, Snapshot, Token
from routing_engine.analysis.contributions import measure_contributions
from routing_engine.analysis.decay import measure_decay
from routing_engine.analysis.depth import measure_depth
from routing_engine.analysis.fills import MARKET_GONE, fill_route
from routing_engine.analysis.sweeps import sweep
from routing_engine.markets import BridgeLane, ConstantProductPool

ONE, TWO = (Token(chain_id=1, address=f"0x{n:040x}", symbol=f"T{n}", decimals=18) for n in (1, 2))
FAR_ONE, FAR_TWO = (Token(chain_id=10, address=f"0x{n:040x}", symbol=f"T{n}", decimals=18) for n in (1, 2))
UNIT = 10**18


def pool(name: str, protocol: str, reserve: int, ends: tuple[Token, Token] = (ONE, TWO)) -> ConstantProductPool:
    return ConstantProductPool(
        id=name, protocol=protocol, token0=ends[0], token1=ends[1], reserve0=reserve * UNIT, reserve1=reserve * UNIT,
        fee_pips=0,
    )  # fmt: skip


LARGE, SMALL = pool("1:large", "uniswap_v2", 3000), pool("1:small", "sushiswap_v2", 1000)
REQUEST = RouteRequest(token_in=ONE, token_out=TWO, amount=100 * UNIT)


def test_depth_begins_small_enough_in_a_market_of_a_few_units() -> None:
    """Without a reference price, the first size is a guess, which here is far more than there is."""
    whole = Token(chain_id=999_999, address="0x" + "a1" * 20, symbol="WHOLE", decimals=0)
    fine = Token(chain_id=999_999, address="0x" + "b2" * 20, symbol="FINE", decimals=24)
    tiny = ConstantProductPool(
        id="tiny", protocol="mine", token0=whole, token1=fine, reserve0=1_000, reserve1=10**27, fee_pips=0
    )
    depth = measure_depth(Router(Snapshot([tiny])), whole, fine, levels_bps=[25, 500])
    assert depth.best_price == pytest.approx(1 / 1.001)
    sizes = {level: route.amount_in for level, route in depth.levels}
    exact = {level: (1 / 1.001) * (1 - level / 1e4) for level in sizes}
    for level, size in sizes.items():
        assert 1_000 / (1_000 + size) >= exact[level] > 1_000 / (1_001 + size)


def test_a_protocol_adds_what_is_lost_without_it() -> None:
    """Two pools of one price are one of both depths, so all answers are known in closed form."""
    found = measure_contributions(Router(Snapshot([LARGE, SMALL])), REQUEST)
    assert [name for name, _ in found.without] == ["uniswap_v2", "sushiswap_v2"]
    together, alone = 4000 * 100 / 4100, 1000 * 100 / 1100
    frame = found.to_frame()
    assert frame["loss_bps"].tolist() == pytest.approx([(1 - alone / together) * 1e4, (1 - 3000 / 31 / together) * 1e4])
    assert frame["net_amount_whole"].iloc[0] == pytest.approx(alone)


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_markets_and_those_that_nothing_replaces(side: str) -> None:
    router = Router(Snapshot([LARGE, SMALL]))
    request = replace(REQUEST, side=side)
    told: list[tuple[int, int]] = []
    found = measure_contributions(router, request, "market", progress=lambda done, of: told.append((done, of)))
    losses = dict(zip(found.to_frame()["market"], found.to_frame()["loss_bps"], strict=True))
    assert losses["1:large"] > losses["1:small"] > 0
    assert told == [(1, 2), (2, 2)]
    only = measure_contributions(Router(Snapshot([LARGE])), request, "market")
    assert only.to_frame()["loss_bps"].tolist() == [math.inf]
    assert only.to_frame()["status"].tolist() == ["no_route"]


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
@pytest.mark.parametrize("gas_price", [0, 10**10])
def test_a_market_left_out_is_as_one_that_is_not_there(side: str, gas_price: int) -> None:
    """The same routes as on a graph that was compiled without it, split ones and single ones."""
    snapshot = Snapshot.sandbox().apply(gas_prices=dict.fromkeys((1, 10, 8453, 42161), gas_price))
    router, weth = Router(snapshot), snapshot.token("WETH@1")
    amount = weth.units(300) if side == "exact_in" else snapshot.token("USDC@1").units(900_000)
    request = RouteRequest(token_in=weth, token_out="USDC@1", amount=amount, side=side, max_hops=2)
    whole = router.find_routes(request)
    for name in sorted({hop.market_id for hop in whole.best().hops})[:6]:
        lacking = Router(snapshot.apply(removed=[name])).find_routes(request).best()
        found = router.find_routes(request, without=[name]).best()
        assert name not in {hop.market_id for hop in found.hops}
        assert found.hops == lacking.hops
        # Gas is valued with the market: its price has a part in those that gas is valued by.
        assert found.net_amount == pytest.approx(lacking.net_amount, rel=1e-9)
    assert router.find_routes(request) == whole
    everything = router.find_routes(request, without=list(snapshot.markets))
    assert (str(everything.status), everything.routes) == ("no_route", ())


def test_chains_between_the_ends() -> None:
    lanes = [
        BridgeLane(id="out", protocol="across", token_in=ONE, token_out=FAR_ONE, fill_time_s=60, gas=1),
        BridgeLane(id="back", protocol="across", token_in=FAR_TWO, token_out=TWO, fill_time_s=60, gas=1),
    ]
    far = pool("10:far", "uniswap_v2", 100_000, (FAR_ONE, FAR_TWO))
    found = measure_contributions(Router(Snapshot([SMALL, far, *lanes])), REQUEST, "chain")
    assert [name for name, _ in found.without] == ["10"]
    assert found.to_frame()["loss_bps"].iloc[0] > 0
    with pytest.raises(InvalidRequest, match="part"):
        measure_contributions(Router(Snapshot([SMALL])), REQUEST, "token")  # type: ignore[arg-type]


def test_depth_is_that_of_the_curve() -> None:
    """Without fees the average price of x in a pool of r is r / (r + x) of the best."""
    depth = measure_depth(Router(Snapshot([LARGE, SMALL])), "T1@1", "T2@1", levels_bps=[100, 10, 1000])
    frame = depth.to_frame()
    assert frame["impact_bps"].tolist() == [10, 100, 1000]
    assert depth.best_price == pytest.approx(4000 / 4000.1, rel=1e-9)  # that of the first size
    expected = [4000 * (1 / (depth.best_price * (1 - part)) - 1) for part in (0.001, 0.01, 0.1)]
    assert frame["amount_in_whole"].tolist() == pytest.approx(expected, rel=2e-3)
    for level, route in depth.levels:
        assert route.price >= depth.best_price * (1 - level / 1e4)


def test_depth_ends_where_liquidity_does() -> None:
    lane = BridgeLane(
        id="lane", protocol="across", token_in=ONE, token_out=FAR_ONE, fill_time_s=60, gas=1, max_amount_in=50 * UNIT
    )
    depth = measure_depth(Router(Snapshot([lane])), ONE, FAR_ONE, levels_bps=[5])
    assert depth.levels[0][1].amount_in == pytest.approx(50 * UNIT, rel=1e-3)
    with pytest.raises(InvalidRequest, match="levels_bps"):
        measure_depth(Router(Snapshot([lane])), ONE, FAR_ONE, levels_bps=[0])
    least = BridgeLane(
        id="lane", protocol="across", token_in=ONE, token_out=FAR_ONE, fill_time_s=60, gas=1, min_amount_in=10**30
    )
    (level,) = measure_depth(Router(Snapshot([least])), ONE, FAR_ONE, levels_bps=[5]).levels
    assert level[1].amount_in > 10**30, "amounts below the lane's least are no end"
    none = replace(least, min_amount_in=2, max_amount_in=2)  # which no size that is tried meets
    with pytest.raises(InsufficientLiquidity):
        measure_depth(Router(Snapshot([none])), ONE, FAR_ONE)
    for option in ({"side": "exact_out"}, {"amount": 5}):
        with pytest.raises(InvalidRequest, match=next(iter(option))):
            measure_depth(Router(Snapshot([lane])), ONE, FAR_ONE, **option)


def test_a_route_decays_with_its_markets() -> None:
    snapshot = Snapshot([LARGE, SMALL], blocks={1: 5})
    route = Router(snapshot).find_routes(REQUEST).best()
    same = fill_route(route, snapshot)
    assert (same.amount_out, same.hops) == (route.amount_out, route.hops)
    poorer = replace(SMALL, reserve1=900 * UNIT)
    later = [
        snapshot.apply(blocks={1: 6}),
        snapshot.apply([poorer], blocks={1: 7}),
        snapshot.apply(removed=["1:small"], blocks={1: 8}),
        snapshot.apply([replace(SMALL, reserve1=1)], blocks={1: 9}),
    ]
    decay = measure_decay(route, later)
    assert decay.blocks == (6, 7, 8, 9)
    assert decay.changes_bps[0] == 0
    assert decay.changes_bps[1] == pytest.approx(-250, rel=1e-3), "a tenth of a quarter"
    assert [str(fill.refusal) for fill in decay.fills[2:]] == [MARKET_GONE, "AMOUNT_TOO_LOW"]
    assert decay.fills[2].market_id == "1:small"
    assert decay.slippage_bps(1) == 0
    assert decay.slippage_bps(2) == pytest.approx(250, rel=1e-3)
    assert decay.slippage_bps() == math.inf
    assert decay.to_frame()["refusal"].tolist()[:2] == ["", ""]
    with pytest.raises(InvalidRequest, match="snapshots"):
        measure_decay(route, [])


def test_a_cross_chain_route_is_filled_as_planned() -> None:
    """Hops that spend one token share what there is, and nothing is left over."""
    snapshot = Snapshot.sandbox()
    request = RouteRequest(token_in="WETH@1", token_out="USDC@8453", amount=300 * UNIT)
    route = Router(snapshot).find_routes(request).best()
    assert len(route.hops) > len(route.paths) > 1
    fill = fill_route(route, snapshot)
    assert (fill.amount_out, fill.hops) == (route.amount_out, route.hops)


def test_a_sweep_asks_every_combination() -> None:
    router = Router(Snapshot([LARGE, SMALL]))
    found = sweep(router, REQUEST, amount=[UNIT, 2 * UNIT], max_splits=[1, 2], gas_prices=[None, {1: 10**9}])
    frame = found.to_frame()
    assert len(frame) == 8
    assert frame["amount"].tolist() == [UNIT] * 4 + [2 * UNIT] * 4
    assert frame["max_splits"].tolist() == [1, 1, 2, 2] * 2
    assert frame["gas_prices"].tolist()[:2] == ["None", "{1: 1000000000}"]
    for row, result in zip(frame.itertuples(), found.quotes.results, strict=True):
        assert (row.amount_out, row.amount) == (result.best().amount_out, result.request.amount)
    assert sweep(router, REQUEST, side=["exact_in", "exact_out"]).to_frame()["side"].tolist() == [
        "exact_in",
        "exact_out",
    ]


@pytest.mark.parametrize("options", [{"max_hops": []}, {"max_hops": "23"}, {"speed": [1]}, {"max_hops": [2, 99]}])
def test_what_cannot_be_swept_is_named(options: dict[str, list[int]]) -> None:
    with pytest.raises(InvalidRequest, match=next(iter(options))):
        sweep(Router(Snapshot([LARGE])), REQUEST, **options)

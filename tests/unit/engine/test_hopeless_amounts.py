"""Amounts far beyond all that there is to buy: most is lost, yet several paths give several times what one gives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool
from routing_engine.result import Status
from routing_engine.search.sales.selling import HOPELESS
from tests.support.markets import market_of, token

UNIT = 10**18
POOLS = "\n".join(f"ab{number}: A B 1000 1000 30bps" for number in range(4))
OVER_C = "ac: A C 1000 1000 30bps\ncb: C B 1000 1000 30bps"


def test_an_amount_that_empties_one_pool_is_divided_over_others() -> None:
    router = Router(Snapshot(market_of(f"{POOLS}\n{OVER_C}")))
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=10**8 * UNIT)
    alone = router.find_routes(replace(request, max_splits=1)).best()
    divided = router.find_routes(request)
    assert alone.price_impact > HOPELESS
    assert divided.best().amount_out > 4.4 * alone.amount_out
    assert divided.certificate.gap_bps is not None
    assert router.find_routes(replace(request, max_splits=2)).best().amount_out > 1.9 * alone.amount_out


def test_a_path_that_begins_with_a_crumb_at_an_absurd_price_is_divided_as_any_other() -> None:
    """It loses nearly all of that price, and nothing of its value."""
    crumb = ConstantProductPool(
        id="crumb", protocol="crumb", token0=token("A"), token1=token("C"), reserve0=10**6, reserve1=10**12, fee_pips=0,
    )  # fmt: skip
    over_crumb = "cd: C D 1000 1000 30bps\ncb: C B 1000000 1000000000000 30bps"
    pools = [*market_of(f"{POOLS}\nab9: A B 90000 100 30bps\n{over_crumb}"), crumb]
    router = Router(Snapshot(pools))
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=50 * UNIT)
    assert len(router.find_routes(request).best().hops) >= len(POOLS.splitlines())


def test_one_path_stays_the_answer_where_there_is_no_other() -> None:
    router = Router(Snapshot(market_of(OVER_C)))
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=10**8 * UNIT)
    assert len(router.find_routes(request).best().paths) == 1


def test_a_loss_that_nobody_may_overlook_is_said() -> None:
    router = Router(Snapshot(market_of(POOLS)))
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=UNIT)
    assert "price impact" not in repr(router.find_routes(request))
    assert "; price impact 96." in repr(router.find_routes(replace(request, amount=10**5 * UNIT)))


@pytest.mark.parametrize("side", ["exact_in", "exact_out"])
def test_who_loses_much_to_the_size_is_warned(side: str) -> None:
    router = Router(Snapshot(market_of("ab: A B 1000 1000 30bps")))
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=UNIT, side=side)
    assert router.find_routes(request).warning == ""
    half = router.find_routes(replace(request, amount=990 * UNIT)).warning
    assert half.endswith(" % is lost to the amount's own size: these markets hold too little for it")


def test_never_more_than_all_but_a_crumb_is_said_to_be_lost() -> None:
    router = Router(Snapshot(market_of("ab: A B 1000 1000 30bps")))
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=10**8 * UNIT)
    assert router.find_routes(request).warning.startswith("99.99 % is lost")


@pytest.mark.parametrize("power", [32, 45, 59])
def test_an_amount_without_end_is_answered(power: int) -> None:
    """What it can buy is no part of it any more, in floats."""
    thin = "ab: A B 1000 1000 30bps\nab1: A B 900 1100 5bps\nac: A C 1000 1000 5bps\ncb: C B 1000 1000 5bps"
    router = Router(Snapshot(market_of(thin)))
    request = RouteRequest(token_in=token("A"), token_out=token("B"), amount=10**power * UNIT, certify=False)
    assert router.find_routes(request).status in ("found", "insufficient_liquidity")


@pytest.mark.parametrize("limits", [(10**12, 5 * 10**11), (10**12 + 3, 10**11 + 7, 3 * 10**10), (10**24, 7 * 10**23)])
@pytest.mark.parametrize("spare", [0, 1, 1_000])
def test_all_that_several_markets_take_together_is_sold_to_the_last_unit(limits: tuple[int, ...], spare: int) -> None:
    """Limits of bridges are round, and so is what people send over two of them."""
    text = "\n".join(f"l{number}: A@1 > A@10 fee=0 {number}bps 60s" for number in range(len(limits)))
    lanes = [replace(lane, max_amount_in=limit) for lane, limit in zip(market_of(text), limits, strict=True)]
    router = Router(Snapshot(lanes))
    request = RouteRequest(token_in=token("A@1"), token_out=token("A@10"), amount=sum(limits) - spare)
    route = router.find_routes(request).best()
    assert sum(hop.amount_in for hop in route.hops) == request.amount
    assert {hop.market_id for hop in route.hops} == {lane.id for lane in lanes}
    assert router.find_routes(replace(request, amount=sum(limits) + 1)).status is Status.INSUFFICIENT_LIQUIDITY
    bought = replace(request, side="exact_out", amount=route.amount_out)
    assert router.find_routes(bought).best().amount_in <= request.amount
    most = router.find_routes(replace(request, amount=sum(limits))).best().amount_out
    assert router.find_routes(replace(bought, amount=most + 1)).status is Status.INSUFFICIENT_LIQUIDITY

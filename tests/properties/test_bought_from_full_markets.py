"""What an amount gives where it fills orders beside shallow pools, bought: for no more than the amount."""

import random

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool, LadderMarket, Level
from tests.support.markets import token

UNIT = 10**18
A, B, C = token("A"), token("B"), token("C")


def draw_market(seed: int) -> Snapshot:
    """Return pools, and beside them orders of a fixed size at good prices."""
    dice = random.Random(seed)
    markets: list[ConstantProductPool | LadderMarket] = []
    for number, (one, other) in enumerate(((A, B), (A, C), (C, B), (A, B))):
        depth = 10 ** dice.uniform(-1, 2)
        markets.append(
            ConstantProductPool(
                id=f"pool {number}", protocol="pool", token0=one, token1=other, reserve0=int(depth * UNIT),
                reserve1=int(depth * dice.uniform(0.8, 1.2) * UNIT), fee_pips=3000,
            )
        )  # fmt: skip
    for number, (one, other) in enumerate(((A, B), (A, C), (C, B))):
        size, price = int(10 ** dice.uniform(0, 3) * UNIT), int(dice.uniform(0.5, 1.2) * UNIT)
        order = LadderMarket(
            id=f"order {number}", protocol="orders", token_in=one, token_out=other, levels=(Level(size, UNIT, price),)
        )
        markets.append(order)
    return Snapshot(markets, gas_prices={1: 0})


@pytest.mark.parametrize("seed", [2, 3, 17, 25, 37, 65, 66, 113, 115, 134, 137, 179])
def test_what_fills_orders_is_bought_for_what_it_was_sold_for(seed: int) -> None:
    """When an input was lowered, orders that were full took a part less too: up to 1,977 bps too much was paid."""
    router = Router(draw_market(seed))
    amount = int(10 ** random.Random(seed * 7).uniform(3, 6) * UNIT)
    sold = router.find_routes(RouteRequest(token_in=A, token_out=B, amount=amount)).best()
    bought = router.find_routes(RouteRequest(token_in=A, token_out=B, amount=sold.amount_out, side="exact_out")).best()
    assert bought.amount_in <= sold.amount_in * (1 + 1e-6)

"""Tokens that hardly divide: amounts of a few units, of which a part may be less than one."""

from __future__ import annotations

import random

import pytest

from routing_engine import Router, RouteRequest, Snapshot, Token
from routing_engine.markets import ConstantProductPool

TOKENS = [Token(chain_id=1, address=f"0x{number:040x}", symbol=f"T{number}", decimals=0) for number in range(1, 7)]


def make_market(rng: random.Random) -> Snapshot:
    """Return pools of different depths and prices: large amounts fill them, and much is left open."""
    return Snapshot(
        [
            ConstantProductPool(
                id=str(number), protocol="v2", token0=token0, token1=token1, fee_pips=3000,
                reserve0=int(10 ** rng.uniform(0.5, 4)), reserve1=int(10 ** rng.uniform(2, 12)),
            )
            for number in range(14) for token0, token1 in [rng.sample(TOKENS, 2)]
        ],
        gas_prices={1: 0},
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(13))
def test_amounts_of_a_few_units_are_answered_or_refused(seed: int) -> None:
    rng = random.Random(f"few units {seed}")
    router = Router(make_market(rng))
    for _ in range(12):
        token_in, token_out = rng.sample(TOKENS, 2)
        amount = int(10 ** rng.uniform(0, 4))
        sale = router.find_routes(RouteRequest(token_in=token_in, token_out=token_out, amount=amount))
        if not sale.routes:
            continue
        bought = sale.best().amount_out
        assert sale.best().amount_in == amount
        assert bought > 0
        purchase = router.find_routes(
            RouteRequest(token_in=token_in, token_out=token_out, amount=bought, side="exact_out", max_splits=2)
        )
        assert not purchase.routes or purchase.best().amount_out >= bought


@pytest.mark.parametrize(
    ("seed", "number"),
    [
        (8, 3),  # saved by leaps of a unit, a fifth more was paid
        (12, 6),  # the least input of all was never tried
        (14, 9),  # integers cost less than the bound
        (24, 5),
        (34, 4),
        (36, 10),  # the bound spoke of a hop less
    ],
)
def test_what_was_sold_is_bought_for_as_much(seed: int, number: int) -> None:
    """These once cost 1.2 to 500 times what they had been sold for."""
    rng = random.Random(f"few units {seed}")
    router = Router(make_market(rng))
    for _ in range(number + 1):
        token_in, token_out = rng.sample(TOKENS, 2)
        amount = int(10 ** rng.uniform(0, 4))
    sale = router.find_routes(RouteRequest(token_in=token_in, token_out=token_out, amount=amount)).best()
    purchase = router.find_routes(
        RouteRequest(token_in=token_in, token_out=token_out, amount=sale.amount_out, side="exact_out")
    ).best()
    assert purchase.amount_in <= amount
    assert purchase.amount_out >= sale.amount_out

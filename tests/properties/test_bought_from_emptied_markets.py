"""What an amount gives where it empties markets of few units, bought: it is there, and costs no more."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from routing_engine import Router, RouteRequest
from tests.properties.test_few_units import TOKENS, make_market


@pytest.mark.parametrize("seed", [8, 13, 20, 26, 27, 34, 37, 41])
def test_what_empties_markets_can_be_bought(seed: int) -> None:
    """Each was refused: floats promised what integers declined, or ended short of what integers give."""
    rng = random.Random(f"full {seed}")
    router = Router(make_market(rng))
    for _ in range(3):
        token_in, token_out = rng.sample(TOKENS, 2)
        amount = int(10 ** rng.uniform(3, 9))
        if {token_in, token_out} - set(router.graph.tokens):
            continue
        sale = router.find_routes(RouteRequest(token_in=token_in, token_out=token_out, amount=amount))
        if not sale.routes:
            continue
        bought = sale.best().amount_out
        request = RouteRequest(token_in=token_in, token_out=token_out, amount=bought, side="exact_out")
        purchase = router.find_routes(request).best()
        assert purchase.amount_out >= bought
        assert purchase.amount_in <= amount


@pytest.mark.parametrize("seed", [2, 13, 16, 66, 72, 75, 76, 85])
def test_what_a_sale_gave_is_bought_for_hardly_more(seed: int) -> None:
    """Each was refused: nobody sold larger inputs long enough, or sold what was bought.

    What just one input gives by luck of rounding (60,006 units, and none of those around it) need not be found again.
    """
    rng = random.Random(f"quality few {seed}")
    router = Router(make_market(rng))
    token_in, token_out = rng.sample(TOKENS, 2)
    amount = int(10 ** rng.uniform(0, 9))
    request = RouteRequest(token_in=token_in, token_out=token_out, amount=amount)
    bought = router.find_routes(request).best().amount_out
    purchase = router.find_routes(replace(request, side="exact_out", amount=bought)).best()
    assert purchase.amount_out >= bought
    assert purchase.amount_in <= amount * (1 + 1e-3)

"""What an amount gives on small dirty markets, bought: it is there, and costs no more than the amount and its gas."""

from __future__ import annotations

import random
from dataclasses import replace
from math import inf

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from tests.support.dirty_markets import make_market, units


@pytest.mark.parametrize(
    ("seed", "max_hops", "dearer_bps"),
    [
        (910017, 4, 19),  # nothing over few hops told the input that is needed, so a single path was taken to be best
        (910066, 4, 85),
        (910077, 4, 454),
        (910159, 4, 19),  # more of what fills a market was looked for in the same proportions, in which there is none
        (930089, 4, 23),  # only inputs were compared where it was sold, and gas was left out
        (
            940089,
            4,
            68,
        ),  # no division of a sale ran in integers, as all that there is of an input ends at a full market
        (910190, 6, 15),  # all paths went over one market, and each alone would have paid for the gas of a better one
        (950117, 6, 2),
        (910191, 4, inf),  # it was refused: of sales that fell short nobody asked what more they need
    ],
)
def test_what_a_sale_gave_is_bought_for_no_more(seed: int, max_hops: int, dearer_bps: float) -> None:
    rng = random.Random(f"attack {seed}")
    markets, token_in, token_out = make_market(rng)
    router = Router(Snapshot(markets, gas_prices={1: rng.choice((0, 10**9, 2 * 10**10))}))
    amount = units(token_in, 10 ** rng.uniform(1, 6.5))
    request = RouteRequest(
        token_in=token_in, token_out=token_out, amount=amount, max_hops=max_hops, max_splits=4, time_budget_ms=600_000
    )
    sold = router.find_routes(request).best()
    bought = router.find_routes(replace(request, side="exact_out", amount=sold.amount_out)).best()
    assert 1e4 * (bought.amount_in_gross / sold.amount_in_gross - 1) <= 0.1 < dearer_bps

"""Exact-out networks: round trips, however far the best single path is from them."""

from __future__ import annotations

import random

import pytest

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool
from routing_engine.search.allocations.exact_output import Flows, find_matching_input
from routing_engine.search.replays.least_input import find_least
from tests.support.markets import market_of, token

UNIT = 10**18
EVEN = "\n".join(f"ab{number}: A B 1000 1000 30bps" for number in range(6))
UNEVEN = "ab0: A B 1000 1000 30bps\nab1: A B 50 50 30bps\nac: A C 400 400 30bps\ncb: C B 300 300 30bps"


@pytest.mark.parametrize("market", [EVEN, UNEVEN])
@pytest.mark.parametrize("sold", [1, 100, 900, 4_000, 50_000])
def test_what_an_amount_buys_costs_no_more_than_it(market: str, sold: int) -> None:
    """One pool would need many times the input for most of these, or could not give as much at all."""
    router = Router(Snapshot(market_of(market)))
    ends = {"token_in": token("A"), "token_out": token("B")}
    there = router.find_routes(RouteRequest(**ends, amount=sold * UNIT)).best()
    back = router.find_routes(RouteRequest(**ends, amount=there.amount_out, side="exact_out")).best()
    assert back.amount_out >= there.amount_out
    assert back.amount_in <= there.amount_in * (1 + 1e-12)


@pytest.mark.parametrize("start", [1e-3, 1.0, 50.0, 1e6])
@pytest.mark.parametrize("believed", [1.0, 3.0])
def test_the_input_of_a_curve_is_found_from_any_start_even_with_wrong_prices(start: float, believed: float) -> None:
    asked: list[float] = []

    def divided(amount: float) -> Flows:
        asked.append(amount)
        value = 100.0 * amount / (10.0 + amount) + 0.01 * amount
        price = believed * (1000.0 / (10.0 + amount) ** 2 + 0.01)
        return Flows([0], [amount], amount, value, price, price)

    found = find_matching_input(divided, start, 60.0)
    assert found is not None
    assert abs(found.value - 60.0) < 1e-6
    assert abs(found.amount - asked[-1]) < 1e-6
    assert min(asked) > 0.0


def test_where_paths_do_not_go_together_there_is_no_match() -> None:
    assert find_matching_input(lambda amount: Flows([], [], amount, 0.0, 0.0, 0.0), 1.0, 60.0) is None


@pytest.mark.parametrize("guess", [1, 95, 99, 100, 101, 1000])
@pytest.mark.parametrize("step", [1, 7])
def test_the_least_amount_is_found_from_any_guess(guess: int, step: int) -> None:
    given: list[int] = []

    def run(amount: int) -> tuple[()] | None:
        given.append(amount)
        return () if amount >= 100 else None

    found = find_least(run, guess, step)
    assert (found is None) == (guess == 1)
    if found is not None:
        assert min(amount for amount in given if amount >= 100) == 100


@pytest.mark.parametrize(("value", "price"), [(5.0, 0.0), (0.0, 1e-300)])
def test_at_a_flat_end_of_curves_the_input_is_still_looked_for(value: float, price: float) -> None:
    """Marginal prices there are nothing, and no straight line leads on."""

    def divided(amount: float) -> Flows:
        if amount > 40.0:
            return Flows([0], [amount], amount, 50.0, 1e-9, 0.0)
        flat = amount < 20.0
        return Flows([0], [amount], amount, value if flat else amount, 1.0, price if flat else 1.0)

    for start in (1.0, 1e6):
        found = find_matching_input(divided, start, 30.0)
        assert found is not None
        assert found.value >= 30.0 * (1.0 - 1e-8)


def test_what_costs_less_than_a_unit_is_bought_over_few_paths_too() -> None:
    """An input below one unit was asked about, which no request can name: `InvalidRequest` was raised."""
    coarse, fine = token("COARSE", 0), token("FINE")
    for seed in (8, 20, 28, 34):
        dice = random.Random(seed)
        pools = [
            ConstantProductPool(
                id=f"pool {number}", protocol="pool", token0=coarse, token1=fine, reserve0=dice.randint(2, 50),
                reserve1=dice.randint(10**18, 10**20), fee_pips=3000,
            )
            for number in range(6)
        ]  # fmt: skip
        router = Router(Snapshot(pools, gas_prices={1: 0}))
        for splits in (2, 3):
            request = RouteRequest(token_in=coarse, token_out=fine, amount=10**16, side="exact_out", max_splits=splits)
            route = router.find_routes(request).best()
            assert (route.amount_in, route.amount_out >= 10**16) == (1, True)

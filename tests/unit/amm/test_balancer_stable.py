"""Balancer's StableSwap functions against the invariant itself, solved with 80 digits."""

from __future__ import annotations

import random
from decimal import Decimal, localcontext
from math import prod

import pytest

from routing_engine.amm.balancer.stable import (
    AMP_PRECISION,
    Invariant,
    balance_given_others,
    in_given_out,
    invariant,
    out_given_in,
)


def excess(amp: int, balances: tuple[int, ...], d: Decimal) -> Decimal:
    """Return A n**n S + D - A D n**n - D**(n + 1) / (n**n P), which falls as D grows past the solution."""
    n, raised = len(balances), Decimal(amp * len(balances)) / AMP_PRECISION
    with localcontext(prec=120):
        term = d ** (n + 1) / (Decimal(n) ** n * prod(Decimal(balance) for balance in balances))
        return raised * sum(balances) + d - raised * d - term


def random_pool(rng: random.Random) -> tuple[int, tuple[int, ...]]:
    """Return an amplification and balances for which both versions of the invariant converge."""
    while True:
        depth, amp = 10 ** rng.uniform(20, 28), int(10 ** rng.uniform(3, 6.69))
        balances = tuple(int(depth * 10 ** rng.uniform(-1, 1)) for _ in range(rng.randint(2, 5)))
        try:
            for version in Invariant:
                invariant(amp, balances, version)
        except ValueError:
            continue
        return amp, balances


@pytest.mark.parametrize(("version", "below", "above"), [(Invariant.UP, 0, 1000), (Invariant.DOWN, 4, 4)])
def test_the_invariant_is_rounded_as_its_version_says(version, below, above):
    rng = random.Random(7)
    for _ in range(300):
        amp, balances = random_pool(rng)
        d = invariant(amp, balances, version)
        assert excess(amp, balances, Decimal(d - above - 1)) > 0 > excess(amp, balances, Decimal(d + below + 1))


def test_balances_in_equilibrium_add_up_to_the_invariant():
    for version in Invariant:
        assert abs(invariant(200_000, (10**24,) * 3, version) - 3 * 10**24) <= 1


def test_a_balance_follows_from_the_others():
    rng = random.Random(8)
    for _ in range(300):
        amp, balances = random_pool(rng)
        index = rng.randrange(len(balances))
        d = invariant(amp, balances, Invariant.UP)
        found = balance_given_others(amp, balances, index, d)
        # Terms divided by the amplification have steps of a thousand.
        assert 0 <= found - balances[index] <= 4 * AMP_PRECISION


def test_what_is_asked_for_an_output_buys_about_it():
    rng = random.Random(9)
    for _ in range(300):
        amp, balances = random_pool(rng)
        sold, bought = rng.sample(range(len(balances)), 2)
        d = invariant(amp, balances, Invariant.DOWN)
        wanted = int(balances[bought] * 10 ** rng.uniform(-9, -0.1))
        asked = in_given_out(amp, balances, sold, bought, wanted, d)
        paid = out_given_in(amp, balances, sold, bought, asked, d)
        assert abs(paid - wanted) <= 40 * AMP_PRECISION * (1 + balances[bought] // balances[sold])


@pytest.mark.parametrize(
    ("balances", "version", "message"),
    [
        ((10**18, 0), Invariant.UP, "zero"),
        ((10**60, 1), Invariant.UP, "256 bits"),
        ((10**60, 1), Invariant.DOWN, "256 bits"),
        # Here the rounding makes the iteration swing by more than a unit for ever.
        ((4 * 10**23, 5 * 10**27), Invariant.UP, "converge"),
        ((8 * 10**25, 8 * 10**20), Invariant.DOWN, "converge"),
    ],
)
def test_where_the_contract_reverts_there_is_no_answer(balances, version, message):
    with pytest.raises(ValueError, match=message):
        invariant(1000, balances, version)


def test_an_empty_balance_has_no_answer():
    with pytest.raises(ValueError, match="too small"):
        balance_given_others(200_000, (10**18, 0), 1, 10**18)

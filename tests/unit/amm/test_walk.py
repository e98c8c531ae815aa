"""What is remembered of the way ahead of a pool's price changes no swap."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from routing_engine.amm.concentrated.swap_loop import MAX_AMOUNT, least_input, swap
from routing_engine.amm.concentrated.swap_math import step_exact_in
from routing_engine.amm.concentrated.walk import list_stretches, recall_walk
from tests.unit.amm.test_concentrated import L, pool

MARKET = pool((-1800, L), (-600, 2 * L), (0, -L // 2), (600, -L), (60_000, -3 * L // 2))


def sell_step_by_step(market, zero_for_one, amount):
    """Return input and output of a swap as the contract's loop adds them up."""
    remaining, given = amount, 0
    for start, target, active, _, _ in list_stretches(market, zero_for_one):
        price, amount_in, amount_out, fee = step_exact_in(start, target, active, remaining, market.fee_pips)
        remaining, given = remaining - amount_in - fee, given + amount_out
        if price != target or not remaining:
            break
    return amount - remaining, given


def list_amounts(market, zero_for_one):
    """List inputs around the end of each stretch, the largest first."""
    swap(market, zero_for_one, MAX_AMOUNT)
    ends = {end + more for end in recall_walk(market, zero_for_one).spent for more in (-1, 0, 1)}
    return sorted((end for end in ends if end > 0), reverse=True)


@pytest.mark.parametrize("zero_for_one", [True, False])
def test_swaps_end_where_the_loop_ends_them(zero_for_one):
    for amount in list_amounts(MARKET, zero_for_one):
        done = swap(MARKET, zero_for_one, amount)
        assert (done.amount_in, done.amount_out) == sell_step_by_step(MARKET, zero_for_one, amount)
        assert done == swap(replace(MARKET), zero_for_one, amount)


@pytest.mark.parametrize("zero_for_one", [True, False])
def test_the_least_input_does_not_depend_on_what_was_asked_before(zero_for_one):
    for amount in list_amounts(MARKET, zero_for_one):
        wanted = swap(MARKET, zero_for_one, amount).amount_out
        if wanted:
            assert least_input(MARKET, zero_for_one, wanted) == least_input(replace(MARKET), zero_for_one, wanted)


def test_a_state_is_remembered_by_itself_and_not_by_what_it_equals():
    assert recall_walk(MARKET, True) is recall_walk(MARKET, True)
    assert recall_walk(MARKET, True) is not recall_walk(replace(MARKET), True)


def test_threads_share_a_walk():
    amounts = list_amounts(MARKET, False) * 4
    fresh = replace(MARKET)
    with ThreadPoolExecutor(8) as threads:
        done = [*threads.map(lambda amount: swap(fresh, False, amount), amounts)]
    assert done == [swap(MARKET, False, amount) for amount in amounts]

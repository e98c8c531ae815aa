"""Recorded Ekubo pools: they load, conform, and their recorded price moves follow to the last bit."""

from __future__ import annotations

import gzip
import json
from collections import Counter

import pytest

from adapters.testing import check_market
from routing_engine.amm.ekubo.swap_loop import amount0_delta, next_ratio_from_amount0, next_ratio_from_amount1
from routing_engine.amm.ekubo.ticks import Q128
from routing_engine.fixed_point import div_up
from routing_engine.markets import pool_readers
from routing_engine.markets.common.pool_fields import PoolRefused, read_tokens
from tests.support.tolerances import tolerances

pytestmark = pytest.mark.shared_data

FILES = ("eth_fynd_24693611", "eth_fynd_24699608", "eth_fynd_24721174")
TYPES = ("ekubo", "ekubov3")


def build(records):
    found, refused = [], Counter()
    for record in records:
        if record["type"] in TYPES:
            try:
                found.append(pool_readers()[record["type"]](record, record["id"], read_tokens(record)))
            except PoolRefused as reason:
                refused[str(reason)] += 1
    return found, refused


def read(shared_data, name):
    with gzip.open(shared_data / "markets" / f"{name}.json.gz") as file:
        return json.load(file)


@pytest.mark.parametrize("name", FILES)
def test_all_recorded_pools_load_but_an_empty_one(shared_data, name):
    found, refused = build(read(shared_data, name)["pools"])
    assert (len(found), refused) == (5, {"empty": 1})


@pytest.mark.parametrize("name", [*FILES, "multi_kyber_fixtures"])
def test_recorded_pools_conform(shared_data, name):
    for pool in build(read(shared_data, name)["pools"])[0]:
        check_market(pool, samples=6, **tolerances(pool))


def test_recorded_price_moves_follow_to_the_last_bit(shared_data, record_property):
    """Five of nine moves between blocks are those of one whole input: it leads to exactly the recorded price.

    The other four were made by more than one swap, or by an exact output. In the pool of most moves, steps of the input
    are ten thousand times coarser than those of the price: a wrong rounding would not hit one of them by chance.
    """
    exact, moves = [], 0
    for name in FILES:
        before = {pool.id: pool for pool in build(read(shared_data, name)["pools"])[0]}
        for block in read(shared_data, f"{name}_block_deltas")["blocks"]:
            for after in build(block["changed"])[0]:
                last, before[after.id] = before[after.id], after
                assert after.liquidity == last.liquidity
                moves += 1
                if replay(last, after.sqrt_ratio) == after.sqrt_ratio:
                    exact.append(block["block"])
    assert moves == 9
    assert exact == [24693616, 24699613, 24699616, 24721176, 24721178]
    record_property("vector_cases", ("ekubo: recorded moves of main-net pools, price to the last bit", len(exact)))


def replay(pool, end):
    """Return the price that the least input reaching `end` in one stretch leads to."""
    start, liquidity = pool.sqrt_ratio, pool.liquidity
    if end > start:
        return next_ratio_from_amount1(start, liquidity, div_up((end - start) * liquidity, Q128))
    return next_ratio_from_amount0(start, liquidity, amount0_delta(end, start, liquidity, up=True))

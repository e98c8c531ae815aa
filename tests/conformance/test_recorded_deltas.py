"""Recorded blocks, replayed: each leads to the recorded market, and the pools' own arithmetic to the same states."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from routing_engine import Snapshot, formats
from routing_engine.amm.concentrated.swap_loop import Swapped, swap
from routing_engine.amm.integer_search import least_input
from routing_engine.formats import neutral
from routing_engine.market import Market
from routing_engine.markets import ConcentratedPool, ConstantProductPool

pytestmark = pytest.mark.shared_data

BLOCKS = {"eth_fynd_24693611": 11, "eth_fynd_24699608": 9, "eth_fynd_24721174": 7}
"""Recorded blocks after each recorded market."""


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded market and the blocks after it, as files and as what they hold."""

    start: Path
    deltas: Path
    pools: list[dict[str, Any]]
    blocks: list[dict[str, Any]]


@pytest.fixture(scope="module", params=BLOCKS)
def recording(request: pytest.FixtureRequest, shared_data: Path) -> Recording:
    start = shared_data / "markets" / f"{request.param}.json.gz"
    deltas = start.with_name(f"{request.param}_block_deltas.json.gz")
    blocks = read(deltas)["blocks"]
    assert len(blocks) == BLOCKS[request.param]
    return Recording(start, deltas, read(start)["pools"], blocks)


def read(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


def test_each_block_leads_to_the_recorded_market(recording: Recording) -> None:
    """Applying changes one block after the other is reading the recorded state of all pools at that block."""
    snapshot = Snapshot.load(recording.start)
    pools = {pool["id"]: pool for pool in recording.pools}
    for step, block in zip(formats.load_deltas(recording.deltas), recording.blocks, strict=True):
        snapshot = snapshot.apply(step.markets, removed=step.withdrawn, blocks=step.blocks)
        pools |= {pool["id"]: pool for pool in block["changed"]}
        whole = neutral.parse({"pools": list(pools.values())}, "recorded")
        assert dict(snapshot.markets) == {market.id: market for market in whole.markets}
        assert snapshot.id == Snapshot(whole.markets).id
        assert snapshot.blocks == {1: block["block"]}


def test_the_numbers_are_those_of_the_file(recording: Recording) -> None:
    """State by state, without the reader of market files in between."""
    snapshot, compared = Snapshot.load(recording.start), 0
    for step, block in zip(formats.load_deltas(recording.deltas), recording.blocks, strict=True):
        snapshot = snapshot.apply(step.markets, removed=step.withdrawn)
        for pool in block["changed"]:
            match snapshot.markets.get(pool["id"]):
                case ConstantProductPool() as market:
                    assert [str(market.reserve0), str(market.reserve1)] == pool["reserves"]
                case ConcentratedPool() as market:
                    assert str(market.sqrt_price_x96) == pool["sqrt_price_x96"]
                    assert (market.tick, str(market.liquidity)) == (pool["tick"], pool["liquidity"])
                    assert [[index, str(net)] for index, net in market.ticks] == pool["ticks"]
                case _:
                    continue
            compared += 1
    assert compared == sum(pool["type"] in ("cpmm", "clmm") for block in recording.blocks for pool in block["changed"])
    assert compared > 50


def moves(shared_data: Path, kind: type[Market]) -> Iterator[tuple[Any, Any]]:
    """Yield each pool of a kind that a block changed, before and after the block."""
    for name in BLOCKS:
        path = shared_data / "markets" / f"{name}.json.gz"
        last = dict(Snapshot.load(path).markets)
        for step in formats.load_deltas(path.with_name(f"{name}_block_deltas.json.gz")):
            for market in step.markets:
                if isinstance(market, kind) and market != last[market.id]:
                    yield last[market.id], market
                last[market.id] = market


def test_pairs_give_what_was_taken_out_of_them(
    shared_data: Path, record_property: Callable[[str, object], None]
) -> None:
    """Four of five recorded moves of pairs are one sale: its exact output is what left the pool, to the wei.

    The others were several trades in one block. A pool that had paid more than its formula allows would be a mismatch.
    """
    found: Counter[str] = Counter()
    for before, after in moves(shared_data, ConstantProductPool):
        change0, change1 = after.reserve0 - before.reserve0, after.reserve1 - before.reserve1
        sold, bought = (before.token0, before.token1) if change0 > 0 else (before.token1, before.token0)
        given, taken = max(change0, change1), -min(change0, change1)
        quoted = before.swap_exact_in(sold, bought, given)[0].amount_out
        assert quoted >= taken
        found["exact" if quoted == taken else "several trades"] += 1
    assert found == {"exact": 78, "several trades": 19}
    record_property("vector_cases", ("constant product: recorded moves of main-net pairs", found["exact"]))


def swap_to(before: ConcentratedPool, price: int) -> Swapped:
    """Return the swap of the least input that carries the price to `price`, or past it."""
    falls = price < before.sqrt_price_x96
    way = -1 if falls else 1
    least = least_input(lambda amount: way * swap(before, falls, amount).sqrt_price_x96, way * price, 1, 2**128)
    assert least is not None
    return swap(before, falls, least)


def test_concentrated_pools_move_as_recorded(shared_data: Path, record_property: Callable[[str, object], None]) -> None:
    """Swapping up to the recorded price gives the recorded tick and liquidity, 18 times across initialised ticks.

    Four of five prices are met to the last bit by a sale; the rest are those of exact outputs and of several trades.
    """
    found: Counter[str] = Counter()
    for before, after in moves(shared_data, ConcentratedPool):
        if before.ticks != after.ticks:
            found["positions changed"] += 1
            continue
        done = swap_to(before, after.sqrt_price_x96)
        assert (done.tick, done.liquidity) == (after.tick, after.liquidity)
        found["same price" if done.sqrt_price_x96 == after.sqrt_price_x96 else "price passed"] += 1
        found["liquidity changed"] += before.liquidity != after.liquidity
    assert found == {"same price": 139, "price passed": 32, "positions changed": 5, "liquidity changed": 18}
    moved = found["same price"] + found["price passed"]
    record_property("vector_cases", ("uniswap v3 and forks: recorded moves of main-net pools (tick, liquidity)", moved))
    record_property("vector_cases", ("uniswap v3 and forks: of these with the same price to the last bit", 139))


def test_what_never_changes_is_equal_in_all_recordings(shared_data: Path) -> None:
    """A pool of several recordings has the same tokens, fee and spacing in each."""
    seen: dict[str, Market] = {}
    again = 0
    for name in BLOCKS:
        for market in Snapshot.load(shared_data / "markets" / f"{name}.json.gz").markets.values():
            first = seen.setdefault(market.id, market)
            assert (type(first), first.protocol, first.tokens) == (type(market), market.protocol, market.tokens)
            assert [t.decimals for t in first.tokens] == [t.decimals for t in market.tokens]
            if isinstance(market, ConcentratedPool | ConstantProductPool):
                assert first.fee_pips == market.fee_pips
            if isinstance(market, ConcentratedPool):
                assert first.tick_spacing == market.tick_spacing
            again += first is not market
    assert again > 2_500

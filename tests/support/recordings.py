"""A market that moves block by block, and its recording."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from routing_engine import HistoryWriter, Snapshot, Token
from routing_engine.amm.concentrated.tick_math import tick_at_sqrt_ratio
from routing_engine.market import Market
from routing_engine.markets import ConcentratedPool, ConstantProductPool

TOKENS = [Token(chain_id=1, address=f"0x{n + 1:040x}", symbol=f"T{n}", decimals=18) for n in range(4)]
FIRST = 1_000


def make_pool(number: int) -> Market:
    """Return a pool: with an odd number a concentrated one."""
    token0, token1 = TOKENS[number % 3 : number % 3 + 2]
    if number % 2:
        return ConcentratedPool(
            id=f"1:{number}", protocol="uniswap_v3", token0=token0, token1=token1, fee_pips=3000, tick_spacing=60,
            sqrt_price_x96=2**96, tick=0, liquidity=10**21, ticks=((-600, 10**21), (600, -(10**21))),
        )  # fmt: skip
    return ConstantProductPool(
        id=f"1:{number}", protocol="uniswap_v2", token0=token0, token1=token1, reserve0=10**21, reserve1=10**21,
        fee_pips=3000,
    )  # fmt: skip


def move(market: Market, rng: random.Random) -> Market:
    """Return the market as it is after some trades."""
    if isinstance(market, ConcentratedPool):
        price = 2**96 + rng.randrange(2**86)
        ticks = ((-600, 10**21), (60 * rng.randrange(1, 10), 5), (600, -(10**21) - 5))
        return replace(market, sqrt_price_x96=price, tick=tick_at_sqrt_ratio(price), ticks=ticks, liquidity=10**21)
    assert isinstance(market, ConstantProductPool)
    return replace(market, reserve0=market.reserve0 + rng.randrange(10**18))


def make_market(blocks: int, seed: int = 3) -> list[Snapshot]:
    """Return a market block by block: pools move, come and go."""
    rng = random.Random(seed)
    found = [Snapshot(map(make_pool, range(6)), gas_prices={1: 10**9}, blocks={1: FIRST})]
    for number in range(1, blocks):
        last = found[-1]
        changed = [move(market, rng) for market in rng.sample(list(last.markets.values()), 2)]
        added = [make_pool(100 + number)] if number % 7 == 0 else []
        gone = rng.sample(sorted(last.markets.keys() - {each.id for each in changed}), number % 9 == 0)
        found.append(
            last.apply(
                [*changed, *added], removed=gone, gas_prices={1: 10**9 + number}, blocks={1: FIRST + number},
                taken_at=f"2026-03-01T12:00:{number % 60:02}+00:00",
            )
        )  # fmt: skip
    return found


def record(path: Path, market: list[Snapshot]) -> Path:
    """Write the blocks to a recording; return its path."""
    with HistoryWriter(path, 1) as writer:
        for snapshot in market:
            writer.append(snapshot)
    return path


def hash_of(number: int, fork: str = "a") -> str:
    """Return the hash of a block."""
    return f"0x{fork}{number:063x}"


def is_same(one: Snapshot, other: Snapshot) -> bool:
    """Tell whether all is equal, the order of markets too: routes depend on it."""
    fields = "id", "gas_prices", "blocks", "taken_at"
    is_same_moment = all(getattr(one, name) == getattr(other, name) for name in fields)
    return is_same_moment and list(one.markets.items()) == list(other.markets.items())

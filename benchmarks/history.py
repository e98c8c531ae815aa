"""What a long recording costs: on the disk, and in CPU time to record, to open, at random, forward, back; and memory.

``python -m benchmarks.history`` records 10,000 blocks of 2,000 pools, of which each changes 200. It takes minutes.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

from routing_engine import Snapshot, Token
from routing_engine.amm.concentrated.tick_math import tick_at_sqrt_ratio
from routing_engine.history.history import History
from routing_engine.history.writer import HistoryWriter
from routing_engine.market import Market
from routing_engine.markets import ConcentratedPool, ConstantProductPool

BLOCKS, POOLS, CHANGED, TOKENS = 10_000, 2_000, 200, 300
TICKS = 60
"""Initialised ticks of a concentrated pool."""
FIRST, SEED = 21_000_000, 45
READ, WALKED = 100, 300


def make_pools(rng: random.Random) -> list[Market]:
    """Return pools of both common kinds, half and half."""
    tokens = [Token(chain_id=1, address=f"0x{n + 1:040x}", symbol=f"T{n}", decimals=18) for n in range(TOKENS)]
    found: list[Market] = []
    for number in range(POOLS):
        token0, token1 = sorted(rng.sample(tokens, 2), key=lambda token: token.address)
        if number % 2:
            ticks = [(60 * n, 10**18 * (1 if n < 0 else -1)) for n in range(-TICKS // 2, TICKS // 2 + 1) if n]
            found.append(
                ConcentratedPool(
                    id=f"1:0x{number:040x}", protocol="uniswap_v3", token0=token0, token1=token1, fee_pips=3000,
                    tick_spacing=60, sqrt_price_x96=2**96, tick=0, liquidity=TICKS // 2 * 10**18, ticks=tuple(ticks),
                )
            )  # fmt: skip
        else:
            reserves = [rng.randrange(10**21, 10**24) for _ in range(2)]
            found.append(
                ConstantProductPool(
                    id=f"1:0x{number:040x}", protocol="uniswap_v2", token0=token0, token1=token1,
                    reserve0=reserves[0], reserve1=reserves[1], fee_pips=3000,
                )
            )  # fmt: skip
    return found


def generate_blocks(rng: random.Random, blocks: int) -> Iterator[Snapshot]:
    """Yield a market, and then what trades make of it."""
    snapshot = Snapshot(make_pools(rng), gas_prices={1: 10**10}, blocks={1: FIRST})
    yield snapshot
    names = list(snapshot.markets)
    for number in range(1, blocks):
        changed = [move(snapshot.markets[name], rng) for name in rng.sample(names, CHANGED)]
        price = 10**10 + rng.randrange(10**9)
        snapshot = snapshot.apply(changed, gas_prices={1: price}, blocks={1: FIRST + number})
        yield snapshot


def move(market: Market, rng: random.Random) -> Market:
    """Return a market after a trade."""
    if isinstance(market, ConcentratedPool):
        price = 2**96 + rng.randrange(2**86)
        return replace(market, sqrt_price_x96=price, tick=tick_at_sqrt_ratio(price))
    assert isinstance(market, ConstantProductPool)
    reserves = market.reserve0 + rng.randrange(10**18), market.reserve1 - rng.randrange(10**17)
    return replace(market, reserve0=reserves[0], reserve1=reserves[1])


def record(path: Path, blocks: int) -> None:
    """Record generated blocks, and print what that costs."""
    started = time.process_time()
    with HistoryWriter(path, 1) as writer:
        for snapshot in generate_blocks(random.Random(SEED), blocks):
            writer.append(snapshot)
    size = path.stat().st_size
    print(f"recorded {blocks:,} blocks: {(time.process_time() - started) / blocks * 1e3:.1f} ms each")
    print(f"on the disk: {size / 1e6:,.1f} MB, {size / blocks / 1e3:.1f} kB a block")


def read(path: Path) -> None:
    """Print what reading costs, in a process that has done nothing else."""
    rng, before, started = random.Random(SEED), read_peak(), time.process_time()
    history = History.open(path)
    print(f"opened in {time.process_time() - started:.2f} s")
    times = []
    for block in rng.choices(history.blocks, k=READ):
        started = time.process_time()
        history.at(block)
        times.append(time.process_time() - started)
    times.sort()
    print(f"a block at random: {times[READ // 2] * 1e3:.0f} ms median, {times[-1] * 1e3:.0f} ms at most")
    middle = history[len(history) // 2 :][:WALKED]
    for name, walk in (("forward", iter(middle)), ("back", reversed(middle))):
        started = time.process_time()
        count = sum(1 for _ in walk)
        print(f"{name}: {(time.process_time() - started) / count * 1e3:.1f} ms a block")
    print(f"memory at the peak: {read_peak() - before:.0f} MB more than before it was opened")


def read_peak() -> float:
    """Return the most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(1, get_context("spawn")) as other:
        file = Path(folder) / "long.recording"
        record(file, int(sys.argv[1]) if len(sys.argv) > 1 else BLOCKS)
        other.submit(read, file).result()

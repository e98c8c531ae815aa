"""Two paths, where more would be used, beside every pair of paths there is."""

from __future__ import annotations

import random
from itertools import combinations

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.markets import ConstantProductPool
from tests.support.markets import token

TOKENS, POOLS, SEEDS = [token(name) for name in "ABCDE"], 10, 40
MAX_HOPS, STEPS, MISSED = 3, 40, 1e-7
"""Hops of a path, thirds that the search for the best division leaves off, and the part that an answer may lack."""

Path = list[ConstantProductPool]


def make_pools(rng: random.Random) -> list[ConstantProductPool]:
    """Return pools between random tokens, whose prices disagree, and whose depths differ by a hundred times."""
    pools = []
    for number in range(POOLS):
        a, b = rng.sample(TOKENS, 2)
        depth = 10 ** rng.uniform(20, 22)
        pools.append(
            ConstantProductPool(
                id=f"pool {number}",
                protocol="pool",
                token0=a,
                token1=b,
                reserve0=int(depth),
                reserve1=int(depth * rng.uniform(0.8, 1.25)),
                fee_pips=3000,
            )
        )
    return pools


def list_paths(pools: list[ConstantProductPool]) -> list[Path]:
    """List all paths from the first token to the last that meet no token twice."""
    found = list[Path]()

    def extend(path: Path, seen: list[object]) -> None:
        if seen[-1] == TOKENS[-1]:
            found.append(path)
            return
        for pool in pools if len(path) < MAX_HOPS else ():
            if seen[-1] in pool.tokens:
                onward = next(each for each in pool.tokens if each != seen[-1])
                if onward not in seen:
                    extend([*path, pool], [*seen, onward])

    extend([], [TOKENS[0]])
    return found


def run(path: Path, amount: int) -> int:
    """Return what a path gives for an amount."""
    at = TOKENS[0]
    for pool in path:
        onward = next(each for each in pool.tokens if each != at)
        amount = pool.quote_exact_in(at, onward, amount).amount_out if amount else 0
        at = onward
    return amount


def divide(one: Path, other: Path, amount: int) -> int:
    """Return the most that two paths without a market in common give together."""
    low, high = 0, amount
    for _ in range(STEPS):
        left, right = low + (high - low) // 3, high - (high - low) // 3
        if run(one, left) + run(other, amount - left) < run(one, right) + run(other, amount - right):
            low = left
        else:
            high = right
    return run(one, low) + run(other, amount - low)


def test_two_paths_are_the_best_two() -> None:
    chosen = 0
    for seed in range(SEEDS):
        rng = random.Random(f"few {seed}")
        pools = make_pools(rng)
        paths = list_paths(pools)
        apart = [(a, b) for a, b in combinations(paths, 2) if not {p.id for p in a} & {p.id for p in b}]
        if not apart:
            continue
        router = Router(Snapshot(pools, gas_prices={1: 0}))
        request = RouteRequest(
            token_in=TOKENS[0], token_out=TOKENS[-1], amount=int(10 ** rng.uniform(20, 23)), max_hops=MAX_HOPS,
            max_splits=2,
        )  # fmt: skip
        known = max(divide(a, b, request.amount) for a, b in apart)
        assert router.find_routes(request).best().amount_out >= known * (1 - MISSED), seed
        chosen += len(apart) > 1
    assert chosen > SEEDS // 4, "in some there are pairs to choose from"

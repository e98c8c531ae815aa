"""An archive's replay gives what any router on the same snapshot gave, however that router came to it."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

from routing_engine import Router, RouteRequest, Snapshot
from routing_engine.archive.archive import Archive
from routing_engine.markets import ConstantProductPool

PAIRS = (("WETH@1", "USDC@1"), ("USDC@8453", "ETH@42161"), ("WBTC@1", "DAI@10"), ("WETH@137", "USDT@1"))


def move(snapshot: Snapshot, dice: random.Random) -> Snapshot:
    """Return the market a moment later: some pools have traded."""
    pools = [market for market in snapshot.markets.values() if isinstance(market, ConstantProductPool)]
    traded = [replace(pool, reserve0=pool.reserve0 * dice.randint(90, 110) // 100) for pool in dice.sample(pools, 20)]
    return snapshot.apply(traded, blocks={1: dice.randrange(10**6)})


def test_a_router_that_followed_a_market_answers_as_one_that_read_it(tmp_path: Path) -> None:
    dice = random.Random(15)
    snapshot = Snapshot.sandbox()
    router = Router(snapshot)
    for _ in range(5):
        snapshot = move(snapshot, dice)
        router = router.follow(snapshot)
    kept = []
    for number in range(24):
        token_in, token_out = map(snapshot.token, dice.choice(PAIRS))
        fixed = (token_in, token_out)[number % 2]
        request = RouteRequest(
            token_in=token_in,
            token_out=token_out,
            amount=fixed.units(dice.choice(["0.001", "1", "37.5"])),
            side=("exact_in", "exact_out")[number % 2],
            alternatives=number % 3,
        )
        kept.append(Archive.of(router.find_routes(request), snapshot))
    kept[0].save(tmp_path / "first.json.gz")
    read = Archive.load(tmp_path / "first.json.gz")
    fresh = Router(read.snapshot)
    assert len(repr(read)) < 300
    assert repr(read.replay(fresh)) == f"Replay(the same answer; {read!r})"
    dice.shuffle(kept)
    assert {archive.replay(fresh).difference for archive in kept} == {""}

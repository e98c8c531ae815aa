"""What the recorded outputs are outputs of: markets by name, each with requests by name, the same on every machine."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import recorded
from benchmarks.instances import LOOPS, SIZES, constant_product_market
from routing_engine import Router, RouteRequest, Snapshot, Token
from routing_engine.markets import ConstantProductPool
from tests.support.mixed import DOLLARS, GAS_PRICES, TOKENS, mixed_markets

HERE = Path(__file__).parent
PATIENT_MS = 600_000
HIGH_GAS = 10**12
"""Wei: at a thousand gwei a pool of the generated markets costs what a few basis points of their smaller trades do."""

LOW_GAS, USUAL_GAS = 134 * 10**6, 10**10

Outputs = dict[str, dict[str, int]]
"""By market and by request: net amounts, output after gas for exact-in, input plus gas for exact-out."""

Requests = dict[str, RouteRequest]


@dataclass(frozen=True, slots=True)
class Market:
    """How a market is made, and what is asked of it."""

    build: Callable[[], Snapshot]
    requests: Callable[[Snapshot], Requests]


def outputs(market: Market) -> dict[str, int]:
    """Return what the router gives now, for all requests that have a route."""
    snapshot = market.build()
    router = Router(snapshot)
    results = {
        name: router.find_routes(replace(request, time_budget_ms=PATIENT_MS))
        for name, request in market.requests(snapshot).items()
    }
    return {name: result.best().net_amount for name, result in results.items() if result.routes}


def lost(name: str, before: int, now: int) -> float:
    """Part of the recorded net amount that is missing now; negative where it became better."""
    return (now - before if "exact_out" in name else before - now) / abs(before)


def load(name: str) -> Outputs:
    """Read the recorded outputs of ``generated`` or ``recorded`` markets; empty before the first recording."""
    path = HERE / f"{name}.json"
    if not path.exists():
        return {}
    return {
        market: {request: int(net) for request, net in rows.items()}
        for market, rows in json.loads(path.read_text()).items()
    }


def save(name: str, found: Outputs) -> None:
    """Write them, amounts as digit strings."""
    document = {market: {request: str(net) for request, net in rows.items()} for market, rows in found.items()}
    (HERE / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")


def _both_sides(token_in: Token, token_out: Token, sold: int, bought: int, gas: int | None) -> Requests:
    gas_prices = None if gas is None else {1: gas}
    both = {"exact_in": sold, "exact_out": bought}
    return {
        side: RouteRequest(token_in=token_in, token_out=token_out, amount=amount, side=side, gas_prices=gas_prices)
        for side, amount in both.items()
    }


def _by_size(snapshot: Snapshot) -> Requests:
    """Parts of the deepest pools of random pairs; the choice uses reserves only, nothing that a router computes."""
    rng = random.Random(5)
    deepest: dict[Token, int] = {}
    for pool in snapshot.markets.values():
        assert isinstance(pool, ConstantProductPool)
        for token, reserve in ((pool.token0, pool.reserve0), (pool.token1, pool.reserve1)):
            deepest[token] = max(deepest.get(token, 0), reserve)
    tokens = sorted(deepest, key=lambda token: token.key)
    found = {}
    for number in range(3):
        a, b = rng.sample(tokens, 2)
        for size in SIZES:
            for gas in (0, HIGH_GAS):
                amounts = int(deepest[a] * size), int(deepest[b] * size)
                for side, request in _both_sides(a, b, *amounts, gas).items():
                    found[f"pair {number}, {size:.2%}, gas {gas}, {side}"] = request
    return found


def _mixed_requests(snapshot: Snapshot) -> Requests:
    rng = random.Random(len(snapshot.markets))
    known = set(snapshot.tokens)
    found = {}
    for number in range(3):
        a, b = rng.sample([token for token in TOKENS if token in known], 2)
        sold, bought = (int(10 ** rng.uniform(3, 6) / DOLLARS[token] * 10**token.decimals) for token in (a, b))
        for side, request in _both_sides(a, b, sold, bought, None).items():
            found[f"pair {number}, {side}"] = request
    return found


def _sandbox_requests(snapshot: Snapshot) -> Requests:
    pairs = (
        ("WETH@1", "USDC@1", 5 * 10**18), ("WETH@1", "USDC@8453", 50 * 10**18), ("USDC@8453", "WETH@1", 10**11),
        ("USDC@1", "USDC@10", 25 * 10**9), ("WETH@42161", "USDC@137", 3 * 10**18), ("USDC@137", "WETH@10", 4 * 10**9),
    )  # fmt: skip
    return {
        f"{amount} {sold} to {bought}": RouteRequest(
            token_in=snapshot.token(sold), token_out=snapshot.token(bought), amount=amount
        )
        for sold, bought, amount in pairs
    }


def _mixed(seed: int) -> Snapshot:
    return Snapshot(mixed_markets(random.Random(f"quality {seed}")), gas_prices=GAS_PRICES)


GENERATED: Mapping[str, Market] = {
    "prices agree": Market(lambda: constant_product_market(tokens=250, pools=1_000), _by_size),
    "loops": Market(lambda: constant_product_market(tokens=250, pools=1_000, disagreement=LOOPS), _by_size),
    "sandbox": Market(Snapshot.sandbox, _sandbox_requests),
    **{f"mixed {seed}": Market(lambda seed=seed: _mixed(seed), _mixed_requests) for seed in range(14)},
}


def recorded_markets(folder: Path) -> Mapping[str, Market]:
    """Markets of the folder of recorded data; requests are named by their place in its files."""
    name, block = recorded.GOLDEN_RECORDING, recorded.GOLDEN_BLOCK
    return {
        f"{name} at {block}": Market(
            lambda: recorded.market(folder, name, block), lambda market: _trades(folder, market)
        ),
        recorded.AUCTION: Market(
            lambda: recorded.market(folder, recorded.AUCTION), lambda market: _orders(folder, market)
        ),
    }


def _trades(folder: Path, market: Snapshot) -> Requests:
    scenarios, _ = recorded.golden(folder, market, USUAL_GAS)
    trades, _ = recorded.requests(folder, market, LOW_GAS)
    found = {f"scenario {number}": scenario.request for number, scenario in enumerate(scenarios)}
    return found | {f"request {number}": trades[number] for number in range(0, len(trades), 15)}


def _orders(folder: Path, market: Snapshot) -> Requests:
    orders, _ = recorded.orders(folder, market)
    requests = [order.request for order in orders]
    return {f"order {number}, {requests[number].side}": requests[number] for number in range(0, len(requests), 20)}

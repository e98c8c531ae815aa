"""Generated markets and queries, the same for a seed on every machine."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from routing_engine import Router, Snapshot, Token
from routing_engine.markets import ConstantProductPool

FEE_PIPS = 3000
POOL_GAS = 120_000
HUBS = 20
HUB_ADDRESSES = (
    ("WETH", "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"),
    ("USDC", "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48"),
    ("USDT", "0xdac17f958d2ee523a2206206994597c13d831ec7"),
    ("WBTC", "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599"),
    ("DAI", "0x6b175474e89094c44da98b954eedeac495271d0f"),
)
"""Addresses of the best connected tokens: those that routers with a list of base tokens look for."""

CONSISTENT, LOOPS = 0.002, 0.01
"""How far pools may disagree about a price: within their fee of 0.3 %, or beyond it, so that loops of pools give."""

SIZES = (0.0001, 0.001, 0.01, 0.05)
"""Sizes of trades, as fractions of the depth of their pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A trade to quote, and what each pool that it uses costs in gas.

    Parameters
    ----------
    token_in, token_out : Token
        The pair.
    amount : int
        Smallest units sold.
    size : float
        The same as a fraction of the depth of the pair.
    """

    token_in: Token
    token_out: Token
    amount: int
    size: float


def constant_product_market(
    *, tokens: int = 5_000, pools: int = 20_000, seed: int = 1, disagreement: float = CONSISTENT
) -> Snapshot:
    """Return a scale-free market of constant-product pools, one for each pair at most, as in Uniswap v2.

    A few hubs hold most of the pools and depth, as wrapped coins and stablecoins do; a pool's depth is log-normal. A
    pool's price is off the common one by up to `disagreement`: up to the fee no loop of pools gives anything.
    """
    rng = random.Random(seed)
    nodes = [_token(number) for number in range(tokens)]
    worth = [1.0] + [10 ** rng.uniform(-4, 4) for _ in nodes[1:]]
    markets, taken = [], set()
    for first, second in _pairs(rng, tokens):
        pair = (min(first, second), max(first, second))
        if first == second or pair in taken:
            continue
        taken.add(pair)
        depth = rng.lognormvariate(12, 2) * (100 if pair[1] < HUBS else 10 if pair[0] < HUBS else 1)
        skew = 1 + rng.uniform(-disagreement, disagreement)
        reserves = depth / worth[pair[0]], depth / worth[pair[1]] * skew
        markets.append(_pool(len(markets), nodes[pair[0]], nodes[pair[1]], *reserves))
        if len(markets) == pools:
            break
    return Snapshot(markets, gas_prices={1: 0})


def _pairs(rng: random.Random, tokens: int) -> Iterator[tuple[int, int]]:
    """Give every token a pool with a hub before it, then attach by a power law, without end."""
    for number in range(1, tokens):
        yield number, int(min(number, HUBS) * rng.random())
    while True:
        yield int(tokens * rng.random() ** 4), int(tokens * rng.random() ** 4)


def _token(number: int) -> Token:
    symbol, address = HUB_ADDRESSES[number] if number < len(HUB_ADDRESSES) else (f"T{number}", f"0x{number + 1:040x}")
    return Token(chain_id=1, address=address, symbol=symbol, decimals=18)


def _pool(number: int, token0: Token, token1: Token, reserve0: float, reserve1: float) -> ConstantProductPool:
    return ConstantProductPool(
        id=f"1:0x{number:040x}",
        protocol="uniswap_v2",
        token0=token0,
        token1=token1,
        reserve0=int(reserve0 * 10**18) + 1,
        reserve1=int(reserve1 * 10**18) + 1,
        fee_pips=FEE_PIPS,
        gas=POOL_GAS,
    )


def queries(router: Router, count: int, sizes: tuple[float, ...] = SIZES, seed: int = 7) -> list[Query]:
    """Return `count` pairs for each size: half of all tokens alike, half by the number of their pools, as trades are.

    A size is a fraction of the depth of the pair: of the deepest pool of its shallower token, at the router's prices.
    """
    rng = random.Random(seed)
    deepest: dict[Token, float] = {}
    ends: list[Token] = []
    for market in router.graph.markets:
        assert isinstance(market, ConstantProductPool)
        for token, reserve in ((market.token0, market.reserve0), (market.token1, market.reserve1)):
            worth = reserve * float(router.graph.prices[router.graph.index[token]])
            deepest[token] = max(deepest.get(token, 0.0), worth)
            ends.append(token)
    tokens = sorted(deepest, key=lambda token: token.key)
    pairs: list[tuple[Token, Token]] = []
    while len(pairs) < count:
        a, b = (rng.choice(ends if len(pairs) % 2 else tokens) for _ in range(2))
        if a != b:
            pairs.append((a, b))
    unit = {token: float(router.graph.units[router.graph.index[token]]) for token in deepest}
    return [
        Query(token_in=a, token_out=b, size=size, amount=max(1, int(min(deepest[a], deepest[b]) * size * unit[a])))
        for size in sizes
        for a, b in pairs
    ]

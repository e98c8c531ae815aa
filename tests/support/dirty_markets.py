"""Small random markets of many kinds, with dust, loops, levels that run out, and ways of up to six hops."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations, pairwise

from routing_engine.fixed_point import WAD
from routing_engine.market import Market
from routing_engine.markets import (
    ConstantProductPool,
    Fork,
    LadderMarket,
    Level,
    SolidlyPool,
    StableSwapPool,
    WeightedPool,
)
from routing_engine.model import Token
from routing_engine.reference.chains import CHAINS
from tests.support.mixed import make_concentrated

DOLLARS = (2_000.0, 1.0, 1.1, 30.0, 0.01, 70_000.0, 1.0)
DECIMALS = (18, 6, 18, 8, 18, 8, 18)
TOKENS = tuple(
    Token(
        chain_id=1, address=f"0x{number:040x}" if number else CHAINS[1].wrapped_native, symbol=f"T{number}",
        decimals=decimals,
    )
    for number, decimals in enumerate(DECIMALS)
)  # fmt: skip
"""Seven, the first of which is the chain's wrapped coin, so that gas has a price."""

PRICE = dict(zip(TOKENS, DOLLARS, strict=True))
SKEWS = (0.001, 0.005, 0.03)
"""By how much prices disagree in a market: within fees, about them, and far beyond them."""

DUST = 0.15
"""Part of the markets that hold next to nothing, at any price."""


def make_market(rng: random.Random) -> tuple[list[Market], Token, Token]:
    """Return markets, and the ends of a chain of tokens through which a long way leads."""
    tokens = rng.sample(TOKENS, rng.randint(3, 7))
    skew = rng.choice(SKEWS)
    pairs = [*pairwise(tokens)]
    pairs += [pair for pair in combinations(tokens, 2) if rng.random() < 0.25]
    markets: list[Market] = []
    for first, second in pairs:
        for _ in range(rng.choice((1, 1, 2))):
            markets.append(_make_pool(rng, f"{len(markets)}", first, second, skew))
    stable = [token for token in tokens if token in TOKENS[1:4]]
    if len(stable) == 3 and rng.random() < 0.5:
        markets.append(_stable(rng, f"{len(markets)}", tuple(stable)))
    return markets, tokens[0], tokens[-1]


def units(token: Token, dollars: float) -> int:
    """Return dollars in smallest units of a token, at least one."""
    return max(1, int(dollars / PRICE[token] * 10**token.decimals))


def value(token: Token, amount: int) -> float:
    """Return smallest units of a token in dollars."""
    return amount * PRICE[token] / 10**token.decimals


def _make_pool(rng: random.Random, name: str, first: Token, second: Token, skew: float) -> Market:
    depth, off = 10 ** rng.uniform(4, 6.5), 1 + rng.uniform(-skew, skew)
    if rng.random() < DUST:
        depth, off = 10 ** rng.uniform(0, 2), 10 ** rng.uniform(-1, 1)
    if rng.random() < 0.5:
        first, second = second, first
    build: Callable[..., Market] = rng.choice((_constant_product, _concentrated, _solidly, _weighted, _ladder))
    return build(rng, name, first, second, depth, off)


def _constant_product(rng: random.Random, name: str, first: Token, second: Token, depth: float, off: float) -> Market:
    return ConstantProductPool(
        id=name, protocol="uniswap_v2", token0=first, token1=second, reserve0=units(first, depth),
        reserve1=units(second, depth * off), fee_pips=rng.choice((500, 3000)), gas=90_000,
    )  # fmt: skip


def _concentrated(rng: random.Random, name: str, first: Token, second: Token, depth: float, off: float) -> Market:
    """One wide position and a narrow one, or a narrow one alone, which a trade can use up."""
    price = PRICE[first] / PRICE[second] * off * 10.0 ** (second.decimals - first.decimals)
    liquidity = int(depth / PRICE[second] * 10**second.decimals / price**0.5) + 10**4
    narrow = rng.randrange(2, 40) * 60, 5.0
    positions = [narrow] if rng.random() < 0.4 else [(60_000, 1.0), narrow]
    return make_concentrated(name, (first, second), price, liquidity, positions, rng.choice((500, 3000)))


def _solidly(rng: random.Random, name: str, first: Token, second: Token, depth: float, off: float) -> Market:
    fee = rng.choice((500, 3000))
    return SolidlyPool(
        id=name, protocol="velodrome_v2", token0=first, token1=second, reserve0=units(first, depth),
        reserve1=units(second, depth * off), fork=Fork.VELODROME_V2, fee0_pips=fee, fee1_pips=fee, stable=False,
    )  # fmt: skip


def _weighted(rng: random.Random, name: str, first: Token, second: Token, depth: float, off: float) -> Market:
    weight = rng.choice((20, 50, 80))
    return WeightedPool(
        id=name, protocol="balancer_v2", tokens=(first, second),
        balances=(units(first, depth * weight / 50), units(second, depth * (100 - weight) / 50 * off)),
        weights=(weight * WAD // 100, (100 - weight) * WAD // 100), fee_e18=3 * 10**15, multiplies_powers=True,
    )  # fmt: skip


def _ladder(rng: random.Random, name: str, first: Token, second: Token, depth: float, off: float) -> Market:
    """Levels that get worse by up to a percent, in one direction."""
    price = PRICE[first] / PRICE[second] * off
    levels = []
    for _ in range(rng.randrange(1, 5)):
        size = units(first, depth * rng.uniform(0.01, 0.3))
        levels.append(Level(size, 10 ** (first.decimals + 9), max(1, int(price * 10 ** (second.decimals + 9)))))
        price *= 1 - rng.uniform(0, 0.01)
    return LadderMarket(id=name, protocol="orders", token_in=first, token_out=second, levels=tuple(levels))


def _stable(rng: random.Random, name: str, tokens: tuple[Token, ...]) -> Market:
    """Three coins kept at par by their rates, so that one pool joins three pairs."""
    depth = 10 ** rng.uniform(4, 6.5)
    return StableSwapPool(
        id=name, protocol="curve", tokens=tokens,
        balances=tuple(units(token, depth * rng.uniform(0.5, 2)) for token in tokens),
        rates=tuple(int(PRICE[token] * 10 ** (36 - token.decimals)) for token in tokens),
        amp=20_000, amp_precision=100, fee_e10=4_000_000, admin_fee_e10=5 * 10**9, multiplier_e10=0,
    )  # fmt: skip

"""Small random markets of many kinds on two chains, gas included: curves of every shape meet at the same tokens."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import combinations

from routing_engine.amm.concentrated.tick_math import sqrt_ratio_at_tick, tick_at_sqrt_ratio
from routing_engine.market import Market
from routing_engine.markets import (
    BridgeLane,
    ConcentratedPool,
    ConstantProductPool,
    Fork,
    LadderMarket,
    LaneFee,
    Level,
    SolidlyPool,
    StableSwapPool,
    WeightedPool,
)
from routing_engine.model import Token
from routing_engine.reference.chains import CHAINS

GAS_PRICES = {1: 20 * 10**9, 10: 10**9}
WAD = 10**18


def _token(symbol: str, chain_id: int, decimals: int, address: str = "") -> Token:
    found = address or "0x" + symbol.lower().encode().hex().rjust(40, "0")
    return Token(chain_id=chain_id, address=found, symbol=symbol, decimals=decimals)


WETH = _token("WETH", 1, 18, CHAINS[1].wrapped_native)
FAR_WETH = _token("WETH", 10, 18, CHAINS[10].wrapped_native)
USD, EUR, GEM, FAR_USD = _token("USD", 1, 6), _token("EUR", 1, 18), _token("GEM", 1, 8), _token("USD", 10, 6)
TOKENS = (WETH, USD, EUR, GEM, FAR_WETH, FAR_USD)
DOLLARS = {WETH: 2_000.0, FAR_WETH: 2_000.0, USD: 1.0, EUR: 1.1, GEM: 30.0, FAR_USD: 1.0}


def mixed_markets(rng: random.Random) -> list[Market]:
    """Return up to a dozen and a half markets whose prices disagree by up to half a percent."""
    markets: list[Market] = []
    for first, second in combinations(TOKENS, 2):
        if first.chain_id == second.chain_id:
            for _ in range(rng.choice((0, 1, 1, 2))):
                build = rng.choice((_constant_product, _concentrated, _solidly, _weighted, _ladder))
                markets.append(build(rng, f"{len(markets)}:{first.symbol}{second.symbol}", first, second))
    if rng.random() < 0.6:
        markets.append(_stable(rng, f"{len(markets)}:stable"))
    for source, target in ((WETH, FAR_WETH), (USD, FAR_USD), (FAR_USD, USD), (FAR_WETH, WETH)):
        if rng.random() < 0.7:
            markets.append(_lane(rng, f"{len(markets)}:lane", source, target))
    return markets


def _units(token: Token, dollars: float) -> int:
    return int(dollars / DOLLARS[token] * 10**token.decimals)


def _depth(rng: random.Random) -> float:
    return 10 ** rng.uniform(4.5, 7)


def _skew(rng: random.Random) -> float:
    return 1 + rng.uniform(-0.005, 0.005)


def _constant_product(rng: random.Random, name: str, first: Token, second: Token) -> Market:
    depth = _depth(rng)
    return ConstantProductPool(
        id=name, protocol="uniswap_v2", token0=first, token1=second, reserve0=_units(first, depth),
        reserve1=_units(second, depth * _skew(rng)), fee_pips=rng.choice((500, 3000)),
    )  # fmt: skip


def _concentrated(rng: random.Random, name: str, first: Token, second: Token) -> Market:
    """One wide position and some narrow ones around the price."""
    price = DOLLARS[first] / DOLLARS[second] * _skew(rng) * 10.0 ** (second.decimals - first.decimals)
    liquidity = int(_depth(rng) / DOLLARS[second] * 10**second.decimals / price**0.5)
    positions = ((60_000, 1.0), (rng.randrange(10, 60) * 60, 4.0), (rng.randrange(2, 10) * 60, 10.0))
    return make_concentrated(name, (first, second), price, liquidity, positions, rng.choice((500, 3000)))


def make_concentrated(
    name: str,
    tokens: tuple[Token, Token],
    price: float,
    liquidity: int,
    positions: Iterable[tuple[int, float]],
    fee_pips: int,
) -> ConcentratedPool:
    """Return a Uniswap v3 pool of positions around the price, which counts smallest units.

    A position is how many ticks it reaches to either side, a multiple of 60, and what part of `liquidity` it has.
    """
    ratio = int(price**0.5 * 2**96)
    tick = tick_at_sqrt_ratio(ratio)
    nets: dict[int, int] = {}
    for width, share in positions:
        lower, upper = ((tick + side * width) // 60 * 60 for side in (-1, 1))
        for index, sign in ((lower, 1), (upper, -1)):
            nets[index] = nets.get(index, 0) + sign * int(share * liquidity)
    return ConcentratedPool(
        id=name, protocol="uniswap_v3", token0=tokens[0], token1=tokens[1], fee_pips=fee_pips,
        tick_spacing=60, sqrt_price_x96=max(ratio, sqrt_ratio_at_tick(tick)), tick=tick,
        liquidity=sum(net for index, net in nets.items() if index <= tick), ticks=tuple(sorted(nets.items())),
    )  # fmt: skip


def _solidly(rng: random.Random, name: str, first: Token, second: Token) -> Market:
    depth = _depth(rng)
    fee = rng.choice((500, 3000))
    return SolidlyPool(
        id=name, protocol="velodrome_v2", token0=first, token1=second, reserve0=_units(first, depth),
        reserve1=_units(second, depth * _skew(rng)), fork=Fork.VELODROME_V2, fee0_pips=fee, fee1_pips=fee,
        stable=False,
    )  # fmt: skip


def _weighted(rng: random.Random, name: str, first: Token, second: Token) -> Market:
    depth, weight = _depth(rng), rng.choice((20, 50, 80))
    return WeightedPool(
        id=name, protocol="balancer_v2", tokens=(first, second),
        balances=(_units(first, depth * weight / 50), _units(second, depth * (100 - weight) / 50 * _skew(rng))),
        weights=(weight * WAD // 100, (100 - weight) * WAD // 100), fee_e18=3 * 10**15, multiplies_powers=True,
    )  # fmt: skip


def _ladder(rng: random.Random, name: str, first: Token, second: Token) -> Market:
    """Levels that get worse by up to a tenth of a percent, in one direction."""
    price = DOLLARS[first] / DOLLARS[second] * _skew(rng)
    levels = []
    for _ in range(rng.randrange(1, 6)):
        size = _units(first, 10 ** rng.uniform(3, 5.5))
        levels.append(Level(size, 10 ** (first.decimals + 6), int(price * 10 ** (second.decimals + 6))))
        price *= 1 - rng.uniform(0, 0.001)
    return LadderMarket(id=name, protocol="orders", token_in=first, token_out=second, levels=tuple(levels))


def _stable(rng: random.Random, name: str) -> Market:
    """Dollars, euros and gems kept at par by their rates: three coins, so that one pool joins three pairs."""
    depth = _depth(rng)
    return StableSwapPool(
        id=name, protocol="curve", tokens=(USD, EUR, GEM),
        balances=tuple(_units(token, depth * rng.uniform(0.8, 1.25)) for token in (USD, EUR, GEM)),
        rates=tuple(int(DOLLARS[token] * 10 ** (36 - token.decimals)) for token in (USD, EUR, GEM)),
        amp=20_000, amp_precision=100, fee_e10=4_000_000, admin_fee_e10=5 * 10**9, multiplier_e10=0,
    )  # fmt: skip


def _lane(rng: random.Random, name: str, source: Token, target: Token) -> Market:
    flat = rng.choice((0, _units(source, rng.uniform(0.1, 5))))
    return BridgeLane(
        id=name, protocol="lane", token_in=source, token_out=target,
        fees=(LaneFee(name="fee", flat=flat, rate_e18=rng.randrange(10**15)),),
        max_amount_in=_units(source, 10 ** rng.uniform(4, 7)), fill_time_s=rng.randrange(600), gas=90_000,
    )  # fmt: skip

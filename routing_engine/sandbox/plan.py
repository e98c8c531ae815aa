"""Which pools the sandbox has, where, at what fee and how deep: a plan that `pools` builds.

Depths are in thousands of dollars on Ethereum and shrink on the other chains; they are invented.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from routing_engine.model import Token
from routing_engine.reference.chains import Chain
from routing_engine.reference.token_registry import TokenInfo, tokens
from routing_engine.reference.transfers import transfers_of
from routing_engine.sandbox.chains import sandbox_chains, sandbox_facts
from routing_engine.sandbox.prices import usd_prices
from routing_engine.token_fields import Transfers

_UNISWAP_TIERS = {"lowest": (100, 1), "low": (500, 10), "mid": (3000, 60), "high": (10_000, 200)}
_PANCAKE_TIERS = _UNISWAP_TIERS | {"mid": (2500, 50)}
_TIERS = {
    "uniswap_v3": _UNISWAP_TIERS,
    "uniswap_v4": _UNISWAP_TIERS,
    "sushiswap_v3": _UNISWAP_TIERS,
    "pancakeswap_v3": _PANCAKE_TIERS,
}
"""Any other has Uniswap's."""
_V2_FEES = {"uniswap_v2": 3000, "sushiswap_v2": 3000, "quickswap_v2": 3000, "pancakeswap_v2": 2500}

_CORE = """
WETH USDC v3.low:120000 v3.mid:60000 v3.lowest:8000 v3b.low:15000 v2:20000 v2b:6000
ETH  USDC v4.low:40000 v4.mid:10000
WETH USDT v3.low:30000 v3.mid:50000 v3b.low:8000 v2:15000 v2b:3000
ETH  USDT v4.low:20000
WETH DAI  v3.low:8000 v3.mid:10000 v2:5000
WBTC WETH v3.low:60000 v3.mid:80000 v2:6000 v2b:2000
WBTC USDC v3.mid:15000 v3.low:6000
WBTC USDT v3.mid:12000
ETH  WBTC v4.mid:9000
USDC USDT v3.lowest:30000 v3b.lowest:9000 v4.lowest:10000 v2:1500
USDC DAI  v3.lowest:20000 v3.low:1500
DAI  USDT v3.lowest:8000
WPOL USDC v3.low:40000 v3.mid:8000 v2:12000 v2b:4000
WPOL WETH v3.low:20000 v3.mid:12000 v2:9000
WPOL USDT v3.low:10000 v2:5000
WPOL WBTC v3.mid:4000
POL  USDC v4.low:10000 v4.mid:3000
POL  WETH v4.mid:4000
POL  USDT v4.low:3000
"""
"""Pairs of the tokens that others trade against, wherever both exist."""

_HUBS = frozenset(("USDC", "USDT", "DAI", "WBTC"))
"""And every chain's coin, wrapped or not."""
_NATIVE = "native"
"""Stands for the chain's own coin in the patterns."""

_PATTERNS = {
    "bridged": "USDC v3.lowest:100 v3b.lowest:25|WETH v2:20 v3.low:40",
    "stablecoin": "USDC v3.lowest:60 v3.low:15|USDT v3.lowest:20|WETH v2:5",
    "liquid_staking": "WETH v3.lowest:50 v3.low:25 v3b.lowest:10|USDC v3.mid:10|native v4.lowest:15",
    "deep": "WETH v3.mid:45 v2:20 v3.high:8 v2b:5|USDC v3.mid:12|native v4.mid:10",
    "mid": "WETH v3.mid:50 v2:30|USDC v3.high:20",
    "thin": "WETH v3.high:60 v2:40",
}
"""Partner, venues and shares in percent of the token's depth."""

_DEPTHS = """
USDC.e 20000 USDbC 8000 USDS 15000 USDe 20000 PYUSD 8000 GHO 6000 FRAX 10000 LUSD 3000 sUSD 1500 EURC 6000 sUSDe 8000
wstETH 80000 rETH 20000 cbETH 12000 weETH 40000 cbBTC 50000 tBTC 12000
LINK 25000 UNI 25000 AAVE 20000 PEPE 30000 SHIB 12000 ARB 20000 OP 12000 AERO 25000 GMX 10000 MKR 12000 CRV 10000
LDO 10000 ONDO 10000 ENA 10000 MORPHO 10000 PENDLE 9000 VIRTUAL 15000 POL 8000
ENS 5000 SNX 5000 COMP 5000 GRT 4000 EIGEN 6000 ETHFI 5000 ZRO 6000 WLD 6000 APE 3000 QNT 5000 IMX 3000 CVX 3000
PAXG 6000 XAUT 6000 BRETT 5000 DEGEN 4000 PRIME 3000 VELO 4000 YFI 3000 SUSHI 2500 1INCH 2500 BAL 2500 RPL 3000
"""
_L1 = 1
_DEEP_FROM, _MID_FROM, _OTHERS = 9000, 2500, 1200


@dataclass(frozen=True, kw_only=True)
class PoolPlan:
    """One pool to build.

    Parameters
    ----------
    protocol : str
        As `Market.protocol`.
    token0, token1 : Token
        In the contract's order: the native coin first, else by address.
    fee_pips : int
        Fee of the pool.
    tick_spacing : int
        Of a concentrated pool; 0 for a constant product.
    dollars : int
        Value of both sides together.
    pegged : bool
        Whether the two prices move together, so that the liquidity lies close around them.
    """

    protocol: str
    token0: Token
    token1: Token
    fee_pips: int
    tick_spacing: int
    dollars: int
    pegged: bool

    @cached_property
    def label(self) -> str:
        """Unique name, for draws."""
        return f"{self.protocol}/{self.token0.key}/{self.token1.key}/{self.fee_pips}"


def plan_pools() -> Iterator[PoolPlan]:
    """Yield the plan of every pool, chain by chain."""
    depths, hubs = _parse_depths(), _HUBS | {symbol for chain in sandbox_chains() for symbol in _coins(chain)}
    for chain in sandbox_chains():
        here = {info.symbol: info for info in tokens() if _is_exact_on(info, chain.chain_id)}
        for line in (*_CORE.strip().splitlines(), *sandbox_facts(chain.chain_id).get("pairs", ())):
            base, quote, *venues = line.split()
            if base in here and quote in here:
                yield from _pair(chain, here[base], here[quote], venues, 100)
        for info in here.values():
            if info.symbol not in hubs:
                depth = depths.get(info.symbol, _OTHERS)
                for partner, *venues in _pattern(info, depth):
                    other = here.get(chain.native_currency.symbol if partner == _NATIVE else partner)
                    if other is not None:
                        yield from _pair(chain, info, other, venues, depth)


def _coins(chain: Chain) -> tuple[str, str]:
    return chain.native_currency.symbol, chain.wrapped_native_symbol


def _is_exact_on(info: TokenInfo, chain_id: int) -> bool:
    """Whether a token exists on a chain, has a price, and moves exact amounts: no source is quoted in others."""
    if chain_id not in info.addresses or info.symbol not in usd_prices():
        return False
    return transfers_of(info.on(chain_id)) is Transfers.EXACT


def _pattern(info: TokenInfo, depth: int) -> Iterator[list[str]]:
    by_tag = [_PATTERNS[tag] for tag in ("bridged", "stablecoin", "liquid_staking") if tag in info.tags]
    size = "deep" if depth >= _DEEP_FROM else "mid" if depth >= _MID_FROM else "thin"
    pattern = by_tag[0] if by_tag else _PATTERNS[size]
    return (part.split() for part in pattern.split("|"))


def _pair(chain: Chain, base: TokenInfo, quote: TokenInfo, venues: list[str], depth: int) -> Iterator[PoolPlan]:
    """Plan one pair at several venues, whose shares are percent of `depth`, in thousands of dollars."""
    token0, token1 = sorted((base.on(chain.chain_id), quote.on(chain.chain_id)), key=_contract_order)
    for venue in venues:
        place, share = venue.split(":")
        name, _, tier = place.partition(".")
        protocol = sandbox_facts(chain.chain_id)["venues"].get(name)
        if protocol is None:
            continue
        fee_pips, spacing = _TIERS.get(protocol, _UNISWAP_TIERS)[tier] if tier else (_V2_FEES.get(protocol, 3000), 0)
        yield PoolPlan(
            protocol=protocol,
            token0=token0,
            token1=token1,
            fee_pips=fee_pips,
            tick_spacing=spacing,
            dollars=int(share) * depth * 10 * _depth_percent(chain.chain_id, base) // 100,
            pegged=_family(base) == _family(quote),
        )


def _depth_percent(chain_id: int, info: TokenInfo) -> int:
    home = _find_home(info.symbol)
    is_deepest = chain_id == home or home not in info.addresses
    return 100 if is_deepest else int(sandbox_facts(chain_id)["depth_percent"])


@cache
def _find_home(symbol: str) -> int:
    """Return the chain on which a token's pools are deepest, where it is there."""
    chains = (chain.chain_id for chain in sandbox_chains())
    return next((chain_id for chain_id in chains if symbol in sandbox_facts(chain_id).get("home_of", ())), _L1)


def _family(info: TokenInfo) -> str:
    """Name what a token's price follows."""
    if "stablecoin" in info.tags:
        return "euro" if info.symbol == "EURC" else "dollar"
    if "liquid_staking" in info.tags or info.symbol in ("ETH", "WETH"):
        return "ether"
    return "bitcoin" if info.symbol.endswith("BTC") else info.symbol


def _contract_order(token: Token) -> tuple[bool, str]:
    return (not token.is_native, token.address)


def _parse_depths() -> dict[str, int]:
    words = _DEPTHS.split()
    return {symbol: int(depth) for symbol, depth in zip(words[::2], words[1::2], strict=True)}

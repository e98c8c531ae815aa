"""The sandbox's own dollar and gas prices: round, plausible figures, invented for it and true of no moment.

Tokens that a bridge exchanges one for one must have one price here, or the sandbox would hold free money.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from types import MappingProxyType

from routing_engine.fixed_point import div_up
from routing_engine.model import Token
from routing_engine.reference.chains import CHAINS
from routing_engine.sandbox.chains import sandbox_chains, sandbox_facts

_USD = """
ETH 3500 WETH 3500 POL 0.45 WPOL 0.45
USDC 1 USDC.e 1 USDbC 1 USDT 1 DAI 1 USDS 1 USDe 1 PYUSD 1 GHO 0.999 FRAX 0.998 LUSD 1.001 sUSD 0.99
EURC 1.1 sUSDe 1.18 WBTC 95000 cbBTC 95000 tBTC 94900
wstETH 4150 rETH 3920 cbETH 3800 weETH 3680
UNI 9 AAVE 250 LINK 18 CRV 0.6 LDO 1.2 MKR 1600 SNX 1.4 COMP 55 BAL 1.5 GRT 0.12 1INCH 0.25 ENS 20
PEPE 0.00001 SHIB 0.000015 ARB 0.5 OP 1.2 AERO 1 VELO 0.06 GMX 18 PENDLE 4 RPL 8 SUSHI 0.8 YFI 6500
APE 0.7 SAND 0.4 MANA 0.35 WLD 1.2 ONDO 1 STG 0.25 IMX 0.7 ZRO 2.5 ENA 0.5 EIGEN 1.5 ETHFI 1.5 VIRTUAL 1.3
QNT 100 DEGEN 0.005 BRETT 0.06 ACX 0.25 UMA 1.5 ZRX 0.3 CVX 3 MORPHO 1.6 PAXG 2700 XAUT 2700 QUICK 0.03
GHST 0.7 WOO 0.1 PERP 0.4 MAGIC 0.3 RDNT 0.03 PRIME 4
"""


def gas_prices() -> Mapping[int, int]:
    """Return the price of one unit of gas on each chain, in wei."""
    return MappingProxyType({chain.chain_id: _gas_price(chain.chain_id) for chain in sandbox_chains()})


@cache
def usd_prices() -> Mapping[str, Decimal]:
    """Return dollars per whole token, by symbol."""
    words = _USD.split()
    found = {symbol: Decimal(price) for symbol, price in zip(words[::2], words[1::2], strict=True)}
    for chain in sandbox_chains():
        found |= {symbol: Decimal(price) for symbol, price in sandbox_facts(chain.chain_id).get("usd", {}).items()}
    return MappingProxyType(found)


def convert_usd(token: Token, micro_dollars: int) -> int:
    """Return what `micro_dollars` buy, in smallest units of `token`, rounded up."""
    return div_up(micro_dollars * 1000 * int(10**token.decimals), _nano_dollars()[token.symbol])


def price_gas_usd(chain_id: int, gas: int) -> int:
    """Return what `gas` units cost on a chain, in micro-dollars, rounded up."""
    native = CHAINS[chain_id].native_currency
    nano_dollars = gas * _gas_price(chain_id) * _nano_dollars()[native.symbol]
    return div_up(nano_dollars, 1000 * int(10**native.decimals))


def find_price_ratio(token0: Token, token1: Token) -> tuple[int, int]:
    """Return the fair smallest units of `token1` per smallest unit of `token0`, as numerator and denominator."""
    nanos = _nano_dollars()
    return nanos[token0.symbol] * 10**token1.decimals, nanos[token1.symbol] * 10**token0.decimals


def _gas_price(chain_id: int) -> int:
    return int(sandbox_facts(chain_id)["gas_price_wei"])


@cache
def _nano_dollars() -> Mapping[str, int]:
    return {symbol: int(price.scaleb(9)) for symbol, price in usd_prices().items()}

"""Seconds from a deposit until the funds can be used on the other chain, per bridge.

Across: mean fill times measured per route and token. CCTP: the attestation times that its documentation states
(https://developers.circle.com/cctp/concepts/finality-and-block-confirmations), plus a block on the destination.
Stargate and LayerZero: the confirmations that messages wait for, in the time of their chain. Hop and the canonical
bridges: round figures of the order that documentation gives
(https://docs.hop.exchange/basics/faq/how-long-does-a-hop-transfer-take); a withdrawal from an optimistic rollup waits
for seven days of challenges.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import ceil

from routing_engine.reference.chains import CHAINS

_L1 = 1
_MINUTE, _HOUR, _DAY = 60, 3600, 86_400

_ACROSS_COLUMNS = (1, 10, 137, 8453, 42161)
_ACROSS = """
USDC  1      0  44 118  46  44
USDC  10    12   0 102  10   9
USDC  137   52  76   0  72  72
USDC  8453  12  10  91   0   8
USDC  42161 12   9  92   8   0
WETH  1      0  32  38  32  30
WETH  10    12   0  10   4   3
WETH  137   40  58   0  41  56
WETH  8453  12   6   9   0   2
WETH  42161 11   6  10   3   0
DAI   1      0 118 129 134 119
DAI   10    20   0 141 118 138
DAI   137  127 117   0 122 120
DAI   8453  92 116 131   0 128
DAI   42161 93 111 115 111   0
"""
_ACROSS_LIKE = {"ETH": "WETH", "USDT": "USDC", "WBTC": "DAI"}
"""Tokens without a measurement fill like the measured one whose relayers they share."""

_CCTP_FAST = {1: 20, 10: 8, 8453: 8, 42161: 8}
_CCTP_STANDARD = {1: 16 * _MINUTE, 10: 18 * _MINUTE, 137: 8, 8453: 18 * _MINUTE, 42161: 17 * _MINUTE}
_LAYER_ZERO = {1: 190, 10: 64, 137: 80, 8453: 60, 42161: 55}
_HOP = {1: 12 * _MINUTE, 10: 24, 137: 5 * _MINUTE, 8453: 30, 42161: 45}
_CANONICAL_UP = {10: 10 * _MINUTE, 137: 20 * _MINUTE, 8453: 10 * _MINUTE, 42161: 15 * _MINUTE}
_CANONICAL_DOWN = {10: 7 * _DAY, 137: 3 * _HOUR, 8453: 7 * _DAY, 42161: 7 * _DAY}


def across_fill_time(symbol: str, origin: int, destination: int) -> int:
    """Return how long a relayer takes."""
    return _across_table()[_ACROSS_LIKE.get(symbol, symbol), origin, destination]


def cctp_fast_fill_time(origin: int, destination: int) -> int | None:
    """Return the time of a fast transfer, or None from chains that offer only the standard one."""
    attested = _CCTP_FAST.get(origin)
    return None if attested is None else attested + _one_block(destination)


def cctp_standard_fill_time(origin: int, destination: int) -> int:
    """Return the time of a transfer that waits for finality."""
    return _CCTP_STANDARD[origin] + _one_block(destination)


def layer_zero_fill_time(origin: int, destination: int) -> int:
    """Return how long a LayerZero message takes."""
    return _LAYER_ZERO[origin] + _one_block(destination)


def hop_fill_time(origin: int, destination: int) -> int:
    """Return how long a bonder takes, or the canonical message where there is none (from Ethereum)."""
    return _HOP[origin] + _one_block(destination)


def canonical_fill_time(origin: int, destination: int) -> int:
    """Return a deposit's time to a rollup, or a withdrawal's with its challenge period."""
    return _CANONICAL_UP[destination] if origin == _L1 else _CANONICAL_DOWN[origin]


def _one_block(chain_id: int) -> int:
    return ceil(CHAINS[chain_id].block_time_s)


@cache
def _across_table() -> Mapping[tuple[str, int, int], int]:
    rows = [line.split() for line in _ACROSS.strip().splitlines()]
    return {
        (symbol, int(origin), destination): int(seconds)
        for symbol, origin, *times in rows
        for destination, seconds in zip(_ACROSS_COLUMNS, times, strict=True)
        if int(origin) != destination
    }

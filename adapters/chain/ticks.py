"""Liquidity between ticks, as Uniswap v3 and v4 keep it: read whole, then changed by events."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from adapters.base import BadPayload
from adapters.chain.protocol import Pool
from adapters.rpc.abi import Call, CallFailed
from adapters.rpc.reading import Reading, ask, ask_each
from adapters.rpc.scan_program import Scan
from routing_engine.amm.concentrated.tick_math import MAX_TICK, MIN_TICK
from routing_engine.markets import ConcentratedPool

WORD_BITS = 256
MOST_TICKS = 50_000

Ticks: TypeAlias = Mapping[int, tuple[int, int]]
"""liquidityGross and liquidityNet of every initialised tick, by its index."""

CallAt: TypeAlias = Callable[[Pool, int], Call]
ScanOver: TypeAlias = Callable[[Pool, range], Scan]


@dataclass(frozen=True, slots=True, kw_only=True)
class TickState:
    """What a pool's contract stores for swaps.

    A tick of net 0 is initialised all the same, and swaps stop there: hence gross amounts beside the net ones.

    Parameters
    ----------
    sqrt_price_x96, tick, liquidity : int
        As in ``slot0``; a price of 0 means that the pool was created, but never opened.
    fee_pips : int
        What liquidity providers take.
    protocol_fee : int
        Uniswap v4's, both directions packed as in the contract; 0 elsewhere.
    ticks : mapping of int to (int, int)
        All initialised ones.
    """

    sqrt_price_x96: int
    tick: int
    liquidity: int
    fee_pips: int
    protocol_fee: int = 0
    ticks: Ticks

    def apply_swap(self, sqrt_price_x96: int, liquidity: int, tick: int) -> TickState:
        """Return the state after a swap."""
        return replace(self, sqrt_price_x96=sqrt_price_x96, liquidity=liquidity, tick=tick)

    def apply_liquidity(self, lower: int, upper: int, delta: int) -> TickState:
        """Return the state after liquidity was added between two ticks, or taken away.

        Raises
        ------
        BadPayload
            If more is taken away than is there, or the ticks are out of order.
        """
        if not MIN_TICK <= lower < upper <= MAX_TICK:
            raise BadPayload(f"liquidity between ticks {lower} and {upper}")
        ticks = dict(self.ticks)
        for index, net_delta in ((lower, delta), (upper, -delta)):
            gross, net = ticks.pop(index, (0, 0))
            if gross + delta < 0:
                raise BadPayload(f"tick {index} has liquidity {gross}, from which {-delta} are taken")
            if gross + delta:
                ticks[index] = (gross + delta, net + net_delta)
        active = self.liquidity + (delta if lower <= self.tick < upper else 0)
        return replace(self, ticks=ticks, liquidity=active)

    def make_market(self, pool: Pool, market_id: str, protocol: str, tick_spacing: int) -> ConcentratedPool | None:
        """Return the market with all its ticks, or None while it was never opened or has no liquidity anywhere.

        Raises
        ------
        InvalidMarket
            If price, tick, liquidity and ticks do not agree.
        """
        if not self.sqrt_price_x96 or not self.ticks:
            return None
        token0, token1 = pool.tokens
        found = ConcentratedPool(
            id=market_id,
            protocol=protocol,
            token0=token0,
            token1=token1,
            fee_pips=self.fee_pips,
            tick_spacing=tick_spacing,
            sqrt_price_x96=self.sqrt_price_x96,
            tick=self.tick,
            liquidity=self.liquidity,
            ticks=tuple((index, self.ticks[index][1]) for index in sorted(self.ticks)),
        )
        found.validate()
        return found


def read_ticks(
    pools: Iterable[tuple[Pool, int]], bitmap_scan: ScanOver, tick_call: CallAt
) -> Reading[Mapping[str, Ticks | CallFailed]]:
    """Read all initialised ticks of pools: first the words of the bitmaps, then the ticks that they name.

    Parameters
    ----------
    pools : iterable of (Pool, int)
        With their tick spacings.
    bitmap_scan : callable
        Gives the scan over words of a pool's bitmap.
    tick_call : callable
        Gives the call for one tick: gross and net.
    """
    spacings = dict(pools)
    scans = [bitmap_scan(pool, _find_words(spacing)) for pool, spacing in spacings.items()]
    outcomes = yield from ask(scans)
    indices: dict[Pool, list[int]] = {}
    found: dict[str, Ticks | CallFailed] = {}
    for pool, scan, outcome in zip(spacings, scans, outcomes, strict=True):
        try:
            indices[pool] = _find_indices(pool.key, scan.decode(outcome), spacings[pool])
        except CallFailed as error:
            found[pool.key] = error
    amounts = yield from ask_each(indices, lambda pool: [tick_call(pool, index) for index in indices[pool]])
    for pool, answers in amounts.items():
        try:
            values = [call.decode(outcome) for call, outcome in answers]
        except CallFailed as error:
            found[pool.key] = error
            continue
        found[pool.key] = {index: (gross, net) for index, (gross, net) in zip(indices[pool], values, strict=True)}
    return found


def _find_words(spacing: int) -> range:
    """Return the words that usable ticks of a spacing are in."""
    last = MAX_TICK // spacing
    return range(-last // WORD_BITS, last // WORD_BITS + 1)


def _find_indices(key: str, bitmaps: Mapping[int, int], spacing: int) -> list[int]:
    """Return the ticks that words of a bitmap name, in rising order."""
    found = [
        (word * WORD_BITS + bit) * spacing
        for word, bitmap in sorted(bitmaps.items())
        for bit in range(WORD_BITS)
        if bitmap >> bit & 1
    ]
    if len(found) > MOST_TICKS:
        raise CallFailed(f"{key}: {len(found)} initialised ticks")
    return found

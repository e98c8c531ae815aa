"""What pools with initialised ticks check about them."""

from __future__ import annotations

from collections.abc import Sequence

from routing_engine.errors import InvalidMarket


def sum_active(ticks: Sequence[tuple[int, int]], tick: int, spacing: int, bounds: tuple[int, int]) -> int:
    """Return the liquidity that initialised ticks add up to at `tick`.

    Parameters
    ----------
    ticks : sequence of (int, int)
        All of them, as (index, liquidity that is added there).
    tick : int
        Where the pool's price is.
    spacing : int
        Indices are multiples of it; 0 allows no ticks.
    bounds : tuple of int
        The lowest and the highest index of the contract.

    Raises
    ------
    InvalidMarket
        If an index does not rise, is out of bounds or between the multiples, or the sum becomes negative or does not
        end at zero.
    """
    lowest, highest = bounds
    previous, running, active = lowest - 1, 0, 0
    for index, net in ticks:
        if not previous < index <= highest:
            raise InvalidMarket("ticks", f"index {index} must rise and stay within {lowest} to {highest}")
        if not spacing or index % spacing:
            raise InvalidMarket("ticks", f"index {index} is no multiple of the spacing {spacing}")
        running += net
        if running < 0:
            raise InvalidMarket("ticks", f"liquidity becomes negative at index {index}")
        if index <= tick:
            active = running
        previous = index
    if running != 0:
        raise InvalidMarket("ticks", f"{running} of liquidity is never taken back; give all initialised ticks")
    return active

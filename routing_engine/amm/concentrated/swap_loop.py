"""The swap loop of concentrated liquidity: ``swap`` of Uniswap v3 and v4 without a price limit of the caller's.

The contract keeps its initialised ticks in a bitmap of 256-bit words and looks ahead within one word only, so it stops
at the edge of every word even where nothing is initialised. Each stop rounds amounts, so an exact quote must stop there
too, and each stop costs gas.
"""

from __future__ import annotations

from typing import NamedTuple

from routing_engine.amm.concentrated.swap_math import least_step_input, step_exact_in, step_exact_out
from routing_engine.amm.concentrated.tick_math import MAX_SQRT_RATIO, MIN_SQRT_RATIO, tick_at_sqrt_ratio
from routing_engine.amm.concentrated.walk import Liquidity, list_stretches, recall_walk

MAX_AMOUNT = 2**255 - 1
"""The largest amount ``swap`` takes: an int256."""

MAX_AMOUNT_V4 = 2**127 - 1
"""The largest amount of either token in Uniswap v4, which keeps both in one word: an int128."""


class Swapped(NamedTuple):
    """What a swap did, and the state it leaves."""

    amount_in: int
    """Input consumed, with the fee."""
    amount_out: int
    fee_amount: int
    sqrt_price_x96: int
    tick: int
    liquidity: int
    steps: int
    """Rounds of the loop: initialised ticks and word edges on the way, and the last stretch."""
    filled: bool
    """Whether the whole amount was served; if not, the price stands at its bound."""


def swap(state: Liquidity, zero_for_one: bool, amount: int, *, exact_in: bool = True) -> Swapped:
    """Walk the price until `amount` is used up or the range of prices ends.

    Parameters
    ----------
    state : Liquidity
        Read, never changed.
    zero_for_one : bool
        Sell token 0, so that the price falls; else sell token 1.
    amount : int
        Positive; the input if `exact_in`, else the output.

    Returns
    -------
    Swapped
        Equal to the contract's amounts, ``sqrtPriceX96``, tick and liquidity afterwards. The fee is split as v3 does;
        v4 counts some roundings of the input as input that v3 counts as fee, and charges the same in total.
    """
    return _swap_in(state, zero_for_one, amount) if exact_in else _swap_out(state, zero_for_one, amount)


def _swap_in(state: Liquidity, zero_for_one: bool, amount: int) -> Swapped:
    """Pass by the stretches that the input uses up; it ends within the next, or the range of prices does."""
    walk = recall_walk(state, zero_for_one)
    steps = walk.count_spent(amount)
    total_in, total_out, total_fee = walk.spent[steps], walk.given[steps], walk.fees[steps]
    price, tick, liquidity = state.sqrt_price_x96, state.tick, state.liquidity
    remaining = amount - total_in
    if steps:
        _, price, _, liquidity, tick = walk.stretches[steps - 1]
    if remaining and steps == len(walk.stretches):
        return _end(zero_for_one, (total_in, total_out, total_fee), liquidity, steps)
    if remaining:
        start, target, active, following, reached = walk.stretches[steps]
        price, step_in, step_out, step_fee = step_exact_in(
            start, target, active, remaining, state.swap_fee_pips(zero_for_one)
        )
        total_in, total_out, total_fee = total_in + step_in + step_fee, total_out + step_out, total_fee + step_fee
        steps += 1
        if price == target:  # by rounding: all of the stretch would have taken more
            tick, liquidity = reached, following
        elif price != start:
            tick = tick_at_sqrt_ratio(price)
    return Swapped(total_in, total_out, total_fee, price, tick, liquidity, steps, True)


def _swap_out(state: Liquidity, zero_for_one: bool, amount: int) -> Swapped:
    """Buy as the contract does, stretch after stretch."""
    remaining, fee_pips = amount, state.swap_fee_pips(zero_for_one)
    tick, liquidity = state.tick, state.liquidity
    total_in = total_out = total_fee = steps = 0
    for start, target, active, following, reached in list_stretches(state, zero_for_one):
        price, step_in, step_out, step_fee = step_exact_out(start, target, active, remaining, fee_pips)
        total_in += step_in + step_fee
        total_out += step_out
        total_fee += step_fee
        remaining -= step_out
        steps += 1
        if price != target:
            tick = tick_at_sqrt_ratio(price) if price != start else tick
            break
        tick, liquidity = reached, following
        if not remaining:
            break
    else:
        return _end(zero_for_one, (total_in, total_out, total_fee), liquidity, steps)
    return Swapped(total_in, total_out, total_fee, price, tick, liquidity, steps, remaining == 0)


def _end(zero_for_one: bool, totals: tuple[int, int, int], liquidity: int, steps: int) -> Swapped:
    """Return a swap of more than the range of prices takes."""
    price = MIN_SQRT_RATIO + 1 if zero_for_one else MAX_SQRT_RATIO - 1
    return Swapped(*totals, price, tick_at_sqrt_ratio(price), liquidity, steps, filled=False)


def least_input(state: Liquidity, zero_for_one: bool, amount_out: int) -> Swapped | None:
    """Return the swap of the least input that buys at least `amount_out`, or None where none does.

    The contract's exact-output answer may be some units too much, or too little where its price formula loses digits.
    Stretches are used up in turn, so the least input ends within the first one that reaches the output.
    """
    walk = recall_walk(state, zero_for_one)
    last = walk.find_giving(amount_out)
    if last is None:
        return None
    start, target, liquidity, _, _ = walk.stretches[last]
    spent, wanted = walk.spent[last], amount_out - walk.given[last]
    whole = walk.spent[last + 1] - spent
    fee_pips = state.swap_fee_pips(zero_for_one)
    return swap(state, zero_for_one, spent + least_step_input(start, target, liquidity, wanted, whole, fee_pips))

"""The invariant x**3 * y + y**3 * x = k of Solidly's stable pools, and its volatile pools' fee.

Balances are first brought to 18 decimals. Products are cut back to 18 decimals after each multiplication, so the order
of the multiplications matters, and two generations of the contract differ in it. Both solve for the new balance with
Newton's method in integers: the first stops when a step is at most one unit, the second makes sure that the invariant
has not fallen.
"""

from __future__ import annotations

from enum import StrEnum

from routing_engine.fixed_point import PIPS, WAD

MOST_STEPS = 255
"""Rounds of Newton's method that the contracts allow."""

_MAX_UINT256 = 2**256 - 1


class Solver(StrEnum):
    """Which generation of ``_get_y`` a pool was compiled with."""

    FIRST = "first"
    """Solidly, Velodrome v1, Camelot v2."""
    SECOND = "second"
    """Velodrome v2 and Aerodrome."""


def charge(amount_in: int, fee_pips: int) -> int:
    """Return the fee on an input, rounded down; ``getAmountOut`` takes it off before anything else."""
    return amount_in * fee_pips // PIPS


def gross(net: int, fee_pips: int) -> int:
    """Return the least input of which at least `net`, which is positive, remains after `charge`."""
    return (net - 1) * PIPS // (PIPS - fee_pips) + 1


def invariant(x: int, y: int) -> int:
    """Return k of balances in 18 decimals; ``_k``, and ``_f`` of the second generation."""
    return (x * y // WAD) * (x * x // WAD + y * y // WAD) // WAD


def slope(x: int, y: int) -> int:
    """Return the derivative of k by `y`, in 18 decimals; ``_d``."""
    return 3 * x * (y * y // WAD) // WAD + x * x // WAD * x // WAD


def balance_after(x: int, k: int, y: int, solver: Solver) -> int | None:
    """Return the balance that keeps the invariant at `k` beside `x`, starting from `y`; ``_get_y``.

    None where the contract would revert.
    """
    return _first_solver(x, k, y) if solver is Solver.FIRST else _second_solver(x, k, y)


def stable_amount_out(net: int, x: int, y: int, scales: tuple[int, int], solver: Solver) -> int | None:
    """Return what a stable pool's ``_getAmountOut`` gives for an input after its fee.

    Parameters
    ----------
    net : int
        Smallest units of the token sold.
    x, y : int
        Balances of the token sold and of the token bought, smallest units.
    scales : tuple of int
        10**decimals of the two tokens, in the same order.
    solver : Solver
        Generation of the contract.

    Returns
    -------
    int or None
        Smallest units of the token bought; None where the contract would revert.
    """
    x18, y18 = x * WAD // scales[0], y * WAD // scales[1]
    found = balance_after(net * WAD // scales[0] + x18, invariant(x18, y18), y18, solver)
    return None if found is None or found > y18 else (y18 - found) * scales[1] // WAD


def holds_invariant(before: tuple[int, int], after: tuple[int, int], scales: tuple[int, int]) -> bool:
    """Tell whether a stable pool accepts the balances after a swap: the ``K`` check of its ``swap``."""
    now = invariant(before[0] * WAD // scales[0], before[1] * WAD // scales[1])
    return invariant(after[0] * WAD // scales[0], after[1] * WAD // scales[1]) >= now


def is_fine(x: int, y: int) -> bool:
    """Tell whether a unit of `y`, in 18 decimals, moves the invariant by more than rounding may.

    In a smaller pool the contract's answer jumps about, and some swaps fail.
    """
    return slope(x, y) >= WAD + (x * y + x * x + y * y) // WAD


def largest_balance(y: int) -> int:
    """Return a balance of the token sold, in 18 decimals, up to which no product overflows beside `y`.

    Within a factor of two of the largest.
    """
    room = _MAX_UINT256 * WAD
    cube = min(room, room * WAD // (4 * y))
    return min(int(cube ** (1 / 3) * (1 - 1e-9)), room // (3 * y * y), room * WAD // (4 * y**3))


def _first_solver(x: int, k: int, y: int) -> int | None:
    cubed = x * x // WAD * x // WAD
    for _ in range(MOST_STEPS):
        now = x * (y * y // WAD * y // WAD) // WAD + cubed * y // WAD
        gradient = slope(x, y)
        if gradient == 0:
            return None
        step = (k - now) * WAD // gradient if now < k else -((now - k) * WAD // gradient)
        y += step
        if y < 0:
            return None
        if abs(step) <= 1:
            break
    return y


def _second_solver(x: int, k: int, y: int) -> int | None:
    for _ in range(MOST_STEPS):
        now, gradient = invariant(x, y), slope(x, y)
        if now == k:
            return y
        if gradient == 0:
            return None
        step = abs(k - now) * WAD // gradient
        if now < k:
            if step == 0 and invariant(x, y + 1) > k:
                return y + 1
            y += step or 1
        else:
            if step == 0 and invariant(x, y - 1) < k:
                return y
            y -= step or 1
    return None

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

MAX_UINT256 = 2**256 - 1

_SMALL = 2**93
"""Of balances below this no product overflows."""


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


def balance_after(x: int, k: int, y: int, solver: Solver, scales: tuple[int, int] = (WAD, WAD)) -> int | None:
    """Return the balance that keeps the invariant at `k` beside `x`, starting from `y`; ``_get_y``.

    `scales` are 10**decimals of the pool's tokens 0 and 1, whichever is sold; only the second solver looks at them.
    None where the contract would revert.
    """
    return _first_solver(x, k, y) if solver is Solver.FIRST else _second_solver(x, k, y, scales)


def stable_amount_out(
    net: int,
    x: int,
    y: int,
    scales: tuple[int, int],
    solver: Solver,
    pool_scales: tuple[int, int] = (WAD, WAD),
) -> int | None:
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
    pool_scales : tuple of int
        `scales` in the order of the pool's tokens. Left out, the second solver is taken at its word: see `_overtakes`.

    Returns
    -------
    int or None
        Smallest units of the token bought; None where the contract would revert.
    """
    if max(net, x) * WAD > MAX_UINT256 or y * WAD > MAX_UINT256:
        return None
    x18, y18 = x * WAD // scales[0], y * WAD // scales[1]
    if not fits(x18, y18):
        return None
    found = balance_after(net * WAD // scales[0] + x18, invariant(x18, y18), y18, solver, pool_scales)
    return None if found is None or found > y18 else (y18 - found) * scales[1] // WAD


def holds_invariant(before: tuple[int, int], after: tuple[int, int], scales: tuple[int, int]) -> bool:
    """Tell whether a stable pool accepts the balances after a swap: the ``K`` check of its ``swap``."""
    x, y = after[0] * WAD // scales[0], after[1] * WAD // scales[1]
    now = invariant(before[0] * WAD // scales[0], before[1] * WAD // scales[1])
    return fits(x, y) and invariant(x, y) >= now


def fits(x: int, y: int) -> bool:
    """Tell whether no product of balances in 18 decimals overflows in the contract: ``_k``, ``_f`` and ``_d``."""
    if x < _SMALL and y < _SMALL:
        return True
    by_x, by_y = x * x, y * y
    if max(by_x, by_y, x * y) > MAX_UINT256:
        return False
    products = (x * y // WAD) * (by_x // WAD + by_y // WAD), by_x // WAD * x, 3 * x * (by_y // WAD)
    return max(products) <= MAX_UINT256


def is_fine(x: int, y: int) -> bool:
    """Tell whether a unit of `y`, in 18 decimals, moves the invariant by more than rounding may.

    In a smaller pool the contract's answer jumps about, and some swaps fail.
    """
    return slope(x, y) >= WAD + (x * y + x * x + y * y) // WAD


def largest_balance(y: int) -> int:
    """Return a balance of the token sold, in 18 decimals, up to which nothing overflows beside `y`; 0 without one.

    Within a part in 1e12 of the largest: the solvers' products are largest in their first round.
    """
    room = float(MAX_UINT256)
    by_y, square = float(y), y * y // WAD
    largest = min((room * WAD) ** (1 / 3), room**0.5, room / (3 * square) if square else room)
    x = (room * WAD * WAD / by_y) ** (1 / 3)  # x**3 * y + x * y**3 is at least the room here: Newton falls to the root
    for _ in range(MOST_STEPS):
        step = (x**3 * by_y + x * by_y**3 - room * WAD * WAD) / (3 * x * x * by_y + by_y**3)
        x -= step
        if step <= 1e-14 * x:
            break
    found = int(min(x, largest) * (1 - 4e-13))
    return found if fits(found, y) else 0


def _first_solver(x: int, k: int, y: int) -> int | None:
    cubed = x * x // WAD * x // WAD
    for _ in range(MOST_STEPS):
        now = x * (y * y // WAD * y // WAD) // WAD + cubed * y // WAD
        gradient = slope(x, y)
        if gradient == 0 or not _fits_first(x, y, abs(now - k)):
            return None
        step = (k - now) * WAD // gradient if now < k else -((now - k) * WAD // gradient)
        y += step
        if y < 0:
            return None
        if abs(step) <= 1:
            break
    return y


def _fits_first(x: int, y: int, gap: int) -> bool:
    """Tell whether no product overflows in a round of the first solver that is `gap` away from the invariant."""
    if x < _SMALL and y < _SMALL:
        return True
    by_x, by_y = x * x, y * y
    if max(by_x, by_y, gap * WAD) > MAX_UINT256:
        return False
    products = by_x // WAD * x, by_y // WAD * y, 3 * x * (by_y // WAD)
    sums = x * (by_y // WAD * y // WAD), (by_x // WAD * x // WAD) * y
    return max(*products, *sums) <= MAX_UINT256


def _second_solver(x: int, k: int, y: int, scales: tuple[int, int]) -> int | None:
    for _ in range(MOST_STEPS):
        now, gradient = invariant(x, y), slope(x, y)
        if gradient == 0 or not fits(x, y):
            return None
        step = abs(k - now) * WAD // gradient
        if now < k:
            if step == 0:
                beyond = _overtakes(x, k, y + 1, scales)
                if beyond is None:
                    return None
                if beyond:
                    return y + 1
            y += step or 1
        else:
            if now == k or (step == 0 and y > 0 and invariant(x, y - 1) < k):
                return y
            y -= step or 1
            if y < 0:
                return None
    return None


def _overtakes(x: int, k: int, y: int, scales: tuple[int, int]) -> bool | None:
    """Tell whether the invariant beside `y` exceeds `k`; None where the contract's way of asking overflows.

    It asks ``_k``, which brings to 18 decimals what has 18 decimals already: the wrong order of tokens in half of the
    trades, and far too large a number for tokens of fewer decimals.
    """
    if max(x, y) * WAD > MAX_UINT256:
        return None
    x, y = x * WAD // scales[0], y * WAD // scales[1]
    if max(x * y, x * x, y * y) > MAX_UINT256 or (x * y // WAD) * (x * x // WAD + y * y // WAD) > MAX_UINT256:
        return None
    return invariant(x, y) > k

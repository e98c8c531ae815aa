"""Exact-out splits: the input at which an allocation gives what is asked, in floats."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt
from typing import NamedTuple

MATCHES, MATCH = 40, 1e-12
"""Iterations by which the input is found in floats, and the change that ends them; two or three do.

They give proportions only: integers give the amounts.
"""

NEAR_MATCH = 1e-8
"""Relative difference of an output from what is asked that is taken for a match."""

SLOW = 0.25
"""Where an iteration leaves more than this part of what was missing, the marginal price is measured, not believed.

No more can be had at the marginal price of a path over a full market.
"""

STRIDE = 4.0
"""How many times an input the next one is where nothing better is known."""

LEAST_STEP = 0.5
"""Part of an input below which a straight line is not followed."""


class Flows(NamedTuple):
    """An allocation of some amount by edges: these in an order in which they can run, and what each takes.

    `value` is the output, `price` its growth by one more unit of input in these proportions. `least_price` is that of
    the path of which a unit more gives least; those over full markets have more, and can't be given any.
    """

    edges: list[int]
    flows: list[float]
    amount: float
    value: float
    price: float
    least_price: float


def find_matching_input(allocated: Callable[[float], Flows], amount: float, wanted: float) -> Flows | None:
    """Find the input for which an allocation gives what is asked, beginning with any; None where it fails on the way.

    Parameters
    ----------
    allocated : callable
        Allocates an amount.
    wanted : float
        The output asked for.

    Returns
    -------
    Flows or None
        Those of the last amount that was allocated; `amount` is nearer by less than the change that ends iterations.
        Where flows jump between two inputs, those of the larger one.
    """
    search = _Bracket(wanted)
    found = allocated(amount)
    for _ in range(MATCHES):
        if not found.edges or found.price <= 0.0:
            if search.more is None:
                return None
            search.too_little, following = amount, search.find_middle(amount)
        else:
            following = search.step_on(found)
        if not 0.0 < following < inf:
            return None
        if abs(following - amount) < MATCH * following:
            is_match = found.edges and abs(found.value - wanted) < NEAR_MATCH * wanted
            return found._replace(amount=following) if is_match else search.more
        amount = following
        found = allocated(amount)
    return search.more


class _Bracket:
    """Inputs between which the one lies that gives what is wanted.

    Newton's method leaves them where flows jump or markets are full; then halfway goes on.
    """

    def __init__(self, wanted: float) -> None:
        self._wanted = wanted
        self.too_little = 0.0
        self.more: Flows | None = None
        """Of the least input so far that gives as much as is wanted, or more."""
        self._before: Flows | None = None

    def step_on(self, found: Flows) -> float:
        """Return the next input to try."""
        amount, value, before = found.amount, found.value, self._before
        # Of the last digits the paths that still take more decide; from far away that would lead astray.
        price = found.least_price if abs(value - self._wanted) <= NEAR_MATCH * self._wanted else found.price
        if before and abs(value - self._wanted) > SLOW * abs(before.value - self._wanted):
            price = (value - before.value) / (amount - before.amount) or price
        if value < self._wanted:
            self.too_little = max(self.too_little, amount)
        elif self.more is None or amount < self.more.amount:
            self.more = found
        self._before = found
        # At the flat end of curves a little more of the input gives nothing: there is no line to follow.
        has_line = price > 0.0 and value > 0.0
        return self.find_middle(_invert(amount, value, price, self._wanted) if has_line else amount)

    def find_middle(self, amount: float) -> float:
        """Return an input if it lies between those known, else one that does."""
        low, high = self.too_little, self.more.amount if self.more else inf
        if low < amount < high or not (low or high < inf):
            return amount
        if high < inf:
            return sqrt(low * high) if low else high / STRIDE
        return low * STRIDE


def _invert(amount: float, value: float, price: float, wanted: float) -> float:
    """Return for what input `wanted` is given where `value` is given for `amount` at marginal `price`.

    By a straight line, as in Newton's method. From an input far too large, where prices are low, that would lead below
    zero; there, by the constant-product pool of this value and price.
    """
    straight = amount + (wanted - value) / price
    share = min(1.0, price * amount / value)
    rest = value - (1.0 - share) * wanted
    return straight if straight > LEAST_STEP * amount or rest <= 0.0 else amount * share * wanted / rest

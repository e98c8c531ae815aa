"""Which of several ways to pay costs least, as a customer is told it."""

from __future__ import annotations

from collections.abc import Sequence


def round_fees(total: int, due: int, cent: int) -> int:
    """Return the fees in a total, rounded up as they are shown."""
    return -(-(total - due) // cent) * cent


def find_cheapest(costs: Sequence[tuple[int, int] | None]) -> int | None:
    """Return which one costs least, of equals the fastest; None where two are equal in both.

    Parameters
    ----------
    costs : sequence of (int, int) or None
        Of each, the fees as they are shown and the seconds that it takes; None where the fees are not known.
    """
    known = [each for each in costs if each is not None]
    least = min(known, default=None)
    return costs.index(least) if least is not None and known.count(least) == 1 else None

"""Linear pools of Balancer v2: a main token, the same token wrapped, and the pool's own share, at fixed rates.

Amounts have 18 decimals, wrapped ones with their rate applied. The pool wants its main balance between two targets:
what moves it away pays a proportional fee, and what moves it back is paid from these. The balance less the fees that
are due is called nominal. All functions reproduce ``LinearMath``, and raise `ValueError` where it reverts.
"""

from __future__ import annotations

from typing import NamedTuple

from routing_engine.fixed_point import WAD, div_up, mul_div


class Targets(NamedTuple):
    """The range without fees, and the fee outside of it, with 18 decimals."""

    fee_e18: int
    lower: int
    upper: int


class Reserves(NamedTuple):
    """What a pool holds, and the shares that are in circulation."""

    main: int
    wrapped: int
    supply: int


def fees_due(real: int, targets: Targets) -> int:
    """Return what must be paid to bring a main balance into the targets."""
    return mul_div(max(targets.lower - real, real - targets.upper, 0), targets.fee_e18, WAD)


def to_nominal(real: int, targets: Targets) -> int:
    """Return a main balance less the fees that are due at it: ``_toNominal``."""
    return _positive(real - fees_due(real, targets))


def from_nominal(nominal: int, targets: Targets) -> int:
    """Return the main balance of a nominal one: ``_fromNominal``."""
    fee, lower, upper = targets
    if nominal < lower:
        return mul_div(_positive(nominal) + mul_div(fee, lower, WAD), WAD, WAD + fee)
    return nominal if nominal <= upper else mul_div(nominal - mul_div(fee, upper, WAD), WAD, WAD - fee)


def wrapped_for_main(amount: int, held: Reserves, targets: Targets) -> int:
    """Return what main tokens buy in wrapped ones: ``_calcWrappedOutPerMainIn``."""
    return to_nominal(held.main + amount, targets) - to_nominal(held.main, targets)


def share_for_main(amount: int, held: Reserves, targets: Targets) -> int:
    """Return what main tokens buy in shares: ``_calcBptOutPerMainIn``."""
    return mul_div(held.supply, wrapped_for_main(amount, held, targets), _invariant(held, targets))


def main_for_wrapped(amount: int, held: Reserves, targets: Targets) -> int:
    """Return what wrapped tokens buy in main ones: ``_calcMainOutPerWrappedIn``."""
    return held.main - from_nominal(to_nominal(held.main, targets) - amount, targets)


def share_for_wrapped(amount: int, held: Reserves, targets: Targets) -> int:
    """Return what wrapped tokens buy in shares: ``_calcBptOutPerWrappedIn``."""
    before = _invariant(held, targets)
    return mul_div(held.supply, before + amount, before) - held.supply


def main_for_share(amount: int, held: Reserves, targets: Targets) -> int:
    """Return what shares buy in main tokens: ``_calcMainOutPerBptIn``."""
    return main_for_wrapped(mul_div(_invariant(held, targets), amount, held.supply), held, targets)


def wrapped_for_share(amount: int, held: Reserves, targets: Targets) -> int:
    """Return what shares buy in wrapped tokens: ``_calcWrappedOutPerBptIn``."""
    left = div_up(_positive(held.supply - amount) * _invariant(held, targets), held.supply)
    return held.wrapped - _positive(left - to_nominal(held.main, targets))


def _invariant(held: Reserves, targets: Targets) -> int:
    return to_nominal(held.main, targets) + held.wrapped


def _positive(value: int) -> int:
    if value < 0:
        raise ValueError("more than the pool has")
    return value

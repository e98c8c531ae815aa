"""One direction of a pool of the Solidly family: amounts and limits."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from routing_engine.amm.camelot import owner_fee
from routing_engine.amm.constant_product import MAX_RESERVE, get_amount_in, get_amount_out
from routing_engine.amm.integer_search import least_input
from routing_engine.amm.solidly import (
    Solver,
    balance_after,
    charge,
    gross,
    holds_invariant,
    invariant,
    is_fine,
    largest_balance,
    stable_amount_out,
)
from routing_engine.fixed_point import WAD, div_up
from routing_engine.market import UNLIMITED

BPS_PER_WHOLE = 10_000
GAPS = 1_000
"""Inputs that a stable pool may refuse one after the other, before no larger one is tried."""


class Fork(StrEnum):
    """Whose contract a pool runs."""

    SOLIDLY = "solidly"
    """Solidly and Velodrome v1: the fee leaves the pool; the first solver."""
    VELODROME_V2 = "velodrome_v2"
    """Velodrome v2 and Aerodrome: the fee leaves the pool; the second solver."""
    CAMELOT = "camelot"
    """Camelot v2: the fee stays in the pool, except the owner's share in a stable one; the first solver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SolidlyDirection:
    """What prices one direction; made by `make_direction`.

    Parameters
    ----------
    reserves, scales : tuple of int
        Smallest units, and how many of them are a whole token: of the token sold and of the token bought.
    balances : tuple of int
        The reserves in 18 decimals.
    stable : bool
        As `SolidlyPool` says.
    fork : Fork
        Whose contract it is.
    fee_pips : int
        Share of the input that is charged.
    owner_share_pips : int
        As `SolidlyPool` says.
    pool_scales : tuple of int
        `scales` in the order of the pool's tokens.
    """

    reserves: tuple[int, int]
    scales: tuple[int, int]
    balances: tuple[int, int]
    stable: bool
    fork: Fork
    fee_pips: int
    owner_share_pips: int
    pool_scales: tuple[int, int]

    @property
    def most(self) -> int:
        """The largest input that searches use; 0 where they do without the direction.

        A part in 1e12 below the largest for which no integer of the contract overflows.
        """
        most = 0
        if min(self.reserves) > 0:
            most = self._stable_most() if self.stable else self._volatile_most
            if self.fork is Fork.CAMELOT:
                most = min(most, MAX_RESERVE - self.reserves[0])
        return max(most, 0)

    @property
    def least(self) -> int | None:
        """The least input that buys one unit; None in a closed direction."""
        return self.least_for(1)

    def fee_on(self, amount_in: int) -> int:
        """Return what is charged of an input, rounded as the contract does where it takes the fee off first."""
        return charge(amount_in, self.fee_pips)

    def kept_of(self, amount_in: int) -> int:
        """Return what of an input stays in the pool."""
        if self.fork is not Fork.CAMELOT:
            return amount_in - charge(amount_in, self.fee_pips)
        return amount_in - owner_fee(amount_in, self.fee_pips, self.owner_share_pips) if self.stable else amount_in

    def quote(self, amount_in: int) -> int | None:
        """Return the output for a positive input, 0 where it buys nothing; None where the contract reverts."""
        reserve_in, reserve_out = self.reserves
        if min(self.reserves) == 0 or not self._can_hold(amount_in):
            return None
        net = amount_in - charge(amount_in, self.fee_pips)
        if self.stable:
            return self._stable_out(net)
        if self.fork is Fork.CAMELOT:
            return get_amount_out(amount_in, reserve_in, reserve_out, self.fee_pips)
        return net * reserve_out // (reserve_in + net)

    def gives(self, amount_in: int) -> int:
        """Return the output for a positive input, 0 where there is none."""
        return self.quote(amount_in) or 0

    def least_for(self, amount_out: int) -> int | None:
        """Return the least input up to `most` that buys `amount_out`, which is positive; None where none does."""
        reserve_in, reserve_out = self.reserves
        most = self.most
        if amount_out >= reserve_out or most == 0:
            return None
        if self.stable:
            return self._stable_least(amount_out, most)
        if self.fork is Fork.CAMELOT:
            amount_in = get_amount_in(amount_out, reserve_in, reserve_out, self.fee_pips)
        else:
            amount_in = gross(div_up(reserve_in * amount_out, reserve_out - amount_out), self.fee_pips)
        return amount_in if amount_in <= most else None

    @property
    def _solver(self) -> Solver:
        return Solver.SECOND if self.fork is Fork.VELODROME_V2 else Solver.FIRST

    @property
    def _volatile_most(self) -> int:
        """The largest input whose products with the reserves, and with the fee, stay within 256 bits."""
        return UNLIMITED // max(self.reserves[1], BPS_PER_WHOLE) - self.reserves[0]

    def _can_hold(self, amount_in: int) -> bool:
        """Tell whether the reserve has room for an input; of a stable pool of the other forks the solver tells."""
        if self.fork is Fork.CAMELOT:
            return self.reserves[0] + self.kept_of(amount_in) <= MAX_RESERVE
        return self.stable or amount_in <= self._volatile_most

    def _stable_out(self, net: int) -> int | None:
        """Return the contract's answer, or a unit less where the contract would then refuse its own answer.

        None where it has no answer, or would refuse that too. The first solver may stop where the invariant has fallen
        by a rounding; the second makes sure, as far as it asks right.
        """
        amount_out = stable_amount_out(net, *self.reserves, self.scales, self._solver, self.pool_scales)
        if not amount_out or self._accepts(net, amount_out):
            return amount_out
        return amount_out - 1 if self._accepts(net, amount_out - 1) else None

    def _stable_most(self) -> int:
        """Return the largest input for a stable pool's solver; 0 where the pool is too small for it."""
        x, y = self.balances
        capacity = largest_balance(y) - x if min(x, y) > 0 and is_fine(x, y) else -1
        return gross(capacity * self.scales[0] // WAD + 1, self.fee_pips) - 1 if capacity >= 0 else 0

    def _accepts(self, net: int, amount_out: int) -> bool:
        """Tell whether a stable pool's ``swap`` lets that much out."""
        reserve_in, reserve_out = self.reserves
        after = (reserve_in + net, reserve_out - amount_out)
        return amount_out < reserve_out and holds_invariant(self.reserves, after, self.scales)

    def _stable_least(self, amount_out: int, most: int) -> int | None:
        """Return the least input that a stable pool serves and that buys `amount_out`.

        The contract's answer never falls where it has one: the search is for what it would be without gaps, and then
        goes on to the next input that is no gap.
        """
        found = least_input(self._without_gaps, amount_out, self._stable_guess(amount_out), most)
        for amount_in in range(found, min(found + GAPS, most + 1)) if found else ():
            if self.gives(amount_in) >= amount_out:
                return amount_in
        return None

    def _without_gaps(self, amount_in: int) -> int:
        """Return what a stable pool would answer if the second solver asked right."""
        if self._solver is Solver.FIRST:
            return self.gives(amount_in)
        net = amount_in - charge(amount_in, self.fee_pips)
        return stable_amount_out(net, *self.reserves, self.scales, Solver.SECOND) or 0

    def _stable_guess(self, amount_out: int) -> int:
        x, y = self.balances
        scale_in, scale_out = self.scales
        rest = y - div_up(amount_out * WAD, scale_out)
        wanted = balance_after(rest, invariant(x, y), x, Solver.SECOND) if rest > 0 else None
        net = div_up(((wanted or x) - x) * scale_in, WAD)
        return gross(max(net, 1), self.fee_pips)


def make_direction(
    reserves: tuple[int, int],
    decimals: tuple[int, int],
    *,
    stable: bool,
    fork: Fork,
    fee_pips: int,
    owner_share_pips: int,
    zero_for_one: bool,
) -> SolidlyDirection:
    """Return a direction, from the reserves and decimals of the token sold and the token bought."""
    scales = int(10 ** decimals[0]), int(10 ** decimals[1])
    balances = reserves[0] * WAD // scales[0], reserves[1] * WAD // scales[1]
    return SolidlyDirection(
        reserves=reserves,
        scales=scales,
        balances=balances,
        stable=stable,
        fork=fork,
        fee_pips=fee_pips,
        owner_share_pips=owner_share_pips,
        pool_scales=scales if zero_for_one else scales[::-1],
    )

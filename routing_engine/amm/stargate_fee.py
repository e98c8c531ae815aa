"""Stargate v2's fee library: a fee by size, or a reward for filling up a pool that lacks funds.

Amounts are in shared decimals, six on every chain, and fit 64 bits.
"""

from __future__ import annotations

from typing import NamedTuple

from routing_engine.fixed_point import PIPS

MAX_SHARED = 2**64 - 1
"""The largest amount; as a path's credit, unlimited."""


class FeeTerms(NamedTuple):
    """``FeeLibV1.feeConfigs`` of one destination: the sizes up to which fees hold, fees, and the reward, in pips."""

    zone1_most: int
    zone2_most: int
    fee1_pips: int
    fee2_pips: int
    fee3_pips: int
    reward_pips: int

    def fee_pips(self, amount: int) -> int:
        """Return the fee of the zone that `amount` lies in; it holds for the whole amount."""
        if amount <= self.zone1_most:
            return self.fee1_pips
        return self.fee2_pips if amount <= self.zone2_most else self.fee3_pips


def fee_of(terms: FeeTerms, amount: int) -> int:
    """Return the fee on an amount: the floor plus one, exact or not, unless it is free. ``_calculateFee``."""
    pips = terms.fee_pips(amount)
    return amount * pips // PIPS + 1 if pips and amount else 0


def reward_of(terms: FeeTerms, amount: int) -> int:
    """Return the reward for an amount that fills a deficit, rounded down. ``_calculateReward``."""
    return amount * terms.reward_pips // PIPS


def apply_fee(terms: FeeTerms, amount: int, deficit: int) -> int:
    """Return what arrives of `amount`, which may be more, and negative where the fee is.

    Equals ``FeeLibV1.applyFeeView``, which reverts below zero.

    Parameters
    ----------
    terms : FeeTerms
        Of the destination.
    amount : int
        What is sent.
    deficit : int
        What the sending pool lacks; 0 for a token that is burnt and minted, not pooled.
    """
    if deficit == 0 or terms.reward_pips == 0:
        return amount - fee_of(terms, amount)
    filling = min(amount, deficit)
    return amount + reward_of(terms, filling) - fee_of(terms, amount - filling)


class Stretch(NamedTuple):
    """A range of amounts on which more never delivers less."""

    first: int
    slope: float
    """What one unit more delivers, but for rounding."""


def stretches(terms: FeeTerms, deficit: int, treasury: int) -> list[Stretch]:
    """Return the stretches from an amount of 1 on, split where the slope changes; each ends before the next begins."""
    filling = deficit if terms.reward_pips else 0
    reward, found = reward_of(terms, filling), []
    if filling:
        found.append(Stretch(1, 1.0 + terms.reward_pips / PIPS))
        capped = treasury * PIPS // terms.reward_pips + 1
        if capped < filling:
            found.append(Stretch(capped + 1, 1.0))
    previous = 0
    zones = ((terms.zone1_most, terms.fee1_pips), (terms.zone2_most, terms.fee2_pips), (MAX_SHARED, terms.fee3_pips))
    for most, pips in zones:
        if most > previous:
            found += _in_zone(filling + previous + 1, filling + most, filling, pips, reward - treasury)
            previous = most
    return found


def _in_zone(first: int, last: int, filling: int, pips: int, unpaid: int) -> list[Stretch]:
    """Split one zone where its fee has used up the reward that the treasury cannot pay."""
    slope = 1.0 - pips / PIPS
    used_up = filling + (max(0, unpaid - 1) * PIPS // pips if pips else MAX_SHARED) + 1
    if unpaid <= 0 or used_up <= first:
        return [Stretch(first, slope)]
    return [Stretch(first, 1.0)] + ([Stretch(used_up, slope)] if used_up <= last else [])


def cap_reward(amount: int, arrives: int, treasury: int) -> int:
    """Return what arrives when rewards come out of a treasury of collected fees. ``StargatePool._capReward``."""
    return min(arrives, amount + treasury)

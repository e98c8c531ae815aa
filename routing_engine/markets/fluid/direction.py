"""One direction of a Fluid pool: quotes in smallest units, and the inputs it accepts."""

from __future__ import annotations

from typing import NamedTuple

from routing_engine.amm.fluid import (
    ADJUSTED_DECIMALS,
    MAX_AMOUNT,
    MIN_ADJUSTED,
    MIN_AMOUNT,
    POWERS,
    Breach,
    Pools,
    Split,
    adjust,
    find_breach,
    split_in,
    unadjust,
)
from routing_engine.amm.integer_search import greatest_input, least_input
from routing_engine.fixed_point import div_up
from routing_engine.markets.fluid.curve import Piece, build_pieces

MARGIN = 1.0 + 1e-6
"""More than the float64 curve can be off."""
PRICE_REACH = 0.03
"""More than the part of the imaginary reserves that moves a price by 5 %, at fees up to the contract's 13 %."""


class FluidDirection(NamedTuple):
    """What a quote needs, seen from the token sold."""

    pools: Pools
    zero_for_one: bool
    center_price: int
    fee_pips: int
    decimals_in: int
    decimals_out: int
    withdrawable: int
    """Adjusted units of the token bought, as is `borrowable`."""
    borrowable: int

    @property
    def quantum(self) -> int:
        """Smallest units of input that the contract tells apart."""
        return POWERS[max(0, self.decimals_in - ADJUSTED_DECIMALS)]

    @property
    def half(self) -> int:
        """Largest number of quanta that the contract looks at: half of the imaginary reserves."""
        imaginary = self.pools[0].imaginary_in + self.pools[1].imaginary_in
        return unadjust(imaginary // 2, self.decimals_in) // self.quantum

    def split(self, amount_in: int) -> Split:
        """Divide and price an input; one pool must be enabled."""
        return split_in(adjust(amount_in, self.decimals_in), self.pools, self.fee_pips)

    def paid(self, split: Split) -> int:
        """Output in smallest units: each pool's part is rounded down."""
        return unadjust(split.collateral_out, self.decimals_out) + unadjust(split.debt_out, self.decimals_out)

    def breach(self, amount_in: int, split: Split) -> Breach | None:
        """Return the check of the contract's that `amount_in` fails."""
        if not MIN_AMOUNT <= amount_in <= MAX_AMOUNT:
            return Breach.TOO_LITTLE if amount_in < MIN_AMOUNT else Breach.HALF_OF_RESERVES
        limits = self.withdrawable, self.borrowable
        return find_breach(split, self.pools, self.zero_for_one, self.center_price, *limits)

    def pieces(self) -> list[Piece]:
        """Rows of `Curve.pieces`."""
        return build_pieces(self.pools, self.fee_pips, self.decimals_in, self.decimals_out)

    def least(self, amount_out: int = 1) -> int | None:
        """Return the least input that buys `amount_out`, or None where the contract serves none that does."""
        quantum, half = self.quantum, self.half
        minimum = div_up(max(MIN_AMOUNT, unadjust(MIN_ADJUSTED, self.decimals_in)), quantum)
        if half < minimum:
            return None
        count: int | None = minimum
        if self._gives(minimum) < amount_out:
            guess = int(min(_invert(self.pieces(), amount_out) / quantum, half))
            count = least_input(self._gives, amount_out, guess, half)
        return count * quantum if count is not None and self._accepts(count) else None

    def most(self, least: int, slack: float = 0.0) -> int:
        """Return the greatest input served, or less by at most the fraction `slack`; `least` must be served."""
        quantum, low = self.quantum, least // self.quantum
        high = max(low, min(self._bound() // quantum, self.half))
        near = high - (high >> 2)
        if low < near and self._accepts(near):
            low = near
        count = greatest_input(self._accepts, low, high, slack)
        # The contract drops what is less than a quantum.
        return (count + 1) * quantum - 1

    def _bound(self) -> int:
        """Return an input that the checks of outputs or of the price are sure to refuse, in smallest units."""
        pieces = self.pieces()
        limits = zip(self.pools, (self.withdrawable, self.borrowable), strict=True)
        most_out = sum(min(pool.real_out, limit) for pool, limit in limits)
        # Each pool's output is rounded down twice: to adjusted units, then to smallest ones.
        by_output = _invert(pieces, unadjust(most_out + 2, self.decimals_out) + 2) * MARGIN
        imaginary = unadjust(self.pools[0].imaginary_in + self.pools[1].imaginary_in, self.decimals_in)
        return int(min(by_output, pieces[-1][0] * MARGIN + imaginary * PRICE_REACH)) + self.quantum

    def _gives(self, count: int) -> int:
        return self.paid(self.split(count * self.quantum))

    def _accepts(self, count: int) -> bool:
        amount_in = count * self.quantum
        return self.breach(amount_in, self.split(amount_in)) is None


def _invert(pieces: list[Piece], y: float) -> float:
    """Input of the last piece that begins at or below `y`; infinite where it never gives as much."""
    x0, y0, a, b, c = next(row for row in reversed(pieces) if row[1] <= y)
    rest = a - c * (y - y0)
    return x0 + b * (y - y0) / rest if rest > 0.0 else float("inf")

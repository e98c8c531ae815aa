"""One direction of a StableSwap pool: exact sales, their limit, and the least input for an output."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from routing_engine.amm.integer_search import greatest_input, least_input
from routing_engine.amm.stableswap import (
    FEE_SCALE,
    UINT256,
    Rules,
    Traded,
    balance_after,
    dynamic_fee,
    exchange,
    invariant,
)
from routing_engine.curves.shape import REFUSED
from routing_engine.curves.stableswap import (
    BALANCE_OUT,
    LIMIT,
    SCALE_IN,
    growing_limit,
    invariant_in,
    output_growth,
    stable_fee_in,
)
from routing_engine.fixed_point import WAD, div_up
from routing_engine.markets.stableswap.float_curve import build_stable_params

GUESSES = 8
"""Rounds in which the fee and the amount it depends on settle."""


class Sale(NamedTuple):
    """What a sale pays, its fees in the same unit, and what it did to the balances."""

    amount_out: int
    lp_fee: int
    protocol_fee: int
    traded: Traded


class StableDirection:
    """Coin `i` sold for coin `j`, of a pool with these balances (tokens' units), rates and rules.

    Raises
    ------
    ArithmeticError
        If the pool's present balances have no invariant.
    """

    __slots__ = ("balances", "d", "i", "j", "most", "params", "rates", "rules")

    def __init__(self, balances: Sequence[int], rates: Sequence[int], rules: Rules, i: int, j: int) -> None:
        self.balances = [rate * balance // WAD for rate, balance in zip(rates, balances, strict=True)]
        self.rates, self.rules, self.i, self.j = rates, rules, i, j
        self.d = invariant(self.balances, rules)
        self.params = self._params()
        self.most = self._most()

    @property
    def fee_grows(self) -> bool:
        """Whether the fee depends on the amount."""
        return self.rules.multiplier > FEE_SCALE

    def sell(self, amount_in: int) -> Sale:
        """Return what `amount_in` buys, which may be nothing.

        Raises
        ------
        ArithmeticError
            Where the contract reverts.
        """
        if amount_in > UINT256 // self.rates[self.i]:
            raise OverflowError("leaves uint256")
        rate = self.rates[self.j]
        added = amount_in * self.rates[self.i] // WAD
        traded = exchange(self.balances, self.i, self.j, added, self.d, self.rules)
        total_fee = traded.fee * WAD // rate
        protocol_fee = (traded.fee * self.rules.admin_fee // FEE_SCALE) * WAD // rate
        amount_out = (traded.removed - traded.fee) * WAD // rate
        return Sale(amount_out, total_fee - protocol_fee, protocol_fee, traded)

    def gives(self, amount_in: int) -> int:
        """Return the output for `amount_in`, 0 where the contract reverts."""
        if amount_in < 1:
            return 0
        try:
            return self.sell(amount_in).amount_out
        except ArithmeticError:
            return 0

    def least(self, wanted: int) -> int | None:
        """Return the least input that buys `wanted`, or None."""
        if wanted * self.rates[self.j] // WAD > self.balances[self.j]:
            return None

        found = least_input(self.gives, wanted, self._guess(wanted), self.most)
        if found is None or not self.fee_grows or self._is_before_fee_steps(found):
            return found
        return self._least_across_fee_steps(wanted, found)

    def _params(self) -> npt.NDArray[np.float64]:
        """Parameters of `routing_engine.curves.kernels.stableswap_dynamic_fee`."""
        rules = self.rules
        scales = (self.rates[self.i] / WAD, WAD / self.rates[self.j])
        raised = (rules.amp * len(self.balances), rules.amp_precision)
        base = build_stable_params(self.balances, self.i, self.j, self.d, raised, scales)
        params = np.array([*base, rules.fee / FEE_SCALE, max(1.0, rules.multiplier / FEE_SCALE), base[BALANCE_OUT]])
        if rules.oracle or self.fee_grows:
            params[LIMIT] = growing_limit(params, 0, self._floor())
        return params

    def _most(self) -> int:
        """Return the largest input of searches: until uint256 ends or, with a growing fee, until more buys less."""
        most = UINT256 // self.rates[self.i]
        if self.rules.oracle or self.fee_grows:
            limit = self.params[LIMIT]
            most = min(most, int(invariant_in(self.params, 0, limit) / self.params[SCALE_IN])) if limit > 0.0 else 0
        return most

    def _floor(self) -> float:
        """Bound from above the output's balance at which NG's ``_get_p`` or ``_dynamic_fee`` would leave uint256."""
        d, n = float(self.d), len(self.balances)
        rest = [balance for k, balance in enumerate(self.balances) if k != self.j]
        scarce = math.prod(
            max(1.0, d / balance) for k, balance in enumerate(self.balances) if k not in (self.i, self.j)
        )
        product = d * d * d * scarce / float(n**n)
        largest = 2.0**255
        prices = max(math.sqrt(product * WAD / largest), product / largest * (WAD / min(rest)))
        return max(4.0, product / largest, prices, math.sqrt(product / 2.0**118))

    def _guess(self, wanted: int) -> int:
        """Estimate the least input: the contract's own equation, solved for the other coin."""
        i, j = self.i, self.j
        net = div_up(wanted * self.rates[j], WAD)
        share = self._share(self.balances[i], self.balances[j])
        for _ in range(GUESSES):
            y = self.balances[j] - div_up(net * FEE_SCALE, FEE_SCALE - share) - self.rules.spare
            try:
                x = balance_after(self.balances, j, i, y, self.d, self.rules)
            except ArithmeticError:
                break
            settled, share = share, self._share(x, y)
            if share == settled:
                return div_up((x - self.balances[i]) * WAD, self.rates[i])
        estimate = stable_fee_in(self.params, 0, float(wanted))
        return self.most if estimate == REFUSED else min(self.most, int(estimate))

    def _is_before_fee_steps(self, found: int) -> bool:
        """Tell whether the fee did not rise shortly before `found`.

        It is counted in 1e-10; where it rises the output falls by that much, and a little less input may buy the same.
        """
        traded = self.sell(found).traded
        growth, needed = output_growth(self.params, 0, float(traded.removed))
        reach = 2e-10 * traded.removed * needed / max(growth, 1e-9) / self.params[SCALE_IN]
        return self._share_of(max(1, found - 1 - int(reach))) >= self._share(traded.x, traded.y)

    def _least_across_fee_steps(self, wanted: int, found: int) -> int:
        """Return the least input that buys `wanted`, of which `found` is enough: between two steps of the fee."""
        low = least_input(self._most_before_step, wanted, found, found) or found
        while low < found and self.gives(low) < wanted:
            end = self._step_end(low, found)
            if self.gives(end) >= wanted:
                return least_input(self.gives, wanted, low, end) or found
            low = end + 1
        return low

    def _step_end(self, low: int, most: int) -> int:
        """Return the last input up to `most` that pays the same fee as `low`."""
        share = self._share_of(low)

        def pays_the_same(amount_in: int) -> bool:
            return self._share_of(amount_in) == share

        step, high = 1, low
        while high < most and pays_the_same(high):
            step, high = 2 * step, min(most, high + step)
        return greatest_input(pays_the_same, low, high)

    def _most_before_step(self, amount_in: int) -> int:
        """Bound what `amount_in` can buy: with the fee one step lower than an unrounded one, which never falls."""
        traded = self.sell(amount_in).traded
        u, v = (self.balances[self.i] + traded.x) // 2, (self.balances[self.j] + traded.y) // 2
        squared, rules = (u + v) ** 2, self.rules
        spread = (rules.multiplier - FEE_SCALE) * 4 * u * v + FEE_SCALE * squared
        share = rules.multiplier * rules.fee * FEE_SCALE * squared // spread - FEE_SCALE
        fee = traded.removed * share // (FEE_SCALE * FEE_SCALE)
        return (traded.removed - fee + 1) * WAD // self.rates[self.j]

    def _share_of(self, amount_in: int) -> int:
        traded = self.sell(amount_in).traded
        return self._share(traded.x, traded.y)

    def _share(self, x: int, y: int) -> int:
        """Return the fee of an exchange that leaves these balances."""
        averages = (self.balances[self.i] + x) // 2, (self.balances[self.j] + y) // 2
        return dynamic_fee(*averages, self.rules.fee, self.rules.multiplier)

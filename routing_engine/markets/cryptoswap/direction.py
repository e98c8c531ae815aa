"""One direction of a crypto pool: exact sales, their limits, the least input for an output, and the curve."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from routing_engine.amm.cryptoswap.exchange import CryptoRules, Exchanged, Method, exchange, scaled, solve
from routing_engine.amm.cryptoswap.two_coins import SMALL_GAMMA
from routing_engine.amm.integer_search import least_input
from routing_engine.amm.stableswap import FEE_SCALE
from routing_engine.curves import cryptoswap as kernel
from routing_engine.curves.curve import Curve
from routing_engine.curves.shape import REFUSED, Shape
from routing_engine.fixed_point import WAD, div_up

PROFIT_NOISE = 10**15
"""The contract demands that an exchange raises the value of a share, which it counts in 1e-18 and knows to about 1e-16.

An exchange that adds less than one part in so many to the pool, or no fee at all, may be refused now and then."""

GRAIN, GRAIN_BY_GAMMA = 10**8, 50_000
"""A swap is at least one part in so many of D, and at least so many times D / gamma (1e-18): the contract's rounding,
which grows as gamma shrinks, would be a noticeable part of it."""

LEAST_SHARE = 0.02
"""No swap leaves less than this part of D in the output's balance: not far below the contract begins to revert."""

MARGIN = 1.05
"""Distance kept from the contract's own bounds, where they are tighter."""

REFINEMENTS = 4


class CryptoDirection:
    """Coin `i` sold for coin `j`, of a pool with these balances (tokens' units), precisions, prices, D and rules.

    Raises
    ------
    ArithmeticError
        If the contract cannot price the present balances.
    """

    __slots__ = ("balances", "d", "i", "j", "most", "params", "precisions", "price_scale", "prices", "rules")

    def __init__(
        self,
        balances: Sequence[int],
        precisions: Sequence[int],
        price_scale: Sequence[int],
        d: int,
        rules: CryptoRules,
        i: int,
        j: int,
    ) -> None:
        self.balances, self.precisions, self.price_scale = balances, precisions, price_scale
        self.d, self.rules, self.i, self.j = d, rules, i, j
        self.prices = (WAD, *price_scale)
        self.params = self._params()
        self.most = self._most()

    def sell(self, amount_in: int) -> Exchanged:
        """Return what `amount_in` buys, which may be nothing.

        Raises
        ------
        ArithmeticError
            Where the contract reverts, or too little of the output would be left.
        """
        balances = list(self.balances)
        balances[self.i] += amount_in
        xs = scaled(balances, self.precisions, self.price_scale)
        return exchange(xs, self.j, self.d, self.precisions[self.j], self.prices[self.j], self.rules)

    def least(self, wanted: int) -> int | None:
        """Return the least input that buys `wanted`, or None; see `routing_engine.markets.cryptoswap.pool`."""
        guess = float(kernel.crypto_in(self.params, 0, float(wanted)))
        at = self.most if guess == REFUSED else max(1, min(self.most, int(guess)))
        for _ in range(REFINEMENTS):
            step = int((wanted - self.gives(at)) / self._marginal(at))
            at = max(1, min(self.most, at + step))
        return least_input(self.gives, wanted, at, self.most)

    def gives(self, amount_in: int) -> int:
        """Return the output for `amount_in`, 0 where the contract reverts."""
        try:
            return self.sell(amount_in).amount_out if amount_in > 0 else 0
        except ArithmeticError:
            return 0

    def smallest(self) -> int:
        """Return the least input whose share of the pool is not lost in rounding, and that pays a fee of two units."""
        mid_fee = max(1, self.rules.mid_fee)
        profit = self.d * FEE_SCALE // (PROFIT_NOISE * mid_fee)
        least_value = max(self.d // GRAIN, self.d * GRAIN_BY_GAMMA // self.rules.gamma, profit)
        grain = div_up(least_value * WAD, self.prices[self.i] * self.precisions[self.i])
        return max(1, grain, int(2 * FEE_SCALE / mid_fee / self.spot_price()))

    def spot_price(self) -> float:
        """Marginal price after the fee, smallest units."""
        return self._bare_price() * float(kernel.kept_share(self.params, 0, 0.0, 0.0))

    def curve(self, gas: float) -> Curve:
        """Return the float64 curve; its fee shrinks towards balance, so that it is not concave."""
        spot, scale = self.spot_price(), float(self.params[kernel.SCALE_IN])
        return Curve.of_shape(
            Shape.CRYPTO,
            self.params.tolist(),
            slope=spot,
            depth=float(self.params[kernel.BALANCE_IN]) / scale,
            x_min=float(self.smallest()),
            x_max=float(self.most),
            gas=gas,
            concave=False,
            ceiling=self._bare_price() * (1.0 - min(self.rules.mid_fee, self.rules.out_fee) / FEE_SCALE),
        )

    def _bare_price(self) -> float:
        """Marginal price without the fee: the invariant's curve is concave, so no average price exceeds it."""
        p = self.params
        return float(p[kernel.SLOPE] * p[kernel.SCALE_IN] * p[kernel.SCALE_OUT])

    def _marginal(self, at: int) -> float:
        """Return the marginal price at an input, but at least what makes a step towards another output bounded."""
        step = 1e-4 * at
        rise = kernel.crypto_out(self.params, 0, at - step) - kernel.crypto_out(self.params, 0, float(at))
        return max(1e-6 * self.spot_price(), float(-rise) / step)

    def _most(self) -> int:
        """Return the largest input."""
        p = self.params
        if p[kernel.LIMIT] <= 0.0:
            return 0
        return int(kernel.added_for(p, 0, p[kernel.LIMIT]) / p[kernel.SCALE_IN])

    def _params(self) -> npt.NDArray[np.float64]:
        """Parameters of `routing_engine.curves.kernels.cryptoswap`."""
        i, j, d, rules = self.i, self.j, float(self.d), self.rules
        xs = scaled(self.balances, self.precisions, self.price_scale)
        y, _ = solve(xs, j, self.d, rules)
        p = np.zeros(16)
        p[kernel.STABLE_MATH] = rules.method is Method.STABLE
        p[kernel.SCALE_IN] = self.precisions[i] * self.prices[i] / WAD / d
        p[kernel.SCALE_OUT] = d * WAD / self.prices[j] / self.precisions[j]
        p[kernel.BALANCE_IN], p[kernel.BALANCE_OUT] = xs[i] / d, y / d
        p[kernel.BALANCE_THIRD] = xs[3 - i - j] / d if len(xs) == 3 else 0.0
        p[kernel.AMPLIFICATION] = rules.ann / 1e4 * (2.0 if rules.method is Method.STABLE else 1.0)
        p[kernel.GAMMA], p[kernel.FEE_GAMMA] = rules.gamma / WAD, rules.fee_gamma / WAD
        p[kernel.OFFSET] = (xs[j] - y - 1) / d
        p[kernel.MID_FEE], p[kernel.OUT_FEE] = rules.mid_fee / FEE_SCALE, rules.out_fee / FEE_SCALE
        p[kernel.GAP], p[kernel.EXCESS] = self._small_differences(xs, y)
        _, by_added, by_removed = kernel.imbalance(p, 0, 0.0, 0.0)
        p[kernel.SLOPE] = -by_added / by_removed
        p[kernel.LIMIT] = self._most_removed(p)
        return p

    def _small_differences(self, xs: Sequence[int], y: int) -> tuple[float, float]:
        """Return gamma + 1 - K0 and S - 1, taken of integers."""
        n, d = len(xs), self.d
        solved = [y if k == self.j else x for k, x in enumerate(xs)]
        k0 = math.prod(n * x for x in solved) * WAD**2 // d**n
        return (self.rules.gamma * WAD + WAD**2 - k0) / WAD**2, (sum(solved) - d) / d

    def _most_removed(self, p: npt.NDArray[np.float64]) -> float:
        """Return how much may leave the balance before the contract finds either balance too far from D."""
        reach, least = 100.0 / MARGIN, LEAST_SHARE
        if len(self.balances) == 2:
            reach *= 0.5 * min(1.0, SMALL_GAMMA / max(1, self.rules.gamma))
            least = max(least, 0.25 / reach)
        removed = float(p[kernel.BALANCE_OUT]) - least
        capacity = reach - float(p[kernel.BALANCE_IN])
        if removed <= 0.0 or capacity <= 0.0:
            return 0.0
        if kernel.added_for(p, 0, removed) > capacity:
            return float(kernel.removed_for(p, 0, capacity))
        return removed

"""Weighted pools of Balancer v1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

from routing_engine.amm.balancer.v1 import (
    MAX_FEE,
    MAX_WEIGHT,
    MIN_FEE,
    MIN_WEIGHT,
    base_guess,
    divide,
    input_at_base,
    max_amount_in,
    out_at_base,
    out_given_in,
    spot_price,
)
from routing_engine.amm.integer_search import greatest_input, least_input
from routing_engine.curves.curve import Curve
from routing_engine.curves.shape import Shape
from routing_engine.errors import Refusal
from routing_engine.fixed_point import WAD, div_up, mul_div_up
from routing_engine.market import Limits
from routing_engine.markets.common.basket import BasketMarket, check_amounts
from routing_engine.markets.common.codecs import BigInt
from routing_engine.markets.common.record import require
from routing_engine.markets.common.state import advance
from routing_engine.model import Fee, Hop, Token

MAX_TOKENS = 8
MAX_BALANCE = 2**128


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BalancerV1Pool(BasketMarket):
    """A Balancer v1 pool that keeps the value of its tokens in fixed proportions.

    The contract reverts when rounding would pay more than the price before the trade. For tiny inputs that depends on
    their last digits, so inputs are accepted from where it can no longer happen.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    tokens : tuple of Token
        At most eight.
    balances : tuple of int
        Smallest units: ``getBalance``.
    weights : tuple of int
        ``getDenormalizedWeight``, from 1e18 to 50e18.
    fee_e18 : int
        Share of the input that stays in the pool, 18 decimals: ``getSwapFee``.
    gas : int
        Gas units of one swap.

    Raises
    ------
    InvalidMarket
        If tokens, balances, weights or fee are impossible.
    """

    kind: ClassVar[str] = "balancer_v1"
    has_depth: ClassVar[bool] = True

    id: str
    protocol: str
    tokens: tuple[Token, ...]
    balances: tuple[int, ...]
    weights: tuple[int, ...]
    fee_e18: BigInt
    gas: int = 115_000

    def __post_init__(self) -> None:
        self.check_tokens(MAX_TOKENS)
        check_amounts("balances", self.balances, len(self.tokens), 0, MAX_BALANCE)
        check_amounts("weights", self.weights, len(self.tokens), MIN_WEIGHT, MAX_WEIGHT)
        require(MIN_FEE <= self.fee_e18 <= MAX_FEE, "fee_e18", f"must be from {MIN_FEE} to {MAX_FEE}")

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        sold, bought = self.find_places(token_in, token_out)
        least, most = self._least_accepted(sold, bought), self._most_accepted(sold, bought)
        if amount_in < least:
            detail = f"from {least} on no rounding can break the pool's price check"
            self.refuse(Refusal.AMOUNT_TOO_LOW, detail)
        if amount_in > most:
            detail = f"at most {most}, half the balance or what leaves enough of the other"
            self.refuse(Refusal.AMOUNT_TOO_HIGH, detail)
        amount_out = out_given_in(*self._side(sold), *self._side(bought), amount_in, self.fee_e18)
        if amount_out == 0:
            self.refuse_low(amount_in)
        fees = (Fee(amount=mul_div_up(amount_in, self.fee_e18, WAD), token=token_in, name="lp_fee"),)
        price = self.spot_price(token_in, token_out)
        hop = self.make_hop(token_in, token_out, amount_in, amount_out, gas=self.gas, spot_price=price, fees=fees)
        after = advance(self, balances=self.move_balances(sold, amount_in, bought, amount_out))
        before = self._price(sold, bought)
        if not before <= min(after._price(sold, bought), divide(amount_in, amount_out)):
            self.refuse(Refusal.AMOUNT_TOO_LOW, "rounding would break the pool's price check")
        return hop, after

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Search the base of the power, from the least input that passes the price check; see `BaseMarket`."""
        sold, bought = self.find_places(token_in, token_out)
        least, most = self._least_accepted(sold, bought), self._most_accepted(sold, bought)
        if amount_out >= self.balances[bought] or least > most:
            return None
        found = self._least_sufficient(sold, bought, amount_out)
        return None if found is None or found > most else max(found, least)

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that surely passes the price check to half the balance, if that leaves a price."""
        sold, bought = self.find_places(token_in, token_out)
        return Limits(self._least_accepted(sold, bought), self._most_accepted(sold, bought))

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. 0 for an empty pool."""
        sold, bought = self.find_places(token_in, token_out)
        if not self.balances[sold]:
            return 0.0
        price = self.balances[bought] / self.balances[sold] * (self.weights[sold] / self.weights[bought])
        return (1.0 - self.fee_e18 / WAD) * price

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """Return the weighted formula with the contract's cut series."""
        sold, bought = self.find_places(token_in, token_out)
        bounds = self.limits(token_in, token_out)
        exponent, kept = divide(self.weights[sold], self.weights[bought]) / WAD, 1.0 - self.fee_e18 / WAD
        balance_in = float(self.balances[sold])
        return Curve.of_shape(
            Shape.WEIGHTED_SERIES,
            [balance_in, float(self.balances[bought]), exponent, kept],
            slope=self.spot_price(token_in, token_out),
            depth=2.0 * balance_in / ((1.0 + exponent) * kept),
            x_min=float(bounds.min_amount_in),
            x_max=float(bounds.max_amount_in),
            gas=float(self.gas),
            # Where a series takes one term more, the output rises by up to 1e-10 of itself.
            concave=exponent.is_integer(),
            ceiling=self.spot_price(token_in, token_out) * (1.0 + 1e-9),
        )

    def _side(self, index: int) -> tuple[int, int]:
        return self.balances[index], self.weights[index]

    def _price(self, sold: int, bought: int) -> int:
        """Return the price with the fee; 0 where the contract would divide by zero, as with less than `_dregs`."""
        if self.balances[bought] < self._dregs(bought):
            return 0
        return spot_price(*self._side(sold), *self._side(bought), self.fee_e18)

    def _dregs(self, index: int) -> int:
        """Return the least balance of a token that over its weight is not rounded to nothing."""
        weight = self.weights[index]
        return div_up(weight - weight // 2, WAD)

    def _most_accepted(self, sold: int, bought: int) -> int:
        """Return half the balance, or the greatest input after which the token bought still has a price."""
        most, left = max_amount_in(self.balances[sold]), self.balances[bought] - self._dregs(bought)
        # Half the balance more makes the base of the power two thirds.
        if left < 0 or not most or self.balances[bought] * (2 / 3) ** (self.weights[sold] / self.weights[bought]) > 100:
            return most

        def leaves_a_price(amount_in: int) -> bool:
            return out_given_in(*self._side(sold), *self._side(bought), amount_in, self.fee_e18) <= left

        return greatest_input(leaves_a_price, 0, most)

    def _least_sufficient(self, sold: int, bought: int, amount_out: int) -> int | None:
        """Search the base of the power: the output depends on the input through it alone."""
        (balance_in, weight_in), (balance_out, weight_out) = self._side(sold), self._side(bought)
        exponent, most = divide(weight_in, weight_out), max_amount_in(balance_in)
        fallen = least_input(
            lambda fall: out_at_base(WAD - fall, exponent, balance_out),
            amount_out,
            WAD - base_guess(exponent, balance_out, amount_out),
            WAD // 2,
        )
        found = input_at_base(balance_in, WAD - fallen, self.fee_e18) if fallen else most + 1
        return found if found <= most else None

    def _least_accepted(self, sold: int, bought: int) -> int:
        """Return an input from which the price moves by more than all rounding errors of the price check.

        An input of the share z of its balance gets the price less about ``steepness * z``. On the other side are errors
        of the prices' last digits, and errors of the output, of units and of 1e-18 of the balance. The smaller z is,
        the more the latter weigh.
        """
        balance_in, balance_out = self.balances[sold], self.balances[bought]
        price = self._price(sold, bought) if balance_in else 0
        if price == 0:
            return max_amount_in(balance_in) + 1
        exponent = self.weights[sold] / self.weights[bought]
        steepness = 0.4 * (1.0 + exponent) * (1.0 - self.fee_e18 / WAD)
        fixed = 4.0 / price + 1e-17
        falling = (1.0 / balance_out + 4e-18) / exponent + 1.0 / balance_in + 2e-18
        share = (fixed + math.sqrt(fixed * fixed + 4.0 * steepness * falling)) / (2.0 * steepness)
        # A round trip must not gain by rounding either: the fee must exceed it.
        share = max(share, falling * WAD / self.fee_e18)
        return math.ceil(min(share, 1.0) * balance_in) + 1

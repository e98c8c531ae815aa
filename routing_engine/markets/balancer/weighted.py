"""Weighted pools of the Balancer v2 vault."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from routing_engine.amm.balancer.weighted import (
    MAX_RATIO,
    MAX_RELATIVE_ERROR,
    MIN_WEIGHT,
    MULTIPLIED,
    amount_after_fee,
    amount_before_fee,
    input_at_base,
    out_at_base,
    out_given_in,
)
from routing_engine.amm.balancer.weighted import base_guess as guess_base
from routing_engine.amm.integer_search import least_input
from routing_engine.curves.curve import Curve
from routing_engine.curves.shape import Shape
from routing_engine.errors import Refusal
from routing_engine.fixed_point import WAD, div_up, mul_div_up
from routing_engine.market import Limits
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.basket import BasketMarket, check_amounts, check_fee_e18
from routing_engine.markets.common.codecs import BigInt
from routing_engine.markets.common.record import require
from routing_engine.markets.common.state import advance
from routing_engine.model import Fee, Hop, Token

MAX_TOKENS = 50
MAX_BALANCE = 2**112 - 1
"""The vault stores balances as uint112."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WeightedPool(BasketMarket):
    """A Balancer v2 pool that keeps the value of its tokens in fixed proportions.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    tokens : tuple of Token
        In the order of the contract, each of at most 18 decimals.
    balances : tuple of int
        Smallest units, as the vault has them.
    weights : tuple of int
        Shares of the value, 18 decimals; they add up to one.
    fee_e18 : int
        Share of the input that stays in the pool, 18 decimals.
    multiplies_powers : bool
        Whether the pool's library multiplies out the powers 1, 2 and 4: true for pools of the second weighted factory
        (2022-09) and later, false for older ones.
    gas : int
        Gas units of one swap.

    Raises
    ------
    InvalidMarket
        If tokens, balances, weights or fee are impossible.
    """

    kind: ClassVar[str] = "weighted"
    has_depth: ClassVar[bool] = True

    id: str
    protocol: str
    tokens: tuple[Token, ...]
    balances: tuple[int, ...]
    weights: tuple[int, ...]
    fee_e18: BigInt
    multiplies_powers: bool
    gas: int = 105_000

    def __post_init__(self) -> None:
        self.check_tokens(MAX_TOKENS)
        require(all(0 <= token.decimals <= 18 for token in self.tokens), "tokens", "must have at most 18 decimals")
        check_amounts("balances", self.balances, len(self.tokens), 0, MAX_BALANCE)
        check_amounts("weights", self.weights, len(self.tokens), MIN_WEIGHT, WAD)
        require(sum(self.weights) == WAD, "weights", f"add up to {sum(self.weights)} instead of 1e18")
        check_fee_e18(self.fee_e18)

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        sold, bought = self.find_places(token_in, token_out)
        if amount_in > self._max_amount_in(sold):
            detail = (
                f"at most {self._max_amount_in(sold)}: 30 % of the balance after the fee, and a uint112 in the vault"
            )
            self.refuse(Refusal.AMOUNT_TOO_HIGH, detail)
        amount_out = self._amount_out(sold, bought, amount_in) if amount_in > 0 and self.balances[bought] else 0
        if amount_out == 0:
            self.refuse_low(amount_in)
        fees = (Fee(amount=mul_div_up(amount_in, self.fee_e18, WAD), token=token_in, name="lp_fee"),)
        price = self._spot_price(sold, bought)
        hop = self.make_hop(token_in, token_out, amount_in, amount_out, gas=self.gas, spot_price=price, fees=fees)
        return hop, advance(self, balances=self.move_balances(sold, amount_in, bought, amount_out))

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Search the base of the power: the output depends on the input through it alone."""
        sold, bought = self.find_places(token_in, token_out)
        unit_in, unit_out = self._unit(sold), self._unit(bought)
        balance_in, balance_out = self.balances[sold] * unit_in, self.balances[bought] * unit_out
        wanted = amount_out * unit_out
        if balance_in == 0 or wanted >= balance_out:
            return None
        exponent, multiplies = self._exponent(sold, bought), self.multiplies_powers
        lowest = mul_div_up(balance_in, WAD, balance_in + balance_in * MAX_RATIO // WAD)
        fallen = least_input(
            lambda fall: out_at_base(WAD - fall, exponent, balance_out, multiplies=multiplies),
            wanted,
            WAD - guess_base(exponent, balance_out, wanted, multiplies=multiplies),
            WAD - lowest,
        )
        if fallen is None:
            return None
        added = div_up(input_at_base(balance_in, WAD - fallen), unit_in)
        amount_in = amount_before_fee(added, self.fee_e18)
        return amount_in if amount_in <= self._max_amount_in(sold) else None

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that buys one unit to 30 % of the balance; minimum above maximum when closed."""
        sold, _ = self.find_places(token_in, token_out)
        least = self.least_input(token_in, token_out, 1)
        return Limits(least, self._max_amount_in(sold)) if least else CLOSED

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. 0 for an empty pool."""
        return self._spot_price(*self.find_places(token_in, token_out))

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """Return the weighted formula, less what the contract adds to its powers."""
        sold, bought = self.find_places(token_in, token_out)
        multiplied = self.multiplies_powers and self._exponent(sold, bought) in MULTIPLIED
        balance_in, kept = float(self.balances[sold]), 1.0 - self.fee_e18 / WAD
        exponent, margin = self.weights[sold] / self.weights[bought], (MAX_RELATIVE_ERROR + 1) / WAD
        curve = Curve.of_shape(
            Shape.WEIGHTED,
            [balance_in, float(self.balances[bought]), exponent, kept, 0.0 if multiplied else margin],
            slope=self._spot_price(sold, bought),
            depth=2.0 * balance_in / ((1.0 + exponent) * kept),
            x_max=float(self._max_amount_in(sold)),
            gas=float(self.gas),
        )
        # Powers have steps of 1e-18, so the least input may lie a little below the formula's.
        return replace(curve, x_min=0.5 * curve.inverse(1.0))

    def _unit(self, index: int) -> int:
        """Scale to 18 decimals: ``_scalingFactor``."""
        return int(10 ** (18 - self.tokens[index].decimals))

    def _exponent(self, sold: int, bought: int) -> int:
        return self.weights[sold] * WAD // self.weights[bought]

    def _amount_out(self, sold: int, bought: int, amount_in: int) -> int:
        unit_in, unit_out = self._unit(sold), self._unit(bought)
        added = amount_after_fee(amount_in, self.fee_e18) * unit_in
        balance_in, balance_out = self.balances[sold] * unit_in, self.balances[bought] * unit_out
        exponent = self._exponent(sold, bought)
        return out_given_in(balance_in, exponent, balance_out, added, multiplies=self.multiplies_powers) // unit_out

    def _max_amount_in(self, sold: int) -> int:
        """Return the greatest input of which at most 30 % of the balance remains after the fee."""
        unit = self._unit(sold)
        added = self.balances[sold] * unit * MAX_RATIO // WAD // unit
        most = div_up((added + 1) * WAD, WAD - self.fee_e18) - 1
        return min(most, MAX_BALANCE - self.balances[sold])

    def _spot_price(self, sold: int, bought: int) -> float:
        if not self.balances[sold]:
            return 0.0
        price = self.balances[bought] / self.balances[sold] * (self.weights[sold] / self.weights[bought])
        return (1.0 - self.fee_e18 / WAD) * price

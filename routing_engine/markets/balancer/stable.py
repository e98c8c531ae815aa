"""Stable, meta-stable and composable stable pools of the Balancer v2 vault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from routing_engine.amm.balancer.stable import (
    AMP_PRECISION,
    MAX_AMP,
    MIN_AMP,
    Invariant,
    greatest_balance,
    in_given_out,
    invariant,
    out_given_in,
)
from routing_engine.amm.balancer.weighted import amount_after_fee, amount_before_fee
from routing_engine.amm.integer_search import least_input
from routing_engine.curves.curve import Curve
from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.fixed_point import WAD, div_up, mul_div_up
from routing_engine.market import Limits
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.basket import BasketMarket, check_amounts, check_fee_e18
from routing_engine.markets.common.codecs import BigInt
from routing_engine.markets.common.record import require
from routing_engine.markets.common.state import advance
from routing_engine.markets.stableswap.float_curve import build_stable_curve, build_stable_params, marginal_price
from routing_engine.model import Fee, Hop, Token

MAX_TOKENS = 5
MAX_BALANCE = 2**112 - 1
"""The vault stores balances as uint112."""

MAX_SCALE = 10**60

SLACK = 16
"""Units of 18 decimals by which rounding of the invariant may favour a tiny trade."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BalancerStablePool(BasketMarket):
    """A Balancer v2 pool of tokens of like value, some perhaps with a rate that grows.

    A composable pool's own token is not among these: joins and exits by swaps are left out.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    tokens : tuple of Token
        In the order of the contract.
    balances : tuple of int
        Smallest units, as the vault has them.
    scales : tuple of int
        What brings a balance to 18 decimals and applies its rate, itself with 18 decimals: ``getScalingFactors``.
    amp : int
        Amplification times 1000: ``getAmplificationParameter``.
    fee_e18 : int
        Share of the input that stays in the pool, 18 decimals.
    invariant : Invariant
        Which version of the library the pool has.
    gas : int
        Gas units of one swap.

    Raises
    ------
    InvalidMarket
        If tokens, balances, scales, amplification or fee are impossible.
    """

    kind: ClassVar[str] = "balancer_stable"
    has_depth: ClassVar[bool] = True

    id: str
    protocol: str
    tokens: tuple[Token, ...]
    balances: tuple[int, ...]
    scales: tuple[int, ...]
    amp: int
    fee_e18: BigInt
    invariant: Invariant
    gas: int = 130_000

    def __post_init__(self) -> None:
        self.check_tokens(MAX_TOKENS)
        check_amounts("balances", self.balances, len(self.tokens), 0, MAX_BALANCE)
        check_amounts("scales", self.scales, len(self.tokens), 1, MAX_SCALE)
        within = MIN_AMP <= self.amp <= MAX_AMP
        require(within, "amp", f"must be from {MIN_AMP} to {MAX_AMP}, the amplification times {AMP_PRECISION}")
        check_fee_e18(self.fee_e18)

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        sold, bought = self.find_places(token_in, token_out)
        most = self._max_amount_in(sold)
        if amount_in > most:
            detail = f"at most {most}: a uint112 in the vault, and products of 256 bits"
            self.refuse(Refusal.AMOUNT_TOO_HIGH, detail)
        amount_out = self._pay(sold, bought, amount_after_fee(amount_in, self.fee_e18)) if amount_in > 0 else 0
        if amount_out <= 0:
            self.refuse_low(amount_in)
        fees = (Fee(amount=mul_div_up(amount_in, self.fee_e18, WAD), token=token_in, name="lp_fee"),)
        price = self.spot_price(token_in, token_out)
        hop = self.make_hop(token_in, token_out, amount_in, amount_out, gas=self.gas, spot_price=price, fees=fees)
        return hop, advance(self, balances=self.move_balances(sold, amount_in, bought, amount_out))

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Search the input, from a guess by the float64 formula; see `BaseMarket`."""
        sold, bought = self.find_places(token_in, token_out)
        balances, wanted = self._scale_balances(), div_up(amount_out * self.scales[bought], WAD)
        if wanted >= balances[bought]:
            return None
        most = amount_after_fee(self._max_amount_in(sold), self.fee_e18)
        try:
            gives = self._make_quote(sold, bought)
            added = least_input(gives, wanted, self._guess(sold, bought, wanted, most), most)
        except ValueError:
            return None
        return None if added is None else amount_before_fee(added, self.fee_e18)

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that buys one unit to the capacity of the vault; minimum above maximum when closed."""
        sold, _ = self.find_places(token_in, token_out)
        least = self.least_input(token_in, token_out, 1)
        return Limits(least, self._max_amount_in(sold)) if least else CLOSED

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. 0 for a pool with an empty side."""
        params = self._params(*self.find_places(token_in, token_out))
        return marginal_price(params) if params else 0.0

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """Return the StableSwap formula.

        Raises
        ------
        QuoteRefused
            If a side of the pool is empty, so that it has no price.
        """
        sold, bought = self.find_places(token_in, token_out)
        params = self._params(sold, bought)
        if params is None:
            self.refuse(Refusal.INSUFFICIENT_LIQUIDITY, "a side is empty, or there is no invariant")
        curve = build_stable_curve(params, x_max=float(self._max_amount_in(sold)), gas=float(self.gas))
        # The invariant is rounded to whole units, so the least input may lie a few units below the formula's.
        return replace(curve, x_min=max(1.0, curve.inverse(1.0 - SLACK * WAD / self.scales[bought])))

    def _scale_balances(self) -> tuple[int, ...]:
        return tuple(balance * scale // WAD for balance, scale in zip(self.balances, self.scales, strict=True))

    def _pay(self, sold: int, bought: int, added: int) -> int:
        """Return the output for an input after the fee, both in smallest units; 0 or less if it buys nothing."""
        try:
            return self._make_quote(sold, bought)(added) * WAD // self.scales[bought]
        except ValueError as error:
            raise QuoteRefused(Refusal.INSUFFICIENT_LIQUIDITY, self.id, str(error)) from error

    def _make_quote(self, sold: int, bought: int) -> Callable[[int], int]:
        """Return the function from an input after the fee, in smallest units, to the output in 18 decimals."""
        balances, scale = self._scale_balances(), self.scales[sold]
        d = invariant(self.amp, balances, self.invariant)
        return lambda added: out_given_in(self.amp, balances, sold, bought, added * scale // WAD, d)

    def _guess(self, sold: int, bought: int, wanted: int, most: int) -> int:
        """Return about the input, after the fee, that buys `wanted`; `most` where the pool would not say."""
        balances = self._scale_balances()
        d = invariant(self.amp, balances, self.invariant)
        try:
            asked = in_given_out(self.amp, balances, sold, bought, wanted, d)
            # What the pool asks is rounded up generously; take back what that would buy.
            surplus = out_given_in(self.amp, balances, sold, bought, asked, d) - wanted
        except ValueError:
            return most
        return (asked - surplus * asked // wanted) * WAD // self.scales[sold]

    def _max_amount_in(self, sold: int) -> int:
        """Return the greatest input with which no product of the library exceeds 256 bits, and no balance 112."""
        safe = greatest_balance(self._scale_balances()) * WAD // self.scales[sold]
        return max(0, min(MAX_BALANCE, safe) - self.balances[sold])

    def _params(self, sold: int, bought: int) -> list[float] | None:
        balances = self._scale_balances()
        try:
            d = invariant(self.amp, balances, self.invariant)
        except ValueError:
            return None
        scales = (1.0 - self.fee_e18 / WAD) * (self.scales[sold] / WAD), WAD / self.scales[bought]
        return build_stable_params(balances, sold, bought, d, (self.amp * len(balances), AMP_PRECISION), scales)

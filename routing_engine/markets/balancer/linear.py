"""Linear pools of the Balancer v2 vault: a token, its yield-bearing wrapper, and the pool's own share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from routing_engine.amm.balancer.linear import Reserves, Targets, fees_due
from routing_engine.amm.integer_search import least_input
from routing_engine.curves.curve import X0, Y0, A, Curve
from routing_engine.errors import Refusal
from routing_engine.fixed_point import WAD, div_up
from routing_engine.market import Limits
from routing_engine.markets.balancer.linear_curve import FORMULAS, MAIN, SHARE, WRAPPED, build_linear_pieces
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.basket import BasketMarket, check_amounts, check_fee_e18
from routing_engine.markets.common.codecs import BigInt
from routing_engine.markets.common.record import require
from routing_engine.markets.common.state import advance
from routing_engine.model import Fee, Hop, Token

PREMINTED = 2**112 - 1
"""All shares that will ever be: the vault holds those that are not in circulation. Balances are bound by it, too."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BalancerLinearPool(BasketMarket):
    """A Balancer v2 linear pool.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    tokens : tuple of Token
        Main, wrapped, and the pool's own.
    balances : tuple of int
        Smallest units in the vault, of main and wrapped, and the shares in circulation: ``getVirtualSupply``.
    rate_e18 : int
        Main tokens that a wrapped one is worth, 18 decimals: ``getWrappedTokenRate``.
    lower_target, upper_target : int
        Range of the main balance without fees, in 18 decimals: ``getTargets``.
    fee_e18 : int
        Share of what moves the main balance away from the targets, 18 decimals.
    gas : int
        Gas units of one swap.

    Raises
    ------
    InvalidMarket
        If tokens, balances, rate, targets or fee are impossible.
    """

    kind: ClassVar[str] = "balancer_linear"

    id: str
    protocol: str
    tokens: tuple[Token, ...]
    balances: tuple[int, ...]
    rate_e18: BigInt
    lower_target: BigInt
    upper_target: BigInt
    fee_e18: BigInt
    gas: int = 130_000

    def __post_init__(self) -> None:
        self.check_tokens(3)
        require(len(self.tokens) == 3, "tokens", "must be three: main, wrapped, and the pool's own")
        require(all(0 <= token.decimals <= 18 for token in self.tokens), "tokens", "must have at most 18 decimals")
        check_amounts("balances", self.balances, 3, 0, PREMINTED)
        require(0 < self.rate_e18 <= 10**36, "rate_e18", "must be positive, with 18 decimals")
        require(0 <= self.lower_target <= self.upper_target, "lower_target", "must be from 0 to upper_target")
        check_fee_e18(self.fee_e18)

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        sold, bought = self.find_places(token_in, token_out)
        amount_out = self._quote(sold, bought, amount_in) if amount_in > 0 else 0
        if amount_out is None:
            self.refuse(Refusal.INSUFFICIENT_LIQUIDITY, f"cannot take {amount_in}")
        if amount_out <= 0:
            self.refuse_low(amount_in)
        after = self._advance(sold, bought, amount_in, amount_out)
        hop = self.make_hop(
            token_in,
            token_out,
            amount_in,
            amount_out,
            fees=self._fees(after),
            gas=self.gas,
            spot_price=self.spot_price(token_in, token_out),
        )
        return hop, after

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Search the input, from a guess by the float64 formula; see `BaseMarket`."""
        sold, bought = self.find_places(token_in, token_out)
        enough = PREMINTED + 1

        def gives(amount_in: int) -> int:
            found = self._quote(sold, bought, amount_in)
            return enough if found is None else found

        if not self._is_live or amount_out > PREMINTED:
            return None
        found = least_input(gives, amount_out, self._guess(sold, bought, amount_out), self._find_capacity(sold))
        return found if found and self._quote(sold, bought, found) is not None else None

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the least input that buys one unit to what exhausts the other side; minimum above it when closed."""
        sold, bought = self.find_places(token_in, token_out)
        least = self.least_input(token_in, token_out, 1)
        return Limits(least, self._max_amount_in(sold, bought)) if least else CLOSED

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price, with the fee or its reverse; see `Market`. 0 for a closed pool."""
        sold, bought = self.find_places(token_in, token_out)
        if not self._is_live:
            return 0.0
        return float(build_linear_pieces(self._held, self._targets, sold, bought)[0, A] * self._ratio(sold, bought))

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """Straight pieces: below, between and above the targets.

        Raises
        ------
        QuoteRefused
            If the pool is closed, so that it has no price.
        """
        sold, bought = self.find_places(token_in, token_out)
        if not self._is_live:
            self.refuse(Refusal.INSUFFICIENT_LIQUIDITY, "no shares, or more fees due than main tokens")
        pieces = build_linear_pieces(self._held, self._targets, sold, bought)
        pieces[:, X0] *= WAD / self._scale(sold)
        pieces[:, Y0] *= WAD / self._scale(bought)
        pieces[:, A] *= self._ratio(sold, bought)
        most = float(self._max_amount_in(sold, bought))
        curve = Curve(pieces=pieces[pieces[:, X0] <= most], x_max=most, gas=float(self.gas))
        return replace(curve, x_min=min(1.0, most))

    @property
    def _targets(self) -> Targets:
        return Targets(self.fee_e18, self.lower_target, self.upper_target)

    @property
    def _held(self) -> Reserves:
        main, wrapped = (self.balances[place] * self._scale(place) // WAD for place in (MAIN, WRAPPED))
        return Reserves(main, wrapped, self.balances[SHARE])

    @property
    def _is_live(self) -> bool:
        """Whether shares are out and the fees due do not exceed the main balance."""
        return self.balances[SHARE] > 0 and self._held.main >= self._due()

    def _scale(self, place: int) -> int:
        """Bring to 18 decimals and apply the rate: ``_scalingFactors``."""
        return int(10 ** (18 - self.tokens[place].decimals)) * (self.rate_e18 if place == WRAPPED else WAD)

    def _ratio(self, sold: int, bought: int) -> float:
        return self._scale(sold) / self._scale(bought)

    def _find_capacity(self, place: int) -> int:
        """Return how much the vault can take of a token: shares that are out, or what is left of a uint112."""
        return self.balances[SHARE] if place == SHARE else PREMINTED - self.balances[place]

    def _quote(self, sold: int, bought: int, amount_in: int) -> int | None:
        """Return the output for an input, or None where the pool or the vault has too little."""
        if amount_in > self._find_capacity(sold) or not self._is_live:
            return None
        try:
            paid = FORMULAS[sold, bought](amount_in * self._scale(sold) // WAD, self._held, self._targets)
        except ValueError:
            return None
        amount_out = paid * WAD // self._scale(bought)
        return amount_out if amount_out <= self._find_available(bought) else None

    def _max_amount_in(self, sold: int, bought: int) -> int:
        """Return the input before the first that the pool or the vault cannot serve."""
        held = self._held
        guess = self._guess(sold, bought, self._find_available(bought))
        if bought == MAIN:
            # The last main tokens are there for fees, so the nominal balance ends first.
            nominal = held.main - self._due()
            share_price = (nominal + held.wrapped) / held.supply if sold == SHARE else 1.0
            guess = int(nominal / share_price * WAD / self._scale(sold))
        first = least_input(
            lambda given: self._quote(sold, bought, given) is None, True, guess, self._find_capacity(sold)
        )
        return self._find_capacity(sold) if first is None else first - 1

    def _find_available(self, place: int) -> int:
        """Return how much of a token the vault can give."""
        return PREMINTED - self.balances[SHARE] if place == SHARE else self.balances[place]

    def _guess(self, sold: int, bought: int, amount_out: int) -> int:
        """Return about the input for an output, within a pool's means or beyond."""
        curve = Curve(pieces=build_linear_pieces(self._held, self._targets, sold, bought))
        return int(curve.inverse(amount_out * self._scale(bought) / WAD) * WAD / self._scale(sold))

    def _fees(self, after: Self) -> tuple[Fee, ...]:
        """Itemise what this swap adds to the fees that are due, if it adds to them."""
        charged = after._due() - self._due()
        amount = div_up(charged * WAD, self._scale(MAIN))
        return (Fee(amount=amount, token=self.tokens[MAIN], name="lp_fee"),) if charged > 0 else ()

    def _due(self) -> int:
        return fees_due(self._held.main, self._targets)

    def _advance(self, sold: int, bought: int, amount_in: int, amount_out: int) -> Self:
        """Return the pool after a swap; shares that are sold go out of circulation, and the other way round."""
        come, gone = -amount_in if sold == SHARE else amount_in, -amount_out if bought == SHARE else amount_out
        return advance(self, balances=self.move_balances(sold, come, bought, gone))

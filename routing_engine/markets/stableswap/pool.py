"""StableSwap pools: Curve's plain pools, lending pools, metapools and NG pools, Saddle's and Connext's."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations
from typing import ClassVar, Self

from routing_engine.amm.stableswap import FEE_SCALE, MAX_COINS, UINT256, Product, Rules
from routing_engine.curves.curve import Curve
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.fixed_point import WAD
from routing_engine.market import Limits
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.basket import BasketMarket, check_amounts
from routing_engine.markets.common.closed import CLOSED_CURVE
from routing_engine.markets.common.state import advance
from routing_engine.markets.stableswap.curve import build_curve, find_price
from routing_engine.markets.stableswap.direction import Sale, StableDirection
from routing_engine.model import Fee, Hop, Token


class Accounting(StrEnum):
    """How an exchange writes its two balances."""

    AMOUNTS = "amounts"
    """The input is added; the output and the protocol's fee are taken off."""
    INVARIANT = "invariant"
    """The invariant's new balances are converted back through the rates: the first lending pools, rETH, aETH."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StableSwapPool(BasketMarket):
    """A pool of coins that are worth about the same, or whose rates say what they are worth.

    ``exchange`` of Curve's pools and ``swap`` of Saddle's ``SwapUtils`` are reproduced to the unit, given the rates and
    the coefficient of the moment. Rates that contracts read from elsewhere (lending, oracles, a base pool's virtual
    price) and a coefficient on its way to another value are those of the snapshot.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    tokens : tuple of Token
        2 to 8, in the order of the contract.
    balances : tuple of int
        As the contract counts them: without the protocol's fees.
    rates : tuple of int
        Units of the invariant for 1e18 smallest units of each token: ``10**(36 - decimals)``, times a coin's own rate.
        One whole token at par is 1e18 such units.
    amp, amp_precision : int
        ``A_precise`` and the factor in it, 100; for the oldest pools ``A`` and 1.
    product : Product
        Rounding of the contract's D.
    fee_e10, admin_fee_e10 : int
        Fee on the output, and the protocol's share of it, in 1e-10.
    multiplier_e10 : int
        ``offpeg_fee_multiplier`` of NG; at most 1e10 where the fee does not grow away from balance.
    spare : int
        Units of the invariant that stay behind for rounding: 1; 0 in the first lending pools.
    oracle : bool
        Whether a swap computes prices for an oracle, and reverts where that overflows: NG.
    accounting : Accounting
        How balances change.
    gas : int
        Gas units of one swap.

    Raises
    ------
    InvalidMarket
        If a field is impossible.
    """

    kind: ClassVar[str] = "stableswap"
    has_depth: ClassVar[bool] = True

    id: str
    protocol: str
    tokens: tuple[Token, ...]
    balances: tuple[int, ...]
    rates: tuple[int, ...]
    amp: int
    amp_precision: int = 100
    fee_e10: int
    admin_fee_e10: int = 0
    multiplier_e10: int = 0
    spare: int = 1
    gas: int = 150_000
    product: Product = Product.EACH
    oracle: bool = False
    accounting: Accounting = Accounting.AMOUNTS

    def __post_init__(self) -> None:
        self.check_tokens(MAX_COINS)
        count = len(self.tokens)
        check_amounts("balances", self.balances, count, 0, UINT256)
        check_amounts("rates", self.rates, count, 1, UINT256)
        for field, low, high in (
            ("amp_precision", 1, 100),
            ("amp", self.amp_precision, UINT256),
            ("fee_e10", 0, FEE_SCALE - 1),
            ("admin_fee_e10", 0, FEE_SCALE),
            ("multiplier_e10", 0, FEE_SCALE * FEE_SCALE),
            ("spare", 0, 1),
        ):
            if not low <= getattr(self, field) <= high:
                raise InvalidMarket(field, f"must be from {low} to {high}, not {getattr(self, field)}")
        if self.fee_e10 * self.multiplier_e10 >= FEE_SCALE * FEE_SCALE:
            raise InvalidMarket("multiplier_e10", "raises the fee to the whole output; give offpeg_fee_multiplier")

    @property
    def rules(self) -> Rules:
        """What the mathematics depends on, beside balances and rates."""
        return Rules(
            amp=self.amp,
            amp_precision=self.amp_precision,
            product=self.product,
            fee=self.fee_e10,
            admin_fee=self.admin_fee_e10,
            multiplier=self.multiplier_e10,
            spare=self.spare,
            oracle=self.oracle,
        )

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Every ordered pair, without those in which no unit can be bought."""
        return tuple(edge for edge in permutations(self.tokens, 2) if self._is_open(*edge))

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        direction = self._direction(token_in, token_out)
        if amount_in <= 0:
            self.refuse_low(amount_in)
        if direction is None:
            self.refuse(Refusal.INSUFFICIENT_LIQUIDITY, "the present balances have no invariant")
        try:
            sale = direction.sell(amount_in)
        except ArithmeticError as error:
            reason = Refusal.INSUFFICIENT_LIQUIDITY if amount_in <= direction.most else Refusal.AMOUNT_TOO_HIGH
            raise QuoteRefused(reason, self.id, f"the contract reverts: {error}") from error
        if sale.amount_out <= 0:
            self.refuse_low(amount_in)
        hop = self.make_hop(
            token_in,
            token_out,
            amount_in,
            sale.amount_out,
            fees=(
                Fee(amount=sale.lp_fee, token=token_out, name="lp_fee"),
                Fee(amount=sale.protocol_fee, token=token_out, name="protocol_fee"),
            ),
            gas=self.gas,
            spot_price=find_price(direction),
        )
        return hop, self._advance(direction, amount_in, sale)

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Invert exactly; see `BaseMarket`."""
        direction = self._direction(token_in, token_out)
        return direction.least(amount_out) if direction is not None else None

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From what buys one unit to what the contract's integers hold, or to where a growing fee takes what is added.

        These are for searches: what buys no more than less of it would, `swap_exact_in` still sells as the contract.
        """
        direction = self._direction(token_in, token_out)
        least = direction.least(1) if direction is not None else None
        return CLOSED if direction is None or least is None else Limits(least, direction.most)

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. 0 where a coin has run out."""
        direction = self._direction(token_in, token_out)
        return find_price(direction) if direction is not None else 0.0

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """StableSwap's formula; with a fee that grows, the formula less that fee, which is not concave."""
        direction = self._direction(token_in, token_out)
        return build_curve(direction, float(self.gas)) if direction is not None else CLOSED_CURVE

    def _direction(self, token_in: Token, token_out: Token) -> StableDirection | None:
        i, j = self.find_places(token_in, token_out)
        try:
            return StableDirection(self.balances, self.rates, self.rules, i, j)
        except ArithmeticError:
            return None

    def _is_open(self, token_in: Token, token_out: Token) -> bool:
        direction = self._direction(token_in, token_out)
        return direction is not None and direction.gives(direction.most) > 0

    def _advance(self, direction: StableDirection, amount_in: int, sale: Sale) -> Self:
        i, j, traded = direction.i, direction.j, sale.traded
        if self.accounting is Accounting.AMOUNTS:
            return advance(self, balances=self.move_balances(i, amount_in, j, sale.amount_out + sale.protocol_fee))
        kept, balances = traded.fee - traded.fee * self.admin_fee_e10 // FEE_SCALE, list(self.balances)
        balances[i], balances[j] = traded.x * WAD // self.rates[i], (traded.y + kept) * WAD // self.rates[j]
        return advance(self, balances=tuple(balances))

"""Curve's crypto pools: two or three coins of any prices, with liquidity that the pool moves towards its oracle."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, NoReturn, Self

from routing_engine.amm.cryptoswap.exchange import (
    CryptoRules,
    Exchanged,
    Method,
    Profit,
    require_profit,
    scaled,
    settle,
)
from routing_engine.amm.integer_search import least_input
from routing_engine.amm.stableswap import FEE_SCALE, UINT256
from routing_engine.curves.curve import Curve
from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.market import Limits
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.basket import BasketMarket, check_amounts
from routing_engine.markets.common.closed import CLOSED_CURVE
from routing_engine.markets.common.codecs import BigInt, Codec, Tokens
from routing_engine.markets.common.record import Record, read, read_ints
from routing_engine.markets.common.state import advance
from routing_engine.markets.cryptoswap.direction import CryptoDirection
from routing_engine.model import Fee, Hop, Token


def _put_profit(record: dict[str, Any], _: str, profit: Profit | None) -> None:
    record["price_oracle"] = [str(price) for price in profit.price_oracle] if profit else None
    record["profit"] = [str(number) for number in profit[1:]] if profit else None


def _read_profit(record: Record, _: str, __: Tokens) -> Profit | None:
    if read(record, "profit") is None:
        return None
    numbers = read_ints(record, "profit")
    if len(numbers) != len(Profit._fields) - 1:
        raise InvalidMarket("profit", f"must be {', '.join(Profit._fields[1:])}")
    return Profit(read_ints(record, "price_oracle"), *numbers)


PROFIT = Codec(_put_profit, _read_profit)
"""The oracle's prices and the profits stand in the record side by side, both null where they are not known."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class CryptoSwapPool(BasketMarket):
    """A tricrypto or twocrypto pool of Curve, NG or older.

    ``exchange`` is reproduced to the unit. After it the pool may move its prices (``tweak_price``): that is exact too
    where `profit` is known, for swaps of the snapshot's moment; without it the pool after a swap refuses further ones.
    The contract's own mathematics are rounded to a few of the smallest units, not always in the same direction: the
    output may fall by as much when the input grows, and an input smaller by as much than `swap_exact_out` finds may do.
    Swaps that would not make the pool a profit are refused, as the contract refuses them. Without `profit` those that
    raise the value of a share by less than two parts in 1e18 are refused too: the contract might.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    tokens : tuple of Token
        Two or three, in the order of the contract.
    balances : tuple of int
        Smallest units.
    price_scale : tuple of int
        Prices around which liquidity lies, of every coin but the first, in units of that, with 18 decimals.
    d : int
        ``D``; A and gamma must not be changing, or D be the one that goes with them.
    ann, gamma : int
        ``A()`` of NG pools (A * N**N * 10000) and ``gamma()``.
    mid_fee, out_fee, fee_gamma : int
        Fee in 1e-10 in balance, far from it, and how fast it goes from one to the other (1e-18).
    method : Method
        Which generation's mathematics.
    profit : Profit or None
        What moves prices: the oracle's prices as ``price_oracle`` answers at the snapshot's moment, and the profits.
    settled : bool
        False after a swap whose effect on prices is not known.
    gas : int
        Gas units of one swap.

    Raises
    ------
    InvalidMarket
        If a field is impossible.
    """

    kind: ClassVar[str] = "cryptoswap"
    has_depth: ClassVar[bool] = True

    id: str
    protocol: str
    tokens: tuple[Token, ...]
    balances: tuple[int, ...]
    price_scale: tuple[int, ...]
    d: BigInt
    ann: BigInt
    gamma: BigInt
    mid_fee: BigInt
    out_fee: BigInt
    fee_gamma: BigInt
    method: Method = Method.CLOSED_FORM
    profit: Annotated[Profit | None, PROFIT] = None
    settled: bool = True
    gas: int = 250_000

    def __post_init__(self) -> None:
        self.check_tokens(3)
        count = len(self.tokens)
        check_amounts("balances", self.balances, count, 0, UINT256)
        check_amounts("price_scale", self.price_scale, count - 1, 1, UINT256)
        if any(token.decimals > 18 for token in self.tokens):
            raise InvalidMarket("tokens", "have more than 18 decimals; the contract takes no such token")
        if self.method is Method.STABLE and count != 2:
            raise InvalidMarket("method", "is StableSwap's, which these pools have for two coins only")
        if not 0 <= self.mid_fee <= self.out_fee < FEE_SCALE:
            raise InvalidMarket("out_fee", f"must be at least mid_fee and below {FEE_SCALE}, in 1e-10")
        for field in ("d", "ann", "gamma"):
            if getattr(self, field) < 1:
                raise InvalidMarket(field, "must be positive")
        if self.fee_gamma < 0:
            raise InvalidMarket("fee_gamma", "must not be negative")
        self._check_profit(count)

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        direction = self._direction(token_in, token_out)
        if direction is None:
            self._refuse_closed()
        if amount_in <= 0:
            self.refuse_low(amount_in)
        try:
            sold = direction.sell(amount_in)
            if sold.amount_out <= 0:
                self.refuse_low(amount_in)
            after = self._advance(direction, amount_in, sold)
        except ArithmeticError as error:
            reason = Refusal.INSUFFICIENT_LIQUIDITY if amount_in <= direction.most else Refusal.AMOUNT_TOO_HIGH
            raise QuoteRefused(reason, self.id, f"the contract reverts: {error}") from error
        fees = (Fee(amount=sold.fee, token=token_out, name="lp_fee"),)
        price = direction.spot_price()
        hop = self.make_hop(token_in, token_out, amount_in, sold.amount_out, gas=self.gas, spot_price=price, fees=fees)
        return hop, after

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Invert exactly; see `BaseMarket`."""
        direction = self._direction(token_in, token_out)
        if direction is None or amount_out >= self.balances[direction.j]:
            return None
        least = direction.least(amount_out)
        if least is None:
            return None

        return least_input(partial(self._serves, direction, amount_out), True, least, max(least, direction.smallest()))

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From what makes the pool a certain profit to what leaves a fiftieth of D in the output's balance.

        These are for searches: there the contract's rounding is no part of a trade that its curve would have to follow.
        What the contract serves beyond them, `swap_exact_in` gives.
        """
        direction = self._direction(token_in, token_out)
        if direction is None or direction.most == 0:
            return CLOSED
        return Limits(direction.smallest(), direction.most)

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. 0 where the pool takes no swap."""
        direction = self._direction(token_in, token_out)
        return direction.spot_price() if direction is not None else 0.0

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """Return the invariant's curve less the fee, which shrinks towards balance: not concave."""
        direction = self._direction(token_in, token_out)
        return direction.curve(float(self.gas)) if direction is not None else CLOSED_CURVE

    def _check_profit(self, count: int) -> None:
        if self.profit is None:
            return
        if self.method is not Method.CLOSED_FORM:
            raise InvalidMarket("profit", "must be left out: how these pools move their prices is not known here")
        check_amounts("price_oracle", self.profit.price_oracle, count - 1, 1, UINT256)
        if min(self.profit.virtual_price, self.profit.supply) < 1 or min(self.profit[1:]) < 0:
            raise InvalidMarket("profit", "must not be negative, the virtual price and the supply positive")

    def _direction(self, token_in: Token, token_out: Token) -> CryptoDirection | None:
        i, j = self.find_places(token_in, token_out)
        if not self.settled:
            return None
        rules = CryptoRules(self.method, self.ann, self.gamma, self.mid_fee, self.out_fee, self.fee_gamma)
        precisions = [10 ** (18 - token.decimals) for token in self.tokens]
        try:
            return CryptoDirection(self.balances, precisions, self.price_scale, self.d, rules, i, j)
        except ArithmeticError:
            return None

    def _refuse_closed(self) -> NoReturn:
        if self.settled:
            self.refuse(Refusal.INSUFFICIENT_LIQUIDITY, "the pool is too far from balance")
        self.refuse(Refusal.STALE, "its prices after a swap are not known; load a newer state")

    def _serves(self, direction: CryptoDirection, wanted: int, amount_in: int) -> bool:
        """Tell whether `amount_in` buys at least `wanted` here."""
        try:
            sold = direction.sell(amount_in)
            if sold.amount_out >= wanted:
                self._advance(direction, amount_in, sold)
                return True
        except ArithmeticError:
            pass
        return False

    def _advance(self, direction: CryptoDirection, amount_in: int, sold: Exchanged) -> Self:
        balances = self.move_balances(direction.i, amount_in, direction.j, sold.amount_out)
        xs = scaled(balances, direction.precisions, self.price_scale)
        if self.profit is None:
            if not direction.smallest() <= amount_in <= direction.most:
                require_profit(xs, sold.k0, self.price_scale, self.d, direction.rules)
            return advance(self, balances=balances, settled=False)
        done = settle(xs, sold.k0, self.price_scale, direction.rules, self.profit)
        return advance(self, balances=balances, price_scale=done.price_scale, d=done.d, profit=done.profit)

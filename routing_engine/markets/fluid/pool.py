"""Fluid DEX v1 pools, in which collateral and debt of Fluid's Liquidity layer serve swaps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Self, TypeAlias

import numpy as np

from routing_engine.amm.fluid import Breach, Reserves, Split, adjust, move, unadjust
from routing_engine.curves.curve import A, B, Curve
from routing_engine.errors import Refusal
from routing_engine.fixed_point import PIPS, mul_div_up
from routing_engine.market import Limits
from routing_engine.markets.common.base import CLOSED
from routing_engine.markets.common.closed import CLOSED_PIECES
from routing_engine.markets.common.codecs import BigInt, make_joint_codec
from routing_engine.markets.common.pair import PairMarket, check_fee
from routing_engine.markets.common.record import require
from routing_engine.markets.common.state import advance
from routing_engine.markets.fluid.direction import FluidDirection
from routing_engine.model import Fee, Hop, Token

Quad: TypeAlias = tuple[int, int, int, int]
Pair: TypeAlias = tuple[int, int]

OFF: Quad = (0, 0, 0, 0)
"""A pool that is switched off."""

CURVE_SLACK = 2.0**-32
POOLS = ("of the collateral pool", "of the debt pool")
SOURCES = ("what can be withdrawn", "what can be borrowed")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FluidPool(PairMarket):
    """A pool of Fluid DEX v1 (T1).

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    token0, token1 : Token
        In the order of the contract: by address, the native coin's being `NATIVE_ADDRESS`.
    fee_pips : int
        Share of the input that is kept.
    center_price : int
        Adjusted units of token 1 per token 0, times 1e27.
    collateral, debt : tuple of int
        Real reserves of token 0 and 1, imaginary reserves of token 0 and 1, in 12 decimals: ``getCollateralReserves``
        and ``getDebtReserves``. All zero where switched off.
    withdrawable, borrowable : tuple of int
        What Liquidity gives out of token 0 and 1 at this moment, in smallest units; a swap takes what the collateral
        pool sells from the first, what the debt pool sells from the second.
    gas : int
        Gas units of one swap.

    Raises
    ------
    InvalidMarket
        If tokens, fee, price, reserves or limits are impossible.
    """

    kind: ClassVar[str] = "fluid"
    has_depth: ClassVar[bool] = True

    id: str
    protocol: str
    token0: Token
    token1: Token
    fee_pips: int
    center_price: BigInt
    collateral: Annotated[Quad, make_joint_codec("reserves", 0, 4, POOLS)]
    debt: Annotated[Quad, make_joint_codec("reserves", 1, 4, POOLS)]
    withdrawable: Annotated[Pair, make_joint_codec("limits", 0, 2, SOURCES)]
    borrowable: Annotated[Pair, make_joint_codec("limits", 1, 2, SOURCES)]
    gas: int = 155_000

    def __post_init__(self) -> None:
        self.check_pair()
        check_fee(self.fee_pips)
        require(0 < self.center_price < 2**128, "center_price", "must be from 1 to 2**128 - 1, a price times 1e27")
        for field, reserves in (("collateral", self.collateral), ("debt", self.debt)):
            require(all(0 <= each < 2**128 for each in reserves), field, "reserves must be from 0 to 2**128 - 1")
            real, imaginary = reserves[:2], reserves[2:]
            fits = (min(imaginary) > 0 or reserves == OFF) and real[0] <= imaginary[0] and real[1] <= imaginary[1]
            require(fits, field, "imaginary reserves must be positive and at least the real ones, or all four zero")
        for field, limits in (("withdrawable", self.withdrawable), ("borrowable", self.borrowable)):
            require(min(limits) >= 0, field, "limits must be 0 or more, in smallest units")

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Both directions, without those in which nothing can be taken out."""
        both = ((self.token0, self.token1), (self.token1, self.token0))
        return tuple(edge for edge in both if self._direction(*edge).least() is not None)

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Sell exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        way = self._direction(token_in, token_out)
        if amount_in <= 0:
            self.refuse_low(amount_in)
        split = way.split(amount_in)
        amount_out, breach = way.paid(split), way.breach(amount_in, split)
        if breach is not None and breach is not Breach.TOO_LITTLE:
            self.refuse(Refusal.INSUFFICIENT_LIQUIDITY, str(breach))
        if breach is not None or amount_out == 0:
            self.refuse_low(amount_in)
        first = way.pieces()[0]
        fees = (Fee(amount=mul_div_up(amount_in, self.fee_pips, PIPS), token=token_in, name="lp_fee"),)
        price = first[A] / first[B]
        hop = self.make_hop(token_in, token_out, amount_in, amount_out, gas=self.gas, spot_price=price, fees=fees)
        return hop, self._advance(way, split)

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Invert exactly; see `BaseMarket`."""
        return self._direction(token_in, token_out).least(amount_out)

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """From the contract's minimum to the first of its checks that fails; minimum above maximum when closed."""
        way = self._direction(token_in, token_out)
        least = way.least()
        return CLOSED if least is None else Limits(least, way.most(least))

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """Marginal price after the fee; see `Market`. 0 for a pool that is switched off."""
        pieces = self._direction(token_in, token_out).pieces()
        return pieces[0][A] / pieces[0][B] if pieces else 0.0

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """One or two Möbius pieces; without any range when closed."""
        way = self._direction(token_in, token_out)
        pieces, least = np.array(way.pieces()) if way.pieces() else CLOSED_PIECES, way.least()
        if least is None:
            return Curve(pieces=pieces, x_min=1.0, x_max=0.0, gas=float(self.gas))
        most = way.most(least, CURVE_SLACK)
        return Curve(pieces=pieces, x_min=float(least), x_max=float(most), gas=float(self.gas))

    def _direction(self, token_in: Token, token_out: Token) -> FluidDirection:
        zero_for_one = self.is_zero_for_one(token_in, token_out)
        sold, bought = (0, 1) if zero_for_one else (1, 0)
        collateral, debt = (
            Reserves(row[sold], row[bought], row[2 + sold], row[2 + bought]) for row in (self.collateral, self.debt)
        )
        return FluidDirection(
            pools=(collateral, debt),
            zero_for_one=zero_for_one,
            center_price=self.center_price,
            fee_pips=self.fee_pips,
            decimals_in=token_in.decimals,
            decimals_out=token_out.decimals,
            withdrawable=adjust(self.withdrawable[bought], token_out.decimals),
            borrowable=adjust(self.borrowable[bought], token_out.decimals),
        )

    def _advance(self, way: FluidDirection, split: Split) -> Self:
        """Return the pool after a swap; limits of the token sold can only widen, and stay as they are."""
        collateral, debt = way.pools
        forward, decimals = way.zero_for_one, way.decimals_out
        return advance(
            self,
            collateral=_turn(move(collateral, split.collateral_in, split.collateral_out, self.fee_pips), forward),
            debt=_turn(move(debt, split.debt_in, split.debt_out, self.fee_pips), forward),
            withdrawable=_lower(self.withdrawable, forward, unadjust(split.collateral_out, decimals)),
            borrowable=_lower(self.borrowable, forward, unadjust(split.debt_out, decimals)),
        )


def _turn(pool: Reserves, forward: bool) -> Quad:
    return (*pool,) if forward else (pool[1], pool[0], pool[3], pool[2])


def _lower(limits: Pair, forward: bool, taken: int) -> Pair:
    return (limits[0], limits[1] - taken) if forward else (limits[0] - taken, limits[1])

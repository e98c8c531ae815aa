"""A chain's native coin and its wrapped token: one for one, both ways."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from routing_engine.curves.curve import Curve
from routing_engine.errors import Refusal
from routing_engine.market import UNLIMITED, Limits
from routing_engine.markets.common.kind import MarketKind
from routing_engine.markets.common.pair import PairMarket
from routing_engine.markets.common.record import require
from routing_engine.model import Hop, Token
from routing_engine.reference.chains import Chain


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NativeWrap(PairMarket):
    """The wrapping contract of a chain: ``WETH9.deposit`` and ``WETH9.withdraw``.

    Parameters
    ----------
    id, protocol : str
        As `Market` says.
    native, wrapped : Token
        The chain's own coin and the contract that stands for it, with the same decimals.
    gas_deposit, gas_withdraw : int
        Gas units of wrapping and of unwrapping.

    Raises
    ------
    InvalidMarket
        If `native` is a contract, or chain or decimals differ.
    """

    kind: ClassVar[str] = "wrap"
    is_wrap: ClassVar[bool] = True
    rounds_up: ClassVar[bool] = False

    id: str
    protocol: str = "wrap"
    native: Token
    wrapped: Token
    gas_deposit: int = 45_000
    gas_withdraw: int = 35_000

    @classmethod
    def of(cls, chain: Chain) -> Self:
        """Return the wrapping contract of a described chain; the token's contract is the market."""
        wrapped = chain.wrapped_native_token
        return cls(id=f"{chain.chain_id}:{wrapped.address}", native=chain.native_token, wrapped=wrapped)

    def __post_init__(self) -> None:
        self.check_pair()
        require(self.native.is_native, "native", "must be the chain's own coin, not a contract")
        require(self.native.decimals == self.wrapped.decimals, "wrapped", "must have the native coin's decimals")

    @property
    def token0(self) -> Token:
        """The native coin."""
        return self.native

    @property
    def token1(self) -> Token:
        """The wrapped token."""
        return self.wrapped

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Wrap or unwrap exactly `amount_in`; see `Market`."""
        if type(amount_in) is not int:
            self.refuse_inexact(amount_in)
        gas = self._gas(token_in, token_out)
        if amount_in <= 0:
            self.refuse_low(amount_in)
        if amount_in > UNLIMITED:
            self.refuse(Refusal.AMOUNT_TOO_HIGH, "at most 2**256 - 1")
        hop = self.make_hop(token_in, token_out, amount_in, amount_in, gas=gas, spot_price=1.0)
        return hop, self

    def least_input(self, token_in: Token, token_out: Token, amount_out: int) -> int | None:
        """Invert exactly; see `BaseMarket`."""
        self.is_zero_for_one(token_in, token_out)
        return amount_out if amount_out <= UNLIMITED else None

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """Any amount."""
        self.is_zero_for_one(token_in, token_out)
        return Limits()

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """One for one."""
        self.is_zero_for_one(token_in, token_out)
        return 1.0

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """Return the straight line y = x."""
        gas = self._gas(token_in, token_out)
        pieces = np.array([[0.0, 0.0, 1.0, 1.0, 0.0]])
        return Curve(pieces=pieces, x_min=1.0, x_max=float(UNLIMITED), gas=float(gas))

    def _gas(self, token_in: Token, token_out: Token) -> int:
        return self.gas_deposit if self.is_zero_for_one(token_in, token_out) else self.gas_withdraw


KIND = MarketKind(market=NativeWrap)

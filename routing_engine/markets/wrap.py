"""A chain's native coin and its wrapped token: one for one, both ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from routing_engine.curves.curve import Curve
from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.markets.common.pair import check_pair, is_zero_for_one, refuse_low, refuse_out
from routing_engine.markets.common.record import read_int, read_text, read_token, require
from routing_engine.model import UNLIMITED, Hop, Limits, Token
from routing_engine.reference.chains import Chain


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeWrap:
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
        require(self.native.is_native, "native", "must be the chain's own coin, not a contract")
        check_pair(self)
        require(self.native.decimals == self.wrapped.decimals, "wrapped", "must have the native coin's decimals")

    @property
    def token0(self) -> Token:
        """The native coin."""
        return self.native

    @property
    def token1(self) -> Token:
        """The wrapped token."""
        return self.wrapped

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Both tokens."""
        return (self.native, self.wrapped)

    def edges(self) -> tuple[tuple[Token, Token], ...]:
        """Both directions."""
        return ((self.native, self.wrapped), (self.wrapped, self.native))

    def swap_exact_in(self, token_in: Token, token_out: Token, amount_in: int) -> tuple[Hop, Self]:
        """Wrap or unwrap exactly `amount_in`; see `Market`."""
        gas = self._gas(token_in, token_out)
        if amount_in <= 0:
            refuse_low(self.id, amount_in)
        if amount_in > UNLIMITED:
            raise QuoteRefused(Refusal.AMOUNT_TOO_HIGH, self.id, "at most 2**256 - 1")
        hop = Hop(
            market_id=self.id,
            protocol=self.protocol,
            token_in=token_in,
            token_out=token_out,
            amount_in=amount_in,
            amount_out=amount_in,
            gas=gas,
            spot_price=1.0,
        )
        return hop, self

    def swap_exact_out(self, token_in: Token, token_out: Token, amount_out: int) -> tuple[Hop, Self]:
        """Wrap or unwrap `amount_out`; see `Market`."""
        if not 0 < amount_out <= UNLIMITED:
            refuse_out(self.id, amount_out)
        return self.swap_exact_in(token_in, token_out, amount_out)

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """Any amount."""
        is_zero_for_one(self, token_in, token_out)
        return Limits()

    def spot_price(self, token_in: Token, token_out: Token) -> float:
        """One for one."""
        is_zero_for_one(self, token_in, token_out)
        return 1.0

    def curve(self, token_in: Token, token_out: Token) -> Curve:
        """Return the straight line y = x."""
        gas = self._gas(token_in, token_out)
        pieces = np.array([[0.0, 0.0, 1.0, 1.0, 0.0]])
        return Curve(pieces=pieces, x_min=1.0, x_max=float(UNLIMITED), gas=float(gas))

    def to_record(self) -> dict[str, Any]:
        """JSON-ready state; see `Market`."""
        return {
            "kind": self.kind,
            "id": self.id,
            "protocol": self.protocol,
            "native": self.native.key,
            "wrapped": self.wrapped.key,
            "gas_deposit": self.gas_deposit,
            "gas_withdraw": self.gas_withdraw,
        }

    @classmethod
    def from_record(cls, record: Mapping[str, Any], tokens: Mapping[str, Token]) -> Self:
        """Inverse of `to_record`; see `Market`."""
        return cls(
            id=read_text(record, "id"),
            protocol=read_text(record, "protocol"),
            native=read_token(record, "native", tokens),
            wrapped=read_token(record, "wrapped", tokens),
            gas_deposit=read_int(record, "gas_deposit"),
            gas_withdraw=read_int(record, "gas_withdraw"),
        )

    def _gas(self, token_in: Token, token_out: Token) -> int:
        return self.gas_deposit if is_zero_for_one(self, token_in, token_out) else self.gas_withdraw

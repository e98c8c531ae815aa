"""What every market of two tokens on one chain needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from routing_engine.errors import InvalidMarket
from routing_engine.fixed_point import PIPS
from routing_engine.markets.common.base import BaseMarket
from routing_engine.markets.common.field_checks import check_fields
from routing_engine.model import Token


class PairMarket(BaseMarket):
    """A market of `token0` and `token1`, which are fields or properties of the kind."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def token0(self) -> Token: ...  # noqa: D102

        @property
        def token1(self) -> Token: ...  # noqa: D102

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Both tokens."""
        return (self.token0, self.token1)

    def is_zero_for_one(self, token_in: Token, token_out: Token) -> bool:
        """Tell whether `token_in` is `token0`.

        Raises
        ------
        QuoteRefused
            If the two tokens are not the pair's.
        """
        if token_in is self.token0 and token_out is self.token1:  # spares the comparison in most calls
            return True
        if token_in is self.token1 and token_out is self.token0:
            return False
        if token_in == self.token0 and token_out == self.token1:
            return True
        if token_in == self.token1 and token_out == self.token0:
            return False
        return self.refuse_pair(token_in, token_out)

    def check_pair(self) -> None:
        """Raise `InvalidMarket` unless the tokens are two different ones of one chain, and integers are such."""
        check_fields(self)
        if self.token0 == self.token1:
            raise InvalidMarket("token1", "is the same token as token0; a pair needs two")
        if self.token0.chain_id != self.token1.chain_id:
            raise InvalidMarket(
                "token1", "is on another chain than token0; a bridge lane joins chains, a pool does not"
            )


def check_fee(fee_pips: int, field: str = "fee_pips") -> None:
    """Raise `InvalidMarket` for `field` unless the fee is at least 0 and below the whole amount."""
    if not 0 <= fee_pips < PIPS:
        raise InvalidMarket(field, f"must be from 0 to {PIPS - 1} (1 pip = 1e-6), not {fee_pips}")

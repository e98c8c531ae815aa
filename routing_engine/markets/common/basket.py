"""What every pool of several tokens on one chain needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from routing_engine.errors import InvalidMarket
from routing_engine.fixed_point import WAD
from routing_engine.markets.common.base import BaseMarket
from routing_engine.markets.common.field_checks import check_fields
from routing_engine.markets.common.record import require
from routing_engine.model import Token


class BasketMarket(BaseMarket):
    """A pool in which every token may be sold for every other.

    `tokens` and `balances` are fields of the kind, in the order of the contract.
    """

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def balances(self) -> tuple[int, ...]: ...  # noqa: D102

    def find_places(self, token_in: Token, token_out: Token) -> tuple[int, int]:
        """Return where the two tokens stand.

        Raises
        ------
        QuoteRefused
            If they are not two tokens of the pool.
        """
        tokens = self.tokens
        if token_in == token_out or token_in not in tokens or token_out not in tokens:
            self.refuse_pair(token_in, token_out)
        return tokens.index(token_in), tokens.index(token_out)

    def move_balances(self, sold: int, amount_in: int, bought: int, amount_out: int) -> tuple[int, ...]:
        """Return the balances after so much of one token has come and so much of another gone."""
        balances = list(self.balances)
        balances[sold] += amount_in
        balances[bought] -= amount_out
        return tuple(balances)

    def check_tokens(self, most: int) -> None:
        """Raise `InvalidMarket` unless these are 2 to `most` different tokens of one chain, and integers are such."""
        check_fields(self)
        tokens = self.tokens
        if not 2 <= len(tokens) <= most:
            raise InvalidMarket("tokens", f"must be 2 to {most}, not {len(tokens)}")
        if len(set(tokens)) < len(tokens):
            raise InvalidMarket("tokens", "name one token twice; each may stand once")
        if len({token.chain_id for token in tokens}) > 1:
            raise InvalidMarket("tokens", "are on different chains; a bridge lane joins chains, a pool does not")


def check_amounts(field: str, amounts: Sequence[int], count: int, low: int, high: int) -> None:
    """Raise `InvalidMarket` unless there are `count` integers from `low` to `high`."""
    if len(amounts) != count:
        raise InvalidMarket(field, f"must be {count}, one for each token, not {len(amounts)}")
    if not all(low <= amount <= high for amount in amounts):
        raise InvalidMarket(field, f"must be from {low} to {high}")


def check_fee_e18(fee_e18: int) -> None:
    """Raise `InvalidMarket` unless the fee is at least 0 and below the whole amount."""
    require(0 <= fee_e18 < WAD, "fee_e18", "must be at least 0 and below 1e18, the whole amount")

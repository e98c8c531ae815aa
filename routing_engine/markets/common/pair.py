"""What every market of two tokens on one chain needs."""

from __future__ import annotations

from typing import NoReturn, Protocol

from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.fixed_point import PIPS
from routing_engine.model import Token


class Pair(Protocol):
    """A market of `token0` and `token1`."""

    @property
    def id(self) -> str:
        """As `Market.id`."""
        ...

    @property
    def token0(self) -> Token:
        """The contract's first token."""
        ...

    @property
    def token1(self) -> Token:
        """The contract's second token."""
        ...


def is_zero_for_one(pair: Pair, token_in: Token, token_out: Token) -> bool:
    """Tell whether `token_in` is the pair's `token0`.

    Raises
    ------
    QuoteRefused
        If the two tokens are not the pair's.
    """
    if token_in is pair.token0 and token_out is pair.token1:  # spares the comparison in most calls
        return True
    if token_in is pair.token1 and token_out is pair.token0:
        return False
    if token_in == pair.token0 and token_out == pair.token1:
        return True
    if token_in == pair.token1 and token_out == pair.token0:
        return False
    raise QuoteRefused(Refusal.UNSUPPORTED_PAIR, pair.id, f"{token_in} to {token_out} is not traded here")


def check_pair(pair: Pair) -> None:
    """Raise `InvalidMarket` unless the tokens are two different ones of one chain."""
    if pair.token0 == pair.token1:
        raise InvalidMarket("token1", "is the same token as token0; a pair needs two")
    if pair.token0.chain_id != pair.token1.chain_id:
        raise InvalidMarket("token1", "is on another chain than token0; a bridge lane joins chains, a pool does not")


def check_fee(fee_pips: int, field: str = "fee_pips") -> None:
    """Raise `InvalidMarket` for `field` unless the fee is at least 0 and below the whole amount."""
    if not 0 <= fee_pips < PIPS:
        raise InvalidMarket(field, f"must be from 0 to {PIPS - 1} (1 pip = 1e-6), not {fee_pips}")


def refuse_low(market_id: str, amount_in: int) -> NoReturn:
    """Raise `QuoteRefused` for an input that is not positive or buys less than one unit."""
    raise QuoteRefused(Refusal.AMOUNT_TOO_LOW, market_id, f"{amount_in} buys less than one unit")


def refuse_out(market_id: str, amount_out: int) -> NoReturn:
    """Raise `QuoteRefused` for an output that no input buys."""
    if amount_out <= 0:
        raise QuoteRefused(Refusal.AMOUNT_TOO_LOW, market_id, f"the output must be at least one unit, not {amount_out}")
    raise QuoteRefused(Refusal.INSUFFICIENT_LIQUIDITY, market_id, f"cannot give {amount_out}")

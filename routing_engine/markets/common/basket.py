"""What every pool of several tokens on one chain needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any, Protocol

from routing_engine.errors import InvalidMarket, QuoteRefused, Refusal
from routing_engine.markets.common.record import read, to_int
from routing_engine.model import Limits, Token


class Basket(Protocol):
    """A pool in which every token may be sold for every other."""

    @property
    def id(self) -> str:
        """As `Market.id`."""
        ...

    @property
    def tokens(self) -> tuple[Token, ...]:
        """In the order of the contract."""
        ...

    def limits(self, token_in: Token, token_out: Token) -> Limits:
        """As `Market.limits`; minimum above maximum for a closed direction."""
        ...


def check_tokens(tokens: Sequence[Token], most: int) -> None:
    """Raise `InvalidMarket` unless these are 2 to `most` different tokens of one chain."""
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


def indexes(basket: Basket, token_in: Token, token_out: Token) -> tuple[int, int]:
    """Return where the two tokens stand.

    Raises
    ------
    QuoteRefused
        If they are not two tokens of the pool.
    """
    tokens = basket.tokens
    if token_in == token_out or token_in not in tokens or token_out not in tokens:
        detail = f"{token_in} to {token_out} is not traded here"
        raise QuoteRefused(Refusal.UNSUPPORTED_PAIR, basket.id, detail)
    return tokens.index(token_in), tokens.index(token_out)


def pairs(tokens: Sequence[Token]) -> tuple[tuple[Token, Token], ...]:
    """Return every ordered pair."""
    return tuple(permutations(tokens, 2))


def open_pairs(basket: Basket) -> tuple[tuple[Token, Token], ...]:
    """Return every ordered pair that is not closed."""
    bounds = ((pair, basket.limits(*pair)) for pair in pairs(basket.tokens))
    return tuple(pair for pair, limits in bounds if limits.min_amount_in <= limits.max_amount_in)


def replaced(amounts: Sequence[int], changes: Mapping[int, int]) -> tuple[int, ...]:
    """Return `amounts` with those at the keys of `changes` replaced."""
    return tuple(changes.get(index, amount) for index, amount in enumerate(amounts))


def read_tokens(record: Mapping[str, Any], tokens: Mapping[str, Token]) -> tuple[Token, ...]:
    """Return the tokens whose `Token.key` stand in the list ``tokens``."""
    keys = _read_list(record, "tokens")
    for key in keys:
        if key not in tokens:
            raise InvalidMarket("tokens", f"names the token {key!r}, which is not in the list of tokens; add it there")
    return tuple(tokens[key] for key in keys)


def read_ints(record: Mapping[str, Any], field: str) -> tuple[int, ...]:
    """Return the list of integers at `field`, given as such or as digit strings."""
    return tuple(to_int(value, f"{field}.{number}") for number, value in enumerate(_read_list(record, field)))


def _read_list(record: Mapping[str, Any], field: str) -> Sequence[Any]:
    values = read(record, field)
    if not isinstance(values, list | tuple):
        raise InvalidMarket(field, f"must be a list, not {values!r}")
    return values

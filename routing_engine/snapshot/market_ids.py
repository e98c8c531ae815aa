"""Markets by their ids, of which each has one, and their tokens, of which each has one number of decimals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
from operator import is_
from typing import Any

from routing_engine.errors import InvalidMarket
from routing_engine.market import Market
from routing_engine.model import Token

TOKEN_FIELDS = [field.name for field in fields(Token)]
SHOWN = 10
"""Ids in an error."""


def map_by_id(markets: Iterable[Market]) -> dict[str, Market]:
    """Return markets by their ids.

    Raises
    ------
    InvalidMarket
        If several have one id, naming it, or what is given is no market.
    """
    if not isinstance(markets, Iterable):
        raise InvalidMarket("markets", f"must be pools and lanes in a list, not {markets!r}; or load a file")
    markets = tuple(markets)
    try:
        found = {market.id: market for market in markets}
    except AttributeError:
        wrong = next(market for market in markets if not hasattr(market, "id"))
        raise InvalidMarket("markets", f"{wrong!r} is no market; give pools and lanes, or load a file") from None
    if len(found) < len(markets):
        twice = [market_id for market_id, count in Counter(market.id for market in markets).items() if count > 1]
        shown = ", ".join(twice[:SHOWN]) + (", …" if len(twice) > SHOWN else "")
        raise InvalidMarket("markets", f"of one id stand there more than once: {shown}; give each market its own")
    return found


def replace_markets(
    markets: dict[str, Market], states: Mapping[str, Market], removed: str | Iterable[str]
) -> tuple[dict[str, Market], dict[str, Market | None], dict[str, Market]]:
    """Return markets with new states and without some; what the states replace, None for new ones; and what is gone."""
    following, ids = markets.copy(), [removed] if isinstance(removed, str) else removed
    gone = {market_id: following.pop(market_id) for market_id in ids if market_id in following}
    replaced = {market_id: following.get(market_id) for market_id in states}
    following.update(states)
    if not _has_same_tokens(states, replaced):
        check_decimals(following)
    return following, replaced, gone


def keep_tokens(
    known: Mapping[str, Any], states: Mapping[str, Market], replaced: Mapping[str, Market | None]
) -> dict[str, Any]:
    """Return what a snapshot knows of its tokens, where new states of its markets have the same; else nothing.

    A table of the tokens of 20,000 pools takes 50 ms, and blocks change prices, not tokens.
    """
    if "tokens" not in known:
        return {}
    return {"tokens": known["tokens"]} if _has_same_tokens(states, replaced) else {}


def _is_alike(one: Token, other: Token) -> bool:
    """Whether a token is another one in all that is said of it; tokens are equal by their address."""
    return one is other or all(getattr(one, name) == getattr(other, name) for name in TOKEN_FIELDS)


def check_decimals(markets: dict[str, Market]) -> dict[str, Market]:
    """Return markets as they are; refuse those that do not agree on a token's decimals: an amount would mean two.

    Raises
    ------
    InvalidMarket
        Naming the market and the token.
    """
    first: dict[Token, Token] = {}
    seen: set[int] = set()
    for market in markets.values():
        for token in getattr(market, "tokens", ()):  # what is no whole market is refused by the graph
            if id(token) in seen:  # most are shared
                continue
            seen.add(id(token))
            known = first.setdefault(token, token)
            if known.decimals != token.decimals:
                raise InvalidMarket(
                    "tokens",
                    f"{market.id} gives {token.key} {token.decimals} decimals, a market before it {known.decimals};"
                    " give each market the same Token",
                )
    return markets


def _has_same_tokens(states: Mapping[str, Market], replaced: Mapping[str, Market | None]) -> bool:
    """Whether new states have the tokens of those that they replace, alike in all that is said of them."""
    for market_id, market in states.items():
        old = replaced[market_id]
        if old is None:
            return False
        before, now = old.tokens, market.tokens
        if len(before) != len(now):
            return False
        if not all(map(is_, before, now)) and not all(map(_is_alike, before, now)):
            return False
    return True

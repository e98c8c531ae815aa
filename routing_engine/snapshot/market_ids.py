"""Markets by their ids, of which each has one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields
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
    return following, replaced, gone


def keep_tokens(
    known: Mapping[str, Any], states: Mapping[str, Market], replaced: Mapping[str, Market | None]
) -> dict[str, Any]:
    """Return what a snapshot knows of its tokens, where new states of its markets have the same; else nothing.

    A table of the tokens of 20,000 pools takes 50 ms, and blocks change prices, not tokens.
    """
    if "tokens" not in known:
        return {}
    pairs = ((each.tokens, old.tokens if (old := replaced[name]) else ()) for name, each in states.items())
    is_same = all(len(new) == len(old) and all(map(_is_alike, new, old)) for new, old in pairs)
    return {"tokens": known["tokens"]} if is_same else {}


def _is_alike(one: Token, other: Token) -> bool:
    """Whether a token is another one in all that is said of it; tokens are equal by their address."""
    return one is other or all(getattr(one, name) == getattr(other, name) for name in TOKEN_FIELDS)

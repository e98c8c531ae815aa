"""Wrapping contracts for recorded markets, whose sources list pools only.

Without them the pools of a chain's native coin and those of its wrapped token lie in two halves that no route joins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from routing_engine.market import Market
from routing_engine.markets import NativeWrap
from routing_engine.model import Token
from routing_engine.reference.chains import CHAINS


def find_wraps(markets: Iterable[Market]) -> Iterator[NativeWrap]:
    """Yield the wrapping contract of each described chain whose coin or wrapped token any of the markets trades.

    None is yielded where a market has the contract's id already, or where the markets give the coin or its token
    other decimals than the chain does: one of the two is then not what its address says.
    """
    known: dict[Token, Token] = {}
    ids = set()
    for market in markets:
        ids.add(market.id)
        for token in market.tokens:
            known.setdefault(token, token)
    for chain in CHAINS.values():
        wrap = NativeWrap.of(chain)
        native, wrapped = (known.get(token, token) for token in wrap.tokens)
        met = wrap.native in known or wrap.wrapped in known
        if met and wrap.id not in ids and native.decimals == wrapped.decimals == wrap.native.decimals:
            yield NativeWrap(id=wrap.id, native=native, wrapped=wrapped)

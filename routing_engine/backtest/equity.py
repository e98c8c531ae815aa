"""What a portfolio is worth, block after block."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.model import NATIVE_ADDRESS, Token
from routing_engine.router import Router
from routing_engine.values import seal


@seal
@dataclass(frozen=True, slots=True, repr=False)
class Equity(Table):
    """Values after each block; as a table, a row for each.

    Parameters
    ----------
    token : Token
        What they are counted in.
    blocks : tuple of int
        Numbers.
    values : tuple of float
        Whole tokens, by the reference prices that gas is valued by too: mid prices of deep pools. NaN where something
        has no price.
    """

    token: Token
    blocks: tuple[int, ...]
    values: tuple[float, ...]

    @property
    def change(self) -> float:
        """How much more there is in the end than in the beginning."""
        return self.values[-1] - self.values[0]

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each block; see `Table`."""
        return (
            Column("block", Kind.COUNT, self.blocks),
            Column("value", Kind.NUMBER, self.values, unit=str(self.token)),
        )

    def __repr__(self) -> str:
        return f"Equity({self.values[0]:,.6g} to {self.values[-1]:,.6g} {self.token} in {len(self.blocks):,} blocks)"


def value_portfolio(amounts: Mapping[Token, int], router: Router, unit: Token) -> float:
    """Return what amounts are worth in whole tokens of another; NaN where one of them, or that one, has no price."""
    total, unit_price = 0.0, find_price(unit, router)
    for token, amount in amounts.items():
        if not amount:
            continue
        price = 1.0 if token == unit else find_price(token, router) / unit_price if unit_price > 0 else 0.0
        total += amount * price if price > 0 else math.nan
    return total / 10.0**unit.decimals


def find_price(token: Token, router: Router) -> float:
    """Return the worth of a token's smallest unit in the unit of all reference prices; 0 where it is not known."""
    graph = router.graph
    place = graph.index.get(token, -1)
    if place < 0 and token.address == NATIVE_ADDRESS and token.chain_id in graph.chain_number:
        place = int(graph.native[graph.chain_number[token.chain_id]])  # a market may trade the wrapped coin only
    return 0.0 if place < 0 else float(graph.prices[place])

"""A route that was found before, executed on a market of today."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from routing_engine.errors import QuoteRefused, Refusal
from routing_engine.model import Hop, Token
from routing_engine.route import Route
from routing_engine.snapshot.snapshot import Snapshot
from routing_engine.values import seal


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """What a route gives on a snapshot.

    Parameters
    ----------
    hops : tuple of Hop
        As far as it came.
    amount_out : int
        Smallest units received; 0 if it failed.
    refusal : Refusal or str
        Why it failed: a market's reason, or ``MARKET_GONE``; empty if it did not.
    market_id : str
        Which market it failed at.
    """

    hops: tuple[Hop, ...]
    amount_out: int
    refusal: Refusal | str = ""
    market_id: str = ""


MARKET_GONE = "MARKET_GONE"


def fill_route(route: Route, snapshot: Snapshot) -> Fill:
    """Execute a route as it was planned, in exact integers.

    Where several hops spend one token, each takes the part of what there is that it was planned to take, rounded down,
    and the last of them what is left. The input is that of the route. It works as a transaction does: all or nothing.
    """
    planned: Counter[Token] = Counter()
    for hop in route.hops:
        planned[hop.token_in] += hop.amount_in
    held: Counter[Token] = Counter({route.token_in: route.amount_in})
    done: list[Hop] = []
    for hop in route.hops:
        amount = held[hop.token_in] * hop.amount_in // planned[hop.token_in]
        planned[hop.token_in] -= hop.amount_in
        held[hop.token_in] -= amount
        market = snapshot.markets.get(hop.market_id)
        if market is None:
            return Fill(hops=tuple(done), amount_out=0, refusal=MARKET_GONE, market_id=hop.market_id)
        try:
            done.append(market.quote_exact_in(hop.token_in, hop.token_out, amount))
        except QuoteRefused as error:
            return Fill(hops=tuple(done), amount_out=0, refusal=error.reason, market_id=hop.market_id)
        held[hop.token_out] += done[-1].amount_out
    return Fill(hops=tuple(done), amount_out=held[route.token_out])

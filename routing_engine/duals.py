"""Shadow prices of a route: what one more unit of a token would bring, and what deeper markets would.

Floats only: they say which way to look, and promise nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.market import Market
from routing_engine.model import Hop, Token
from routing_engine.values import seal

if TYPE_CHECKING:
    from routing_engine.route import Route

STEP = 1e-5
"""Of an amount, on both sides of it, for the slope of a curve: errors are about its square."""

PERCENT = 0.01


@seal
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Duals(Table):
    """Shadow prices at a route, in its output token; as a table, a row for each token and each market.

    They are derivatives: of small changes, with the same markets in use. Gas does not count.

    Parameters
    ----------
    token_out : Token
        In which everything is counted.
    prices : tuple of (Token, float)
        Smallest units of `token_out` that one more smallest unit of a token would bring, were it there when the route
        runs: the input first, the output, whose price is 1, last.
    depths : tuple of (Hop, float)
        Smallest units of `token_out` that a market would add to the route's output if it were 1 % deeper: all its
        balances or its liquidity 1 % larger, its price and its fee the same. NaN where a market has no such depth,
        such as a bridge's lane.
    """

    token_out: Token
    prices: tuple[tuple[Token, float], ...]
    depths: tuple[tuple[Hop, float], ...]

    def price(self, token: Token) -> float:
        """Return the price of a token in smallest units; NaN if it is not on the route."""
        return dict(self.prices).get(token, math.nan)

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each token and each market, in whole tokens; see `Table`."""
        tokens, hops = [token for token, _ in self.prices], [hop for hop, _ in self.depths]
        unknown = [math.nan] * len(hops), [math.nan] * len(tokens)
        whole = [price * 10.0 ** (token.decimals - self.token_out.decimals) for token, price in self.prices]
        gains = [gain / 10.0**self.token_out.decimals for _, gain in self.depths]
        names = [str(token) for token in tokens] + [f"{hop.token_in} → {hop.token_out}" for hop in hops]
        unit = str(self.token_out)
        return (
            Column("of", Kind.TEXT, ["token"] * len(tokens) + ["market"] * len(hops)),
            Column("name", Kind.TEXT, names),
            Column("protocol", Kind.TEXT, [""] * len(tokens) + [hop.protocol for hop in hops]),
            Column("price", Kind.NUMBER, whole + unknown[0], unit=f"{unit} for one whole token"),
            Column("gain_per_percent", Kind.NUMBER, unknown[1] + gains, unit=f"{unit} for 1 % more depth"),
            Column("key", Kind.TEXT, [t.key for t in tokens] + [hop.market_id for hop in hops], is_detail=True),
        )

    def __repr__(self) -> str:
        best = max((gain for _, gain in self.depths if not math.isnan(gain)), default=0.0)
        deepest = self.token_out.show(max(0, int(best)))
        return f"Duals({len(self.prices)} tokens, {len(self.depths)} markets; at most {deepest} for 1 % more depth)"


def find_duals(route: Route, markets: Mapping[str, Market]) -> Duals:
    """Return the shadow prices at a route.

    Parameters
    ----------
    route : Route
        As it was found; also one that buys: its prices are in the token that it buys.
    markets : mapping of str to Market
        By id, in the states in which the route was found: ``snapshot.markets``.

    Raises
    ------
    KeyError
        If one of the route's markets is missing.
    """
    slopes = [_find_slope(markets[hop.market_id], hop) for hop in route.hops]
    prices = _find_prices(route, slopes)
    depths = [
        (hop, PERCENT * (hop.amount_out - hop.amount_in * slope) * prices[hop.token_out])
        if markets[hop.market_id].has_depth
        else (hop, math.nan)
        for hop, slope in zip(route.hops, slopes, strict=True)
    ]
    order = dict.fromkeys([route.token_in, *(hop.token_out for hop in route.hops if hop.token_out != route.token_out)])
    ranked = tuple((token, prices[token]) for token in [*order, route.token_out])
    return Duals(token_out=route.token_out, prices=ranked, depths=tuple(depths))


def _find_prices(route: Route, slopes: list[float]) -> dict[Token, float]:
    """Return what a unit of each token brings through the best of the route's markets that take it.

    At the best division all of them bring the same. Prices come from the end of the route; hops run in an order in
    which they can, so a few rounds suffice.
    """
    prices = {hop.token_in: 0.0 for hop in route.hops} | {route.token_out: 1.0}
    for _ in route.hops:
        before = dict(prices)
        for hop, slope in zip(reversed(route.hops), reversed(slopes), strict=True):
            prices[hop.token_in] = max(prices[hop.token_in], slope * prices[hop.token_out])
        if prices == before:
            break
    return prices


def _find_slope(market: Market, hop: Hop) -> float:
    """Return what one more unit of input would add to a hop's output."""
    curve, amount = market.curve(hop.token_in, hop.token_out), float(hop.amount_in)
    step = amount * STEP
    more, less = curve(amount + step), curve(amount - step)
    here = curve(amount)
    if math.isnan(more) or math.isnan(less):
        # At a bound of the market, or at one unit: from the side that there is.
        slopes = [(more - here) / step, (here - less) / step]
        return next((slope for slope in slopes if not math.isnan(slope)), 0.0)
    return (more - less) / (2.0 * step)

"""What a caller gets back from the router."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter

from routing_engine.certificate import Certificate
from routing_engine.duals import Duals, find_duals
from routing_engine.errors import (
    InsufficientLiquidity,
    NoRoute,
    PriceImpactTooHigh,
    Refusal,
    SearchEnded,
    Unroutable,
)
from routing_engine.fixed_point import BPS
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.frames.tokens import describe_ends
from routing_engine.market import Market
from routing_engine.request import RouteRequest
from routing_engine.route import Route, Side
from routing_engine.route_columns import describe_routes
from routing_engine.values import seal, settle_late

MUCH = 0.1
"""Part of an amount from which on its loss to its own size is a warning."""

NO_PATH, DENIED = "NO_PATH", "DENIED"
"""Why a protocol serves nothing, beside a `Refusal`: it is on no path, or the request excludes it."""


class Status(StrEnum):
    """How a search ended."""

    FOUND = "found"
    NO_ROUTE = "no_route"
    INSUFFICIENT_LIQUIDITY = "insufficient_liquidity"
    SEARCH_ENDED = "search_ended"
    PRICE_IMPACT_TOO_HIGH = "price_impact_too_high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """Why one protocol could not serve a request; `reason` is a `Refusal` or ``NO_PATH`` or ``DENIED``."""

    protocol: str
    reason: Refusal | str
    detail: str = ""


@settle_late("snapshot_id", str, attrgetter("id"))
@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class RouteResult(Table):
    """Routes, best first, and what they were computed from.

    As a table it has a row for each route.

    Parameters
    ----------
    request : RouteRequest
        The question.
    snapshot_id : str
        Content hash of the snapshot that was searched; where nobody has asked for it, the result holds the snapshot
        until it is read.
    status : Status
        ``found`` exactly when `routes` is not empty.
    routes : tuple of Route
        Best first by the request's order; the rest are alternatives.
    unavailable : tuple of Unavailable
        One entry per protocol when nothing was found.
    refused : tuple of Route
        When all that was found has too high a price impact: these routes, best first.
    is_complete : bool
        Whether the search ended by itself, and not with its budget of time or work. Amounts are exact either way; where
        it did not, a better route may have been left out.
    certificates : tuple of Certificate
        How far net amounts can be from the best there is, in the order of the routes: of a Pareto set each route's,
        else the best one's; none in what a stream gives first, or where the request wants none.
    markets : tuple of Market
        Those of the best route, as they were searched: what `duals` are computed from.
    """

    request: RouteRequest
    snapshot_id: str
    status: Status
    routes: tuple[Route, ...] = ()
    unavailable: tuple[Unavailable, ...] = ()
    refused: tuple[Route, ...] = ()
    is_complete: bool = True
    certificates: tuple[Certificate, ...] = ()
    markets: tuple[Market, ...] = field(default=(), repr=False, compare=False)

    @property
    def duals(self) -> Duals:
        """Shadow prices at the best route, computed when they are asked for; see `find_duals`.

        Raises
        ------
        NoRoute, InsufficientLiquidity, SearchEnded, PriceImpactTooHigh
            As `best` does.
        """
        return find_duals(self.best(), {market.id: market for market in self.markets})

    @property
    def certificate(self) -> Certificate | None:
        """That of the best route; None where it was not judged."""
        return self.certificates[0] if self.certificates else None

    @property
    def failure(self) -> Unroutable | None:
        """Why there is no route; None where there is one."""
        if self.routes:
            return None
        pair, amount = f"{self.request.token_in} to {self.request.token_out}", self.request.amount
        if self.status is Status.SEARCH_ENDED:
            return SearchEnded(
                f"the search from {pair} ended with its budget, and until then nothing served {amount} smallest units; "
                "there may be a route: raise time_budget_ms or work_budget, or ask for less"
            )
        if self.status is Status.INSUFFICIENT_LIQUIDITY:
            return InsufficientLiquidity(
                f"no market path from {pair} can serve {amount} smallest units: ask for less, or for more if it is "
                "dust; `unavailable` of the result says which markets found it too little or too much"
            )
        if self.status is Status.PRICE_IMPACT_TOO_HIGH:
            least = min(route.price_impact for route in self.refused) * BPS
            return PriceImpactTooHigh(
                f"every route that was found from {pair} loses {least:.1f} bps or more to its own size, and "
                f"{self.request.max_price_impact_bps} are allowed; trade less, or raise max_price_impact_bps"
            )
        asked = self.request
        more = ", or let it use more protocols" if asked.allow_protocols is not None or asked.deny_protocols else ""
        more += ", or more chains" if asked.allow_chains is not None or asked.deny_chains else ""
        return NoRoute(f"no path of at most {self.request.max_hops} hops from {pair}: raise max_hops{more}")

    @property
    def warning(self) -> str:
        """What one should know before one takes the best route; empty where there is nothing.

        An amount far beyond what markets hold has a route too, on which nearly all is lost.
        """
        lost = self.routes[0].price_impact if self.routes else 0.0
        if lost < MUCH:
            return ""
        shown = math.floor(lost * BPS) / 100  # never rounded up to all of it
        return f"{shown:g} % is lost to the amount's own size: these markets hold too little for it"

    def best(self) -> Route:
        """Return the best route.

        Raises
        ------
        NoRoute
            If nothing joins the two tokens.
        InsufficientLiquidity
            If paths exist, but none can serve the amount.
        SearchEnded
            If the budget ended before any was found.
        PriceImpactTooHigh
            If every route that was found moves prices by more than the request allows.
        """
        if self.failure:
            raise self.failure
        return self.routes[0]

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each route; see `Table`."""
        ends = [(route.token_in, route.token_out) for route in self.routes]
        gaps = [certificate.gap_bps for certificate in self.certificates[: len(ends)]]
        known = [math.nan if gap is None else gap for gap in gaps] + [math.nan] * (len(ends) - len(gaps))
        return (
            *describe_ends(ends),
            *describe_routes(self.routes, ends),
            Column("gap_bps", Kind.NUMBER, known, unit="bps"),
            Column("fingerprint", Kind.TEXT, [route.fingerprint for route in self.routes]),
        )

    def __repr__(self) -> str:
        parts = [self.routes[0].summary if self.routes else self._question]
        if self.routes and self.routes[0].price_impact >= MUCH:
            parts.append(f"price impact {self.routes[0].price_impact:.2%}")
        if self.certificate:
            parts.append(f"gap {self.certificate.shown_gap}")
            if not self.certificate.gas_aware and self.certificate.gap_bps is not None:
                parts.append("gas does not count")
        if not self.is_complete:
            parts.append("ended with its budget")
        if len(self.routes) > 1:
            parts.append(f"alternatives: {len(self.routes) - 1}")
        return f"RouteResult({self.status}: {'; '.join(parts)})"

    @property
    def _question(self) -> str:
        """The request in short, the amount at the end that it fixes."""
        ends = self.request.token_in, self.request.token_out
        fixed = self.request.side == Side.EXACT_OUT
        shown = [end.show(self.request.amount) if number == fixed else str(end) for number, end in enumerate(ends)]
        return " → ".join(shown)

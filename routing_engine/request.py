"""What a caller asks of the router, and what it gets back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, SupportsIndex, Unpack

from routing_engine.certificate import Certificate
from routing_engine.errors import (
    InsufficientLiquidity,
    InvalidRequest,
    NoRoute,
    PriceImpactTooHigh,
    Refusal,
    Unroutable,
)
from routing_engine.fixed_point import BPS
from routing_engine.model import Token
from routing_engine.objective import OBJECTIVES, Objective, OrderName
from routing_engine.request_fields import READERS, FieldReader, RequestOptions, name_options, read_count, show
from routing_engine.route import Route, Side, SideName
from routing_engine.values import seal

MAX_HOPS, DEFAULT_MAX_HOPS, USUAL_HOPS = 6, 5, 4
"""Hops of a path; the last are those of paths that splits are made of first: longer ones rarely earn their gas."""
MAX_SPLITS = 100
MAX_ALTERNATIVES = 5
DEFAULT_BUDGET_MS = 30_000
MAX_BUDGET_MS = 600_000

NO_PATH, DENIED = "NO_PATH", "DENIED"
"""Why a protocol serves nothing, beside a `Refusal`: it is on no path, or the request excludes it."""


_READERS: Mapping[str, FieldReader] = {
    **READERS,
    "max_hops": partial(read_count, low=1, high=MAX_HOPS),
    "max_splits": partial(read_count, low=1, high=MAX_SPLITS),
    "alternatives": partial(read_count, low=0, high=MAX_ALTERNATIVES),
    "time_budget_ms": partial(read_count, low=1, high=MAX_BUDGET_MS),
}


@name_options
@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class RouteRequest:
    """Sell `amount` of one token for another, or buy it.

    Parameters
    ----------
    token_in, token_out : Token, or str where it is made
        From and to; may lie on different chains. A name, ``WETH@1`` or ``0x…@1``, is looked up by the router that is
        asked; the request of its result holds the token.
    amount : int
        Smallest units of `token_in` for ``exact_in``, of `token_out` for ``exact_out``. Kept as a plain int.
    side : {"exact_in", "exact_out"} or Side
        Which amount is fixed.
    order : {"cheapest", "fastest", "balanced"}
        What is best: see `objective`.
    value_of_time : float, optional
        What an hour of waiting is worth, in bps of the amount, 0 to 10,000; instead of the order's own. The order
        ``fastest`` takes none: time comes first there.
    max_hops : int
        Markets in series, 1 to 6. A split's paths have up to four at first. Longer ones are looked for where the best
        single path is longer, and where several paths share the amount; the certificate says how many it speaks of.
    max_splits : int
        Parallel paths that may be used, 1 to 100. More than one are used where their net output is larger. Where they
        share markets, `Route.paths` takes the merged flows apart again, and may list a few more.
    alternatives : int
        How many further routes to return if there are so many, 0 to 5; each avoids a market of the best single path.
    max_price_impact_bps : float, optional
        Routes that lose more to the amount's own size are left out; 0 to 10,000. With 0 only routes whose price does
        not depend on the amount are left.
    allow_protocols : collection of str, optional
        Use only these, at least one; kept as a frozenset.
    deny_protocols : collection of str
        Never use these; kept as a frozenset.
    gas_prices : mapping of int to int, optional
        Wei per gas unit by chain id; overrides the snapshot's.
    time_budget_ms : int
        When it is spent, the best that was found until then is the answer; 1 to 600,000. No search is cut short: the
        time is looked at between searches, of which one takes up to seconds where an amount fills markets.
    certify : bool
        Whether to prove how far the answer can be from the best. That takes two thirds of the time of a single path.

    Raises
    ------
    InvalidRequest
        Naming the field, when a value is out of bounds, or the option that is none.
    """

    token_in: Token
    token_out: Token
    amount: int
    side: Side | SideName = "exact_in"
    order: OrderName = "cheapest"
    max_hops: int = DEFAULT_MAX_HOPS
    max_splits: int = MAX_SPLITS
    alternatives: int = 0
    value_of_time: float | None = None
    max_price_impact_bps: float | None = None
    allow_protocols: frozenset[str] | None = None
    deny_protocols: frozenset[str] = frozenset()
    gas_prices: Mapping[int, int] | None = None
    time_budget_ms: int = DEFAULT_BUDGET_MS
    certify: bool = True

    if TYPE_CHECKING:

        def __init__(
            self,
            *,
            token_in: Token | str,
            token_out: Token | str,
            amount: SupportsIndex,
            **options: Unpack[RequestOptions],
        ) -> None: ...

    def __post_init__(self) -> None:
        for field, read in _READERS.items():
            given = getattr(self, field)
            value = read(field, given)
            if value is not given:
                object.__setattr__(self, field, value)
        if self.token_in == self.token_out:
            raise InvalidRequest("token_out", f"is the same token as token_in ({self.token_in}); choose another")
        if self.side not in tuple(Side):
            raise InvalidRequest("side", f"must be 'exact_in' or 'exact_out', not {show(self.side)}")
        if self.order not in tuple(OBJECTIVES):
            raise InvalidRequest("order", f"must be one of {', '.join(OBJECTIVES)}, not {show(self.order)}")
        if self.value_of_time is not None and OBJECTIVES[self.order].time_first:
            raise InvalidRequest("value_of_time", f"has no meaning where time comes first; order is {self.order!r}")

    @property
    def objective(self) -> Objective:
        """How net amount and time weigh against each other."""
        objective = OBJECTIVES[self.order]
        return objective if self.value_of_time is None else objective.at_rate(self.value_of_time)


class Status(StrEnum):
    """How a search ended."""

    FOUND = "found"
    NO_ROUTE = "no_route"
    INSUFFICIENT_LIQUIDITY = "insufficient_liquidity"
    PRICE_IMPACT_TOO_HIGH = "price_impact_too_high"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unavailable:
    """Why one protocol could not serve a request; `reason` is a `Refusal` or ``NO_PATH`` or ``DENIED``."""

    protocol: str
    reason: Refusal | str
    detail: str = ""


@seal
@dataclass(frozen=True, slots=True, kw_only=True)
class RouteResult:
    """Routes, best first, and what they were computed from.

    Parameters
    ----------
    request : RouteRequest
        The question.
    snapshot_id : str
        Content hash of the snapshot that was searched.
    status : Status
        ``found`` exactly when `routes` is not empty.
    routes : tuple of Route
        Best first by the request's order; the rest are alternatives.
    unavailable : tuple of Unavailable
        One entry per protocol when nothing was found.
    refused : tuple of Route
        When all that was found has too high a price impact: these routes, best first.
    is_complete : bool
        Whether the search ended by itself, and not with its budget of time.
    certificates : tuple of Certificate
        How far net amounts can be from the best there is, in the order of the routes: of a Pareto set each route's,
        else the best one's; none in what a stream gives first, or where the request wants none.
    """

    request: RouteRequest
    snapshot_id: str
    status: Status
    routes: tuple[Route, ...] = ()
    unavailable: tuple[Unavailable, ...] = ()
    refused: tuple[Route, ...] = ()
    is_complete: bool = True
    certificates: tuple[Certificate, ...] = ()

    @property
    def certificate(self) -> Certificate | None:
        """That of the best route; None where it was not judged."""
        return self.certificates[0] if self.certificates else None

    @property
    def failure(self) -> Unroutable | None:
        """Why there is no route; None where there is one."""
        if self.routes:
            return None
        pair = f"{self.request.token_in} to {self.request.token_out}"
        if self.status is Status.INSUFFICIENT_LIQUIDITY:
            return InsufficientLiquidity(f"no market path from {pair} can serve {self.request.amount} smallest units")
        if self.status is Status.PRICE_IMPACT_TOO_HIGH:
            least = min(route.price_impact for route in self.refused) * BPS
            return PriceImpactTooHigh(
                f"every route from {pair} loses {least:.1f} bps or more to its own size, and "
                f"{self.request.max_price_impact_bps} are allowed; trade less, or raise max_price_impact_bps"
            )
        return NoRoute(f"no path of at most {self.request.max_hops} hops from {pair}")

    def best(self) -> Route:
        """Return the best route.

        Raises
        ------
        NoRoute
            If nothing joins the two tokens.
        InsufficientLiquidity
            If paths exist, but none can serve the amount.
        PriceImpactTooHigh
            If every route moves prices by more than the request allows.
        """
        if self.failure:
            raise self.failure
        return self.routes[0]

    def __repr__(self) -> str:
        parts = [self.routes[0].summary if self.routes else self._question]
        if self.certificate:
            parts.append(f"gap {self.certificate.shown_gap}")
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

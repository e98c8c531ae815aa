"""How much of a pair can be traded before its price is worse by so much."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from routing_engine.analysis.arguments import read_numbers, require_router
from routing_engine.errors import InvalidRequest
from routing_engine.fixed_point import BPS
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.frames.tokens import describe_amounts
from routing_engine.market import UNLIMITED
from routing_engine.model import Token
from routing_engine.request import RouteRequest
from routing_engine.resolution import resolve
from routing_engine.result import Status
from routing_engine.route import Route
from routing_engine.router import Router
from routing_engine.values import seal

LEVELS_BPS = (1.0, 5.0, 10.0, 50.0, 100.0, 500.0)
GROWTH = 4
"""By so much sizes grow until the price is worse than the last level."""

STEPS = 12
"""Halvings between two sizes: to a thousandth."""

FIRST_VALUE = 1e17
"""Of the first size, in the reference prices' unit: a tenth of Ethereum's coin. What is worth far less is dust."""

MOST_IMPACT = 0.1
"""What the first size may lose to its own size; where it loses more, all that there is to trade is dust."""


@seal
@dataclass(frozen=True, slots=True, repr=False)
class Depth(Table):
    """The largest amounts whose average price is not worse than the best price by more than each level.

    Parameters
    ----------
    best_price : float
        Whole tokens out per whole token in: the best that any size gets that is no dust, after fees. Routes are chosen
        with gas, but no price has it taken off.
    levels : tuple of (float, Route)
        Bps, and the route of the largest amount.
    """

    token_in: Token
    token_out: Token
    best_price: float
    levels: tuple[tuple[float, Route], ...]

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each level; see `Table`."""
        routes = [route for _, route in self.levels]
        given, taken = [self.token_in] * len(routes), [self.token_out] * len(routes)
        return (
            Column("impact_bps", Kind.NUMBER, [level for level, _ in self.levels], unit="bps"),
            *describe_amounts("amount_in", [route.amount_in for route in routes], given),
            *describe_amounts("amount_out", [route.amount_out for route in routes], taken),
            Column("markets", Kind.COUNT, [len(route.hops) for route in routes]),
        )

    def __repr__(self) -> str:
        return f"Depth({self.token_in} to {self.token_out}: {self.best_price:.6g} at best, {len(self.levels)} levels)"


def measure_depth(
    router: Router,
    token_in: Token | str,
    token_out: Token | str,
    *,
    levels_bps: Sequence[float] = LEVELS_BPS,
    **options: Any,
) -> Depth:
    """Find the largest amounts that lose no more than given parts to their own size.

    Parameters
    ----------
    router : Router
        On the snapshot.
    token_in, token_out : Token or str
        The pair, in the direction of the trade.
    levels_bps : sequence of float
        Losses against the best price, above 0.
    **options
        Further fields of `RouteRequest`. Certificates are left out unless asked for.

    Raises
    ------
    InvalidRequest
        If a level is not above 0 and below 10,000, or a token or an option is none, or is the amount or the side.
    NoRoute, InsufficientLiquidity
        If nothing can be traded at all.

    Examples
    --------
    >>> from routing_engine import Router, Snapshot
    >>> depth = measure_depth(Router(Snapshot.sandbox()), "WETH@1", "USDC@1", levels_bps=[10], max_hops=1)
    >>> [(level, depth.token_in.show(route.amount_in)) for level, route in depth.levels]
    [(10.0, '201.775 WETH@1')]
    """
    require_router(router)
    levels_bps = read_numbers("levels_bps", levels_bps, "[10, 100]")
    if not all(0 < level < BPS for level in levels_bps):
        raise InvalidRequest("levels_bps", f"must be above 0 and below {BPS:,}, not {levels_bps!r}")
    for name in {"amount", "side"} & options.keys():
        raise InvalidRequest(name, "is not for the caller to choose: amounts are sold, and which is what is looked for")
    request = RouteRequest(token_in=token_in, token_out=token_out, amount=1, **{"certify": False, **options})
    tried = _try_sizes(router, request, levels_bps)
    best = max(route.price for _, route in tried)
    levels = []
    for level in sorted(levels_bps):
        least = best * (1 - level / BPS)
        inside = [n for n, (_, route) in enumerate(tried) if route.price >= least]
        levels.append((float(level), _refine(router, request, tried, max(inside), least)))
    first = tried[0][1]
    return Depth(first.token_in, first.token_out, best, tuple(levels))


def _try_sizes(router: Router, request: RouteRequest, levels_bps: Sequence[float]) -> list[tuple[int, Route]]:
    """Return sizes and their routes, until the price is worse than all levels, or nothing serves."""
    request = resolve(request, router.snapshot, router.graph)
    token = request.token_in
    price = float(router.graph.prices[router.graph.index[token]])
    amount = max(1, int(FIRST_VALUE / price)) if price > 0 else 10**token.decimals
    first = _find_first_size(router, request, amount, min(levels_bps), is_known=price > 0)
    tried = _grow(router, request, first, levels_bps)
    if not tried:
        first = _find_first_size(router, request, _find_less(router, request, first), min(levels_bps), is_known=False)
        tried = _grow(router, request, first, levels_bps)
    if not tried:
        router.find_routes(replace(request, amount=amount)).best()
    return tried


def _grow(router: Router, request: RouteRequest, amount: int, levels_bps: Sequence[float]) -> list[tuple[int, Route]]:
    """Return sizes from the first on, and their routes."""
    tried: list[tuple[int, Route]] = []
    while amount <= UNLIMITED:
        result = router.find_routes(replace(request, amount=amount))
        if result.routes:
            tried.append((amount, result.best()))
            best = max(route.price for _, route in tried)
            if tried[-1][1].price < best * (1 - max(levels_bps) / BPS):
                break
        elif tried or result.status is Status.NO_ROUTE:
            break
        amount *= GROWTH  # also where markets refuse an amount because it is too small
    return tried


def _find_less(router: Router, request: RouteRequest, amount: int) -> int:
    """Return the next smaller size that is served, where all that there is to trade is less than the first; else 1."""
    while amount > 1:
        amount = max(1, amount // GROWTH)
        result = router.find_routes(replace(request, amount=amount))
        if result.routes or result.status is Status.NO_ROUTE:
            break
    return amount


def _find_first_size(router: Router, request: RouteRequest, amount: int, level: float, *, is_known: bool) -> int:
    """Return a size small enough: a quarter of it has no price that is better by as much as a level.

    What a token is worth is not always known, and a market may be smaller than anybody thinks. But where it is known,
    and the first size can be traded, a price that only smaller ones get is that of dust.
    """
    price = 0.0
    while amount > 1:
        result = router.find_routes(replace(request, amount=amount))
        if not result.routes or result.best().price * (1 - level / BPS) <= price:
            break
        if is_known and price == 0.0 and result.best().price_impact < MOST_IMPACT:
            break
        price, amount = result.best().price, max(1, amount // GROWTH)
    return amount


def _refine(
    router: Router, request: RouteRequest, tried: Sequence[tuple[int, Route]], place: int, least: float
) -> Route:
    """Return the route of the largest amount whose price is not below `least`, from a size that has one to the next."""
    low, found = tried[place]
    high = tried[place + 1][0] if place + 1 < len(tried) else min(low * GROWTH, UNLIMITED)
    for _ in range(STEPS):
        middle = (low + high) // 2
        if middle in (low, high):
            break
        result = router.find_routes(replace(request, amount=middle))
        if result.routes and result.best().price >= least:
            low, found = middle, result.best()
        else:
            high = middle
    return found

"""How a route changes with the gas price, and what it costs to have chosen it at another one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from routing_engine.analysis.arguments import read_numbers, require_request, require_router
from routing_engine.errors import InvalidRequest
from routing_engine.fixed_point import BPS
from routing_engine.frames.column import Column, Kind
from routing_engine.frames.table import Table
from routing_engine.frames.tokens import describe_amounts
from routing_engine.graph.gas_valuation import Valuation
from routing_engine.request import RouteRequest
from routing_engine.resolution import resolve
from routing_engine.result import RouteResult
from routing_engine.route import Side
from routing_engine.router import Router
from routing_engine.values import seal

GWEI = 10**9
PRICES_GWEI = (0.0, 0.1, 1.0, 10.0, 100.0, 1_000.0)


@seal
@dataclass(frozen=True, slots=True, repr=False)
class GasSensitivity(Table):
    """Answers to one question at rising gas prices; as a table, a row for each price.

    Parameters
    ----------
    prices : tuple of int
        Wei per gas unit, on all chains.
    results : tuple of RouteResult
        The answer at each.
    regrets_bps : tuple of float
        What the answer at the first price would lose at each, against the answer there: bps of the net amount. NaN
        where there is no answer.
    """

    prices: tuple[int, ...]
    results: tuple[RouteResult, ...]
    regrets_bps: tuple[float, ...]

    def columns(self) -> tuple[Column, ...]:
        """Return a row for each price; see `Table`."""
        request = self.results[0].request
        token = request.token_out if request.side == Side.EXACT_IN else request.token_in
        best = [result.routes[0] if result.routes else None for result in self.results]
        return (
            Column("gas_price_gwei", Kind.NUMBER, [price / GWEI for price in self.prices], unit="gwei"),
            *describe_amounts("net_amount", [each.net_amount if each else 0 for each in best], [token] * len(best)),
            Column("gas", Kind.COUNT, [each.gas if each else 0 for each in best], unit="gas"),
            Column("markets", Kind.COUNT, [len(each.hops) if each else 0 for each in best]),
            Column("paths", Kind.COUNT, [len(each.paths) if each else 0 for each in best]),
            Column("regret_bps", Kind.NUMBER, self.regrets_bps, unit="bps"),
            Column("fingerprint", Kind.TEXT, [each.fingerprint if each else "" for each in best], is_detail=True),
        )

    def __repr__(self) -> str:
        kinds = len({result.routes[0].fingerprint for result in self.results if result.routes})
        return f"GasSensitivity({len(self.prices)} gas prices, {kinds} different routes)"


def measure_gas_sensitivity(
    router: Router, request: RouteRequest, prices_gwei: Sequence[float] = PRICES_GWEI, **options: Any
) -> GasSensitivity:
    """Ask the same at several gas prices, and value the answer at the lowest at each of the others.

    Parameters
    ----------
    router : Router
        On the market.
    request : RouteRequest
        What is asked; its own gas prices do not count.
    prices_gwei : sequence of float
        Gwei per gas unit, at least 0, for all chains alike.
    **options
        Further fields of `RouteRequest`, in place of the request's.

    Raises
    ------
    InvalidRequest
        If there is no price or one is below 0, or as the router does.
    """
    require_router(router)
    require_request(request)
    prices_gwei = read_numbers("prices_gwei", prices_gwei, "[0, 1.5]")
    if not all(price >= 0 for price in prices_gwei):
        raise InvalidRequest("prices_gwei", f"must be at least one price of at least 0, not {prices_gwei!r}")
    prices = tuple(sorted({round(price * GWEI) for price in prices_gwei}))
    request = resolve(replace(request, **options), router.snapshot, router.graph)
    everywhere = [dict.fromkeys(router.graph.chains, price) for price in prices]
    results = tuple(router.find_routes(replace(request, gas_prices=each)) for each in everywhere)
    return GasSensitivity(
        prices, results, tuple(_regret(router, results[0], *each) for each in zip(everywhere, results, strict=True))
    )


def _regret(router: Router, first: RouteResult, prices: dict[int, int], result: RouteResult) -> float:
    """Return by how many bps the first answer nets less than another at the other's gas prices."""
    if not first.routes or not result.routes:
        return math.nan
    side = Side(first.request.side)
    then = Valuation(router.graph, prices).build_route(side, first.routes[0].hops).net_amount
    best = result.routes[0].net_amount
    lost = best - then if side is Side.EXACT_IN else then - best
    return max(0.0, lost / abs(best) * BPS) if best else math.nan

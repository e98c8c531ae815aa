"""Routes that a payer's wallet can take with one signature, for orders on real chains."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from adapters.transactions.base import PlannedHop
from adapters.transactions.paths import WRAP
from api.services.chains.trials import plan_hop
from api.services.routing.query import ANSWER_WORK
from routing_engine import InvalidRequest, Route, RouteRequest, Side, Token
from routing_engine.fixed_point import BPS
from routing_engine.request import MAX_ALTERNATIVES, MAX_HOPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapters.transactions.payment_builders import PaymentBuilders
    from routing_engine import Router

HOPS_TO_ANOTHER_CHAIN = 3
"""A deposit, and before it a swap or two, or the coin's wrapping and a swap."""
ORDER: Final = "balanced"
"""A customer waits for it at the checkout, so time counts as well as money: see `patience`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PayableRoute:
    """A route, and what building its transaction takes."""

    route: Route
    hops: tuple[PlannedHop, ...]


def find_payable(
    router: Router,
    builders: PaymentBuilders,
    token_in: Token,
    token_out: Token,
    amount: int,
    *,
    hour_bps: float | None = None,
) -> PayableRoute | None:
    """Return the best route that one transaction takes and that ends at the merchant, or None.

    Parameters
    ----------
    amount : int
        What must arrive, smallest units of `token_out`.
    hour_bps : float, optional
        What an hour of waiting is worth, in bps of the amount; the engine's own rate without it.
    """
    request = _make_request(token_in, token_out, amount, hour_bps)
    found = [
        payable
        for family in builders.list_families(token_in.chain_id, crosses_chains=token_in.chain_id != token_out.chain_id)
        if (protocols := router.graph.protocols & {*family, WRAP})
        for payable in _find_payable(router, builders, replace(request, allow_protocols=protocols))
    ]
    return min(found, key=lambda payable: _rank(request, payable.route), default=None)


def _make_request(token_in: Token, token_out: Token, amount: int, hour_bps: float | None) -> RouteRequest:
    return RouteRequest(
        token_in=token_in,
        token_out=token_out,
        amount=amount,
        side=Side.EXACT_OUT,
        order=ORDER,
        max_splits=1,
        max_hops=MAX_HOPS if token_in.chain_id == token_out.chain_id else HOPS_TO_ANOTHER_CHAIN,
        alternatives=MAX_ALTERNATIVES,
        value_of_time=None if hour_bps is None else min(hour_bps, BPS),
        time_budget_ms=None,
        work_budget=ANSWER_WORK,
    )


def _find_payable(router: Router, builders: PaymentBuilders, request: RouteRequest) -> Iterator[PayableRoute]:
    markets = router.snapshot.markets
    try:
        routes = router.find_routes(request).routes
    except InvalidRequest:  # the market does not have one of the tokens at present
        return
    for route in routes:
        hops = tuple(plan_hop(hop, markets[hop.market_id]) for hop in route.hops)
        if builders.can_build(hops):
            yield PayableRoute(route=route, hops=hops)


def _rank(request: RouteRequest, route: Route) -> tuple[float, float]:
    return request.objective.rank(route.net_amount, route.fill_time_s, exact_out=True)

"""What paying an order takes in one token: found once for each state of the market."""

from __future__ import annotations

import threading
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from adapters.transactions.base import PlannedHop
from api.services.checkout.costs import count_costs
from api.services.checkout.patience import weigh_hour
from api.services.checkout.payable_routes import ORDER, find_payable
from api.services.checkout.refusals import OrderQuoteRefusal, OrderQuoteRefused
from api.services.routing.query import ANSWER_WORK, BPS, RouteQuery, choose_slippage_bps
from api.services.routing.routes import RouteNotFound, make_route_writer, require_routes, unknown_is_no_route
from routing_engine import RouteRequest, Side, Token
from routing_engine.reference.chains import block_time_s

if TYPE_CHECKING:
    from api.services.chains.chain_access import ChainAccess
    from api.services.resources import Resources
    from routing_engine import Route, Router

MOST_KEPT = 512
"""Prices that are kept for one state of the market."""

_lock = threading.Lock()
_kept: WeakKeyDictionary[Router, dict[Any, dict[str, Any] | OrderQuoteRefused]] = WeakKeyDictionary()


def find_price(
    resources: Resources, access: ChainAccess | None, token: Token, settled: Token, due: int
) -> dict[str, Any]:
    """Return what makes a quote of a token: amounts, steps, fees, costs and times; also that there is none is kept.

    Parameters
    ----------
    access : ChainAccess or None
        The chains that the order is paid on; None for simulated ones.
    due : int
        What must arrive, smallest units of `settled`.

    Raises
    ------
    OrderQuoteRefused
        If no route leads to the settlement token.
    """
    router = resources.market.router
    hour_bps = weigh_hour(router, settled, due, resources.config.value_of_time)
    key = id(access), token, settled, due, hour_bps
    with _lock:
        kept = _kept.setdefault(router, {})
        known = kept.get(key)
    if known is None:
        try:
            known = _find_price(resources, router, access, token, settled, due, hour_bps)
        except OrderQuoteRefused as refused:
            known = _copy(refused)
        with _lock:
            if len(kept) >= MOST_KEPT:
                kept.clear()
            kept[key] = known
    if isinstance(known, OrderQuoteRefused):
        raise _copy(known)
    return known


def _copy(refused: OrderQuoteRefused) -> OrderQuoteRefused:
    """Leave its traceback out, which would keep the router."""
    return OrderQuoteRefused(refused.reason, refused.message, *refused.problems)


def _find_price(
    resources: Resources,
    router: Router,
    access: ChainAccess | None,
    token: Token,
    settled: Token,
    due: int,
    hour_bps: float,
) -> dict[str, Any]:
    if token == settled:
        details = {"amount_in": due, "amount_in_max": due, "fill_time_s": block_time_s(token.chain_id)}
        return details | asdict(count_costs(router, token, settled, due, None))
    hops: tuple[PlannedHop, ...] = ()
    if access is None:
        route = _find_route(router, token, settled, due, hour_bps)
    else:
        route, hops = _find_payable_route(router, access, token, settled, due, hour_bps)
    details = _describe_route(resources, router, route) | {"hops": hops}
    return details | asdict(count_costs(router, token, settled, due, route))


def _find_route(router: Router, token: Token, settled: Token, due: int, hour_bps: float) -> Route:
    # A customer waits for it at the checkout, so time counts as well as money.
    # One path, so that the customer signs as little as possible.
    request = RouteRequest(
        token_in=token,
        token_out=settled,
        amount=due,
        side=Side.EXACT_OUT,
        order=ORDER,
        max_splits=1,
        value_of_time=min(hour_bps, BPS),
        time_budget_ms=None,
        work_budget=ANSWER_WORK,
    )
    try:
        with unknown_is_no_route(router):
            return require_routes(router.find_routes(request))[0]
    except RouteNotFound as error:
        raise OrderQuoteRefused(OrderQuoteRefusal.NO_ROUTE, error.message, *error.problems) from error


def _find_payable_route(
    router: Router, access: ChainAccess, token: Token, settled: Token, due: int, hour_bps: float
) -> tuple[Route, tuple[PlannedHop, ...]]:
    found = None
    if token.chain_id in access.chains:
        found = find_payable(router, access.builders, token, settled, due, hour_bps=hour_bps)
    if found is None:
        message = f"No single transaction turns {token} into {settled} for the merchant"
        raise OrderQuoteRefused(OrderQuoteRefusal.NO_ROUTE, message)
    return found.route, found.hops


def _describe_route(resources: Resources, router: Router, route: Route) -> dict[str, Any]:
    request = RouteRequest(
        token_in=route.token_in, token_out=route.token_out, amount=route.amount_out, side=Side.EXACT_OUT
    )
    query = RouteQuery(request=request, slippage_bps=choose_slippage_bps(route.token_in, route.token_out))
    writer = make_route_writer(resources, router, query)
    return {
        "amount_in": route.amount_in,
        "amount_in_max": query.most_in(route.amount_in),
        "fill_time_s": route.fill_time_s,
        "steps": tuple(writer.steps(route)),
        "fees": tuple(writer.total_fees(route)),
        "gas": route.gas,
        "price_impact_bps": round(route.price_impact * BPS),
        "snapshot_id": router.snapshot.id,
    }

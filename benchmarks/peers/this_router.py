"""This project's own router, asked as everybody else is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.harness.answer import Answer, Swap
from routing_engine import Route, Router, RouteRequest, Side, Snapshot, __version__
from routing_engine.warm_up import warm_up


class ThisRouter:
    """`Router.find_routes` with its certificate.

    Parameters
    ----------
    name : str
        What reports call it.
    options : mapping
        Fields of `RouteRequest` to ask with instead.
    """

    version = __version__

    def __init__(self, name: str = "routing_engine", options: Mapping[str, Any] | None = None) -> None:
        self.name, self._options = name, dict(options or {})
        self._router: Router | None = None

    def load(self, snapshot: Snapshot) -> None:
        """Build the router's arrays, and load its kernels."""
        warm_up()
        self._router = Router(snapshot)

    def solve(self, request: RouteRequest, gas_values: Mapping[int, float]) -> Answer | None:
        """Return the best route."""
        assert self._router is not None
        fields = {name: getattr(request, name) for name in ASKED} | self._options
        result = self._router.find_routes(RouteRequest(**fields))
        return answer_route(result.routes[0]) if result.routes else None


ASKED = ("token_in", "token_out", "amount", "side", "max_hops", "gas_prices", "time_budget_ms")


def answer_route(route: Route) -> Answer:
    """Return a route's hops as swaps, and what it says that it gives."""
    swaps = tuple(Swap(hop.market_id, hop.token_in.key, hop.token_out.key, hop.amount_in) for hop in route.hops)
    return Answer(swaps=swaps, claimed=route.amount_in if route.side is Side.EXACT_OUT else route.amount_out)

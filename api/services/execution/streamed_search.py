"""Routes one after the other, each better or firmer than the one before, as they become known."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING, Any

from api.domain.env import EnvMode
from api.services.execution.executable_routes import PATIENCE_S, open_desk
from api.services.execution.firm_routes import FirmSearch
from api.services.market.source_problems import list_left_out
from api.services.resources import Resources
from api.services.routing.query import RouteQuery
from api.services.routing.routes import make_route_writer, require_routes, unknown_is_no_route, write_routes
from api.services.routing.serializers import IsFirm

if TYPE_CHECKING:
    from routing_engine import Router, RouteResult

MAX_SECONDS = 30

Message = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class StreamedSearch:
    """Tells the routes for one query.

    Parameters
    ----------
    resources : Resources
        The service's.
    query : RouteQuery
        What was asked. With payer and recipient bridges are asked for firm quotes, and the last route has legs.
    env_mode : EnvMode
        On whose chains a wallet acts.
    has_key : bool
        Whether the caller has a key; strangers are admitted apart.
    stopwatch : callable
        Seconds; after `MAX_SECONDS` the best route so far is the last.
    """

    resources: Resources
    query: RouteQuery
    env_mode: EnvMode
    has_key: bool
    stopwatch: Callable[[], float] = time.monotonic
    _numbers: Iterator[int] = field(default_factory=count)
    _best: str = ""

    def tell(self) -> Iterator[Message]:
        """Yield a message for each route, then one that says which is the best.

        Raises
        ------
        RouteNotFound
            If there is no route.
        """
        router, sources = self.resources.market.current()
        missing = list_left_out(sources)
        ends = self.stopwatch() + MAX_SECONDS
        with unknown_is_no_route(router):
            for result in router.stream(self.query.request):
                require_routes(result, missing)
                yield self._write(router, result)
                if self.stopwatch() >= ends:
                    break
        if self.query.payer:
            missing += yield from self._tell_for_wallet(router, result, ends)
        yield {"type": "done", "best": self._best, "unavailable": missing}

    def _tell_for_wallet(
        self, router: Router, result: RouteResult, ends: float
    ) -> Generator[Message, None, list[dict[str, str]]]:
        """Yield what bridges confirm, then the best route with its legs; return who has confirmed nothing."""
        search = FirmSearch(
            resources=self.resources,
            query=self.query,
            access=self.resources.chain_access.get(self.env_mode),
            has_key=self.has_key,
            stopwatch=self.stopwatch,
        )
        markets = router.snapshot.markets
        for following, confirmed in search.improve(router, result, ends):
            markets, result = following.snapshot.markets, confirmed
            yield self._write(router, result, search.is_firm)
        desk = open_desk(self.resources, self.query, self.env_mode, has_key=self.has_key)
        message = self._write(router, result, search.is_firm)
        route = message["route"]
        patience_s = min(PATIENCE_S, ends - self.stopwatch())
        route["legs"] = desk.describe_legs(result.best(), markets, route["expiresAt"], patience_s)
        yield message
        return [{"protocol": name, "reason": reason} for name, reason in search.unconfirmed.items()]

    def _write(self, router: Router, result: RouteResult, is_firm: IsFirm | None = None) -> Message:
        """Write a message; the snapshot that a route names is the one that was read."""
        writer = make_route_writer(self.resources, router, self.query)
        route = write_routes(replace(writer, is_firm=is_firm), result)
        self._best = route["id"]
        return {"type": "route", "seq": next(self._numbers), "route": route}

"""How many requests a minute, by key or by address."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from functools import partial
from http import HTTPStatus
from ipaddress import IPv6Network, ip_address
from typing import Any

import structlog
from flask import Blueprint, Flask, Response, request
from flask_limiter import Limiter, RequestLimit
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from api.config import Config
from api.recent_requests import SCHEME
from api.security import find_caller_key

IPV6_CUSTOMER_BITS = 64
COSTLY_SHARE = 5
ORDER_SHARE = 5
"""Part of an address's requests to payment pages that may be for one order."""

log = structlog.get_logger(__name__)


class RateLimits:
    """Limits of one application.

    Counted in Redis where `Config.redis_url` names one, and in this process while Redis is down or without it.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._pages: set[str] = set()
        self._limiter = Limiter(
            _name_caller,
            storage_uri=config.redis_url or f"{SCHEME}://",
            storage_options=_choose_redis_options() if config.redis_url else {},
            in_memory_fallback_enabled=config.redis_url is not None,
            strategy="moving-window",
            key_prefix="checkout",
            # While Redis is away it counts in a memory of its own: two threads that start that one's timer at once make
            # it fail, which is no customer's fault.
            swallow_errors=True,
        )

    def install(self, app: Flask) -> None:
        """Count from here on, before each request, and say so in each answer to a program."""
        self._limiter.init_app(app)
        app.after_request(self._describe)

    def protect(self, blueprint: Blueprint, *, routing: bool = False, replaying: bool = False) -> None:
        """Count the requests to `blueprint`.

        Parameters
        ----------
        routing : bool
            Whether its requests search routes, which are counted once more, by themselves.
        replaying : bool
            Whether its requests make a market ready first, of which there may be a fifth as many.
        """
        self._limiter.shared_limit(self._choose_general_limit, scope="api")(blueprint)
        if routing:
            self._limiter.shared_limit(f"{self._config.rate_limit_routing} per minute", scope="routing")(blueprint)
        if replaying:
            most = max(1, self._config.rate_limit_routing // COSTLY_SHARE)
            self._limiter.shared_limit(f"{most} per minute", scope="replaying")(blueprint)

    def protect_trials(self, blueprint: Blueprint, asks_for_trial: Callable[[], bool]) -> None:
        """Count those requests to `blueprint` once more that have transactions tried: a fifth of what may search.

        Parameters
        ----------
        asks_for_trial : callable
            Whether the request that is being served is one.
        """
        amount = max(1, self._config.rate_limit_routing // COSTLY_SHARE)
        limit = self._limiter.shared_limit(
            f"{amount} per minute", scope="trials", exempt_when=lambda: not asks_for_trial()
        )
        limit(blueprint)

    def protect_export(self, blueprint: Blueprint) -> None:
        """Count the requests to `blueprint`, which reads all orders: a fifth of what may search routes."""
        self.protect(blueprint)
        amount = max(1, self._config.rate_limit_routing // COSTLY_SHARE)
        self._limiter.shared_limit(f"{amount} per minute", scope="export")(blueprint)

    def protect_page(self, blueprint: Blueprint, costly: Collection[str]) -> None:
        """Count the requests to the payment page.

        An order's id is a credential of its customer: each order is counted by itself, so that nobody uses up what an
        address gets. Behind one address there may be many customers, who must not lock each other out.

        Parameters
        ----------
        costly : collection of str
            Views that search many routes or ask chains, which are counted once more: by address, and for one order a
            fifth of what an API key may search.
        """
        an_order = f"{max(1, self._config.rate_limit_page // ORDER_SHARE)} per minute"
        self._limiter.shared_limit(an_order, scope="order", key_func=_name_caller_and_order)(blueprint)
        self.protect_page_files(blueprint)
        is_cheap = partial(_is_none_of, frozenset(f"{blueprint.name}.{name}" for name in costly))
        for amount, scope, key in (
            (max(1, self._config.rate_limit_page // COSTLY_SHARE), "customers", _name_caller),
            (max(1, self._config.rate_limit_routing // COSTLY_SHARE), "costly", _name_caller_and_order),
        ):
            self._limiter.shared_limit(f"{amount} per minute", scope=scope, key_func=key, exempt_when=is_cheap)(
                blueprint
            )

    def protect_page_files(self, blueprint: Blueprint) -> None:
        """Count the requests to files that the payment pages of several orders share."""
        self._pages.add(blueprint.name)
        self._limiter.shared_limit(f"{self._config.rate_limit_page} per minute", scope="page")(blueprint)

    def _choose_general_limit(self) -> str:
        amount = self._config.rate_limit_keyless if find_caller_key() is None else self._config.rate_limit_key
        return f"{amount} per minute"

    def _describe(self, response: Response) -> Response:
        limits = self._limiter.current_limits
        is_refused = response.status_code == HTTPStatus.TOO_MANY_REQUESTS
        if not limits or (request.blueprint in self._pages and not is_refused):
            return response
        try:
            response.headers.update(_describe_tightest(limits, is_refused=is_refused))
        except RedisError as error:  # gone since it counted this request, whose answer stands
            log.warning("limits_not_described", kind=type(error).__name__)
            if is_refused:
                response.headers["Retry-After"] = str(max(limit.limit.get_expiry() for limit in limits))
        return response


def _describe_tightest(limits: Collection[RequestLimit], *, is_refused: bool) -> dict[str, str]:
    """Write the headers of the limit that is reached first; what is left of each is asked of whoever counts."""
    tightest = min(limits, key=lambda limit: (not limit.breached, limit.remaining))
    # The end of the window comes rounded up; no caller has to wait longer than a whole window.
    seconds = min(max(1, tightest.reset_at - int(time.time())), tightest.limit.get_expiry())
    headers = {
        "RateLimit-Limit": str(tightest.limit.amount),
        "RateLimit-Remaining": str(max(0, tightest.remaining)),
        "RateLimit-Reset": str(seconds),
    }
    return headers | ({"Retry-After": str(seconds)} if is_refused else {})


def _is_none_of(endpoints: Collection[str]) -> bool:
    return request.endpoint not in endpoints


def _choose_redis_options() -> dict[str, Any]:
    """Give Redis a second to answer, once: the client's own retries would hold a request up for ten."""
    return {"socket_connect_timeout": 1, "socket_timeout": 1, "retry": Retry(NoBackoff(), 0)}


def _name_caller() -> str:
    key = find_caller_key()
    return f"key:{key.key_id}" if key else f"address:{find_customer_network(request.remote_addr or '')}"


def _name_caller_and_order() -> str:
    return f"{_name_caller()}:{(request.view_args or {}).get('order_id', '')}"


def find_customer_network(address: str) -> str:
    """Take the IPv6 addresses of one customer, who is given a /64 at least, for one."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    return address if parsed.version == 4 else str(IPv6Network((int(parsed), IPV6_CUSTOMER_BITS), strict=False))

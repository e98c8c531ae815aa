"""How many requests a minute, by key or by address."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from ipaddress import IPv6Network, ip_address

from flask import Blueprint, Flask, Response, g, request
from limits import RateLimitItem, RateLimitItemPerMinute
from werkzeug.exceptions import TooManyRequests

from api.config import Config
from api.counting.request_counts import RequestCounts
from api.web.security import find_caller_key

IPV6_CUSTOMER_BITS = 64
COSTLY_SHARE = 5
ORDER_SHARE = 5
"""Part of an address's requests to payment pages that may be for one order."""
PREFIX = "checkout"
"""Of what is counted in a Redis that others may use too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One limit of the requests to a blueprint.

    Parameters
    ----------
    choose : callable
        Returns the limit for whoever asks.
    scope : str
        Requests to all blueprints with a rule of this scope count together.
    name : callable
        Says who asks.
    applies : callable
        Whether the request that is being served is counted.
    """

    choose: Callable[[], RateLimitItem]
    scope: str
    name: Callable[[], str]
    applies: Callable[[], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A limit that a request was counted for: the words it is counted under, and whether it was one too many."""

    limit: RateLimitItem
    names: tuple[str, ...]
    is_breached: bool


class RateLimits:
    """Limits of one application.

    Counted in Redis where `Config.redis_url` names one, and by the processes of this machine while Redis is down or
    without it.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._counts = RequestCounts(config.redis_url, config.data_dir)
        self._rules: dict[str, list[Rule]] = defaultdict(list)
        self._pages: set[str] = set()
        self._keyless = RateLimitItemPerMinute(config.rate_limit_keyless)
        self._keyed = RateLimitItemPerMinute(config.rate_limit_key)

    def install(self, app: Flask) -> None:
        """Count from here on, before each request, and say so in each answer to a program."""
        app.before_request(self._count)
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
        self._rules[blueprint.name].append(
            Rule(choose=self._choose_general_limit, scope="api", name=_name_caller, applies=_is_any)
        )
        if routing:
            self._add(blueprint, self._config.rate_limit_routing, "routing")
        if replaying:
            self._add(blueprint, self._config.rate_limit_routing // COSTLY_SHARE, "replaying")

    def protect_trials(self, blueprint: Blueprint, asks_for_trial: Callable[[], bool]) -> None:
        """Count those requests to `blueprint` once more that have transactions tried: a fifth of what may search.

        Parameters
        ----------
        asks_for_trial : callable
            Whether the request that is being served is one.
        """
        self._add(blueprint, self._config.rate_limit_routing // COSTLY_SHARE, "trials", applies=asks_for_trial)

    def protect_export(self, blueprint: Blueprint) -> None:
        """Count the requests to `blueprint`, which reads all orders: a fifth of what may search routes."""
        self.protect(blueprint)
        self._add(blueprint, self._config.rate_limit_routing // COSTLY_SHARE, "export")

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
        pages, routing = self._config.rate_limit_page, self._config.rate_limit_routing
        self._add(blueprint, pages // ORDER_SHARE, "order", name=_name_caller_and_order)
        self.protect_page_files(blueprint)
        is_costly = partial(_is_one_of, frozenset(f"{blueprint.name}.{name}" for name in costly))
        self._add(blueprint, pages // COSTLY_SHARE, "customers", applies=is_costly)
        self._add(blueprint, routing // COSTLY_SHARE, "costly", name=_name_caller_and_order, applies=is_costly)

    def protect_page_files(self, blueprint: Blueprint) -> None:
        """Count the requests to files that the payment pages of several orders share."""
        self._pages.add(blueprint.name)
        self._add(blueprint, self._config.rate_limit_page, "page")

    def _add(
        self,
        blueprint: Blueprint,
        amount: int,
        scope: str,
        *,
        name: Callable[[], str] | None = None,
        applies: Callable[[], bool] | None = None,
    ) -> None:
        """Add a rule of so many requests a minute, one at the least; of each caller, and for every request."""
        limit = RateLimitItemPerMinute(max(1, amount))
        rule = Rule(choose=lambda: limit, scope=scope, name=name or _name_caller, applies=applies or _is_any)
        self._rules[blueprint.name].append(rule)

    def _choose_general_limit(self) -> RateLimitItem:
        return self._keyless if find_caller_key() is None else self._keyed

    def _count(self) -> None:
        """Count the request for each of its blueprint's rules, up to the first that it breaks."""
        counted: list[Counted] = []
        g.counted = counted
        for rule in self._rules.get(request.blueprint or "", ()):
            if not rule.applies():
                continue
            limit, names = rule.choose(), (PREFIX, rule.name(), rule.scope)
            is_breached = not self._counts.take(limit, *names)
            counted.append(Counted(limit=limit, names=names, is_breached=is_breached))
            if is_breached:
                raise TooManyRequests

    def _describe(self, response: Response) -> Response:
        counted: list[Counted] = g.get("counted", [])
        is_refused = response.status_code == HTTPStatus.TOO_MANY_REQUESTS
        if not counted or (request.blueprint in self._pages and not is_refused):
            return response
        windows = [(each, self._counts.read(each.limit, *each.names)) for each in counted]
        tightest, window = min(windows, key=lambda pair: (not pair[0].is_breached, pair[1].remaining))
        # The end of the window is rounded up; no caller has to wait longer than a whole window.
        seconds = min(max(1, int(window.reset_time + 1) - int(time.time())), tightest.limit.get_expiry())
        response.headers["RateLimit-Limit"] = str(tightest.limit.amount)
        response.headers["RateLimit-Remaining"] = str(max(0, window.remaining))
        response.headers["RateLimit-Reset"] = str(seconds)
        if is_refused:
            response.headers["Retry-After"] = str(seconds)
        return response


def _is_any() -> bool:
    return True


def _is_one_of(endpoints: Collection[str]) -> bool:
    return request.endpoint in endpoints


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
    if parsed.version == 4:
        return address
    if parsed.ipv4_mapped:  # as a socket of both families says it: all of IPv4 would be one customer
        return str(parsed.ipv4_mapped)
    return str(IPv6Network((int(parsed), IPV6_CUSTOMER_BITS), strict=False))

"""What a customer's waiting is worth, in the terms of the search for routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.domain.currencies import DOLLAR_TOKENS
from api.services.checkout.costs import Values
from routing_engine import Token
from routing_engine.errors import UnknownToken
from routing_engine.fixed_point import BPS
from routing_engine.objective import BALANCED, SECONDS_PER_HOUR
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from routing_engine import Router

MINUTES_PER_HOUR = 60


def weigh_hour(router: Router, settled: Token, due: int, dollars_a_minute: float) -> float:
    """Return what an hour of waiting is worth, in bps of what is due.

    Parameters
    ----------
    due : int
        Smallest units of `settled`.
    dollars_a_minute : float
        What a minute is worth to a customer.

    Returns
    -------
    float
        The engine's own rate for `balanced` where nobody says what `settled` is worth in dollars.
    """
    dollar = _find_dollar(router, settled)
    if dollar is None:
        return BALANCED.time_cost_per_s * SECONDS_PER_HOUR * BPS
    return dollars_a_minute * MINUTES_PER_HOUR * dollar / due * BPS


def is_slow(seconds: int) -> bool:
    """Tell whether a payment takes so long that a customer is asked first."""
    return seconds > SECONDS_PER_HOUR


def price_waiting(due: int, hour_bps: float, seconds: int) -> int:
    """Return what waiting so long is worth, in the smallest units of what is due."""
    return round(due * hour_bps / BPS * seconds / SECONDS_PER_HOUR)


def _find_dollar(router: Router, settled: Token) -> int | None:
    """Return a dollar in the smallest units of a token, or None; a dollar token is taken for one."""
    if settled.symbol in DOLLAR_TOKENS:
        return int(10**settled.decimals)
    values = Values(router, settled)
    worth = (values.value(token, 10**token.decimals) for token in _list_dollars())
    return next((each for each in worth if each), None)


def _list_dollars() -> Iterator[Token]:
    for symbol in DOLLAR_TOKENS:
        for chain_id in CHAINS:
            try:
                yield token_registry.token(symbol, chain_id)
            except UnknownToken:
                continue

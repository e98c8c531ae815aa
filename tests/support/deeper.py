"""Markets that hold so much more or less of everything, at the same price: to hold shadow prices to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from routing_engine import Market
from routing_engine.markets import Level

Scale = Callable[[int], int]


def scale_market(market: Market, numerator: int, denominator: int) -> Market:
    """Return a market with ``numerator / denominator`` of all that it holds, rounded to units."""

    def scale(amount: int) -> int:
        return amount * numerator // denominator

    changes = _CHANGES[market.kind](market, scale)
    return replace(market, **changes)  # type: ignore[type-var]


def _scale_fields(*names: str) -> Callable[[Any, Scale], dict[str, Any]]:
    def change(market: Any, scale: Scale) -> dict[str, Any]:
        return {
            name: tuple(map(scale, value)) if isinstance(value, tuple) else scale(value)
            for name in names
            for value in [getattr(market, name)]
        }

    return change


def _scale_ticks(market: Any, scale: Scale) -> dict[str, Any]:
    """Scale each net by what it adds up to, so that active liquidity fits it to the unit."""
    active, ticks, before = 0, [], 0
    for index, net in market.ticks:
        active += net
        ticks.append((index, scale(active) - before))
        before = scale(active)
    return {"ticks": tuple(ticks), "liquidity": scale(market.liquidity)}


def _scale_levels(market: Any, scale: Scale) -> dict[str, Any]:
    return {"levels": tuple(Level(scale(level.amount_in), level.price_in, level.price_out) for level in market.levels)}


_RESERVES, _BALANCES = _scale_fields("reserve0", "reserve1"), _scale_fields("balances")
_CHANGES: Mapping[str, Callable[[Any, Scale], dict[str, Any]]] = {
    "constant_product": _RESERVES,
    "bancor": _RESERVES,
    "solidly": _RESERVES,
    "concentrated": _scale_ticks,
    "ekubo": _scale_ticks,
    "weighted": _BALANCES,
    "balancer_v1": _BALANCES,
    "balancer_stable": _BALANCES,
    "stableswap": _BALANCES,
    "cryptoswap": _scale_fields("balances", "d"),
    "fluid": _scale_fields("collateral", "debt", "withdrawable", "borrowable"),
    "ladder": _scale_levels,
}

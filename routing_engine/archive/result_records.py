"""Results as JSON values: amounts are digit strings, tokens ``address@chain``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import zip_longest
from typing import Any

from routing_engine.certificate import Certificate
from routing_engine.fixed_point import BPS
from routing_engine.model import Fee, Hop
from routing_engine.result import RouteResult
from routing_engine.route import Route

_OF_CERTIFICATE = [field.name for field in fields(Certificate)]


def describe_result(result: RouteResult) -> dict[str, Any]:
    """Return everything that a search answered: what another search of the same must answer, too."""
    pairs = zip_longest(result.routes, result.certificates)
    return {
        "snapshot_id": result.snapshot_id,
        "status": str(result.status),
        "is_complete": result.is_complete,
        "routes": [describe_route(route, certificate) for route, certificate in pairs],
        "refused": [describe_route(route) for route in result.refused],
        "unavailable": [
            {"protocol": entry.protocol, "reason": str(entry.reason), "detail": entry.detail}
            for entry in result.unavailable
        ],
    }


def describe_route(route: Route, certificate: Certificate | None = None) -> dict[str, Any]:
    """Return a route, its steps in an order in which they can run, and what was proven of it."""
    return {
        "side": str(route.side),
        "token_in": route.token_in.key,
        "token_in_symbol": route.token_in.symbol,
        "token_out": route.token_out.key,
        "token_out_symbol": route.token_out.symbol,
        "amount_in": str(route.amount_in),
        "amount_out": str(route.amount_out),
        "amount_out_net": str(route.amount_out_net),
        "amount_in_gross": str(route.amount_in_gross),
        "gas": route.gas,
        "gas_cost_in": str(route.gas_cost_in),
        "gas_cost_out": str(route.gas_cost_out),
        "gas_priced": route.gas_priced,
        "fill_time_s": route.fill_time_s,
        "price": route.price,
        "price_impact_bps": _bps(route.price_impact),
        "fees": _describe_fees(route.fees),
        "steps": list(list_steps(route)),
        "certificate": {name: getattr(certificate, name) for name in _OF_CERTIFICATE} if certificate else None,
    }


def list_steps(route: Route) -> Iterator[dict[str, Any]]:
    """Yield a record for each hop."""
    for hop in route.hops:
        yield _describe_hop(hop)


def _describe_hop(hop: Hop) -> dict[str, Any]:
    return {
        "market": hop.market_id,
        "protocol": hop.protocol,
        "token_in": hop.token_in.key,
        "token_in_symbol": hop.token_in.symbol,
        "token_out": hop.token_out.key,
        "token_out_symbol": hop.token_out.symbol,
        "amount_in": str(hop.amount_in),
        "amount_out": str(hop.amount_out),
        "fees": _describe_fees(hop.fees),
        "gas": hop.gas,
        "fill_time_s": hop.fill_time_s,
        "price_impact_bps": _bps(hop.price_impact),
    }


def _describe_fees(fees: Iterable[Fee]) -> list[dict[str, Any]]:
    return [
        {
            "amount": str(fee.amount),
            "token": fee.token.key,
            "symbol": fee.token.symbol,
            "name": fee.name,
            "included": fee.included,
        }
        for fee in fees
    ]


def _bps(fraction: float) -> float:
    return round(fraction * BPS, 2)

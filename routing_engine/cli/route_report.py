"""Routes for programs: one JSON object, or CSV with a row for each step."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import zip_longest
from typing import Any

from routing_engine.certificate import Certificate
from routing_engine.fixed_point import BPS
from routing_engine.model import Fee, Hop
from routing_engine.request import RouteResult
from routing_engine.route import Route

CSV_COLUMNS = (
    "route", "step", "market", "protocol", "token_in", "token_in_symbol", "token_out", "token_out_symbol",
    "amount_in", "amount_out", "fees", "gas", "fill_time_s", "price_impact_bps",
)  # fmt: skip


def document(result: RouteResult, *, elapsed_ms: float, load_ms: float) -> dict[str, Any]:
    """Return the JSON document of a result that has routes; amounts are digit strings.

    Parameters
    ----------
    result : RouteResult
        With at least one route: the best at the top level, the rest under ``alternatives``.
    elapsed_ms, load_ms : float
        Of the search alone, and of everything before it.
    """
    return {
        "snapshot_id": result.snapshot_id,
        "order": result.request.order,
        **_route(result.best()),
        "certificate": _certificate(result.certificate),
        "alternatives": [
            _route(route) | {"certificate": _certificate(certificate)}
            for route, certificate in zip_longest(result.routes[1:], result.certificates[1:])
        ],
        "elapsed_ms": round(elapsed_ms, 3),
        "load_ms": round(load_ms, 3),
    }


def csv_text(result: RouteResult) -> str:
    """Return a header and one row for each step; `route` is 0 for the best and counts the alternatives.

    `fees` holds ``amount token name``, separated by semicolons.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for number, route in enumerate(result.routes):
        for position, step in enumerate(_steps(route)):
            fees = "; ".join(f"{fee['amount']} {fee['token']} {fee['name']}" for fee in step["fees"])
            writer.writerow({"route": number, "step": position} | step | {"fees": fees})
    return text.getvalue()


def _route(route: Route) -> dict[str, Any]:
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
        "fees": _fees(route.fees),
        "steps": list(_steps(route)),
    }


def _certificate(certificate: Certificate | None) -> dict[str, Any] | None:
    return asdict(certificate) if certificate else None


def _steps(route: Route) -> Iterator[dict[str, Any]]:
    for hop in route.hops:
        yield _step(hop)


def _step(hop: Hop) -> dict[str, Any]:
    return {
        "market": hop.market_id,
        "protocol": hop.protocol,
        "token_in": hop.token_in.key,
        "token_in_symbol": hop.token_in.symbol,
        "token_out": hop.token_out.key,
        "token_out_symbol": hop.token_out.symbol,
        "amount_in": str(hop.amount_in),
        "amount_out": str(hop.amount_out),
        "fees": _fees(hop.fees),
        "gas": hop.gas,
        "fill_time_s": hop.fill_time_s,
        "price_impact_bps": _bps(hop.price_impact),
    }


def _fees(fees: Iterable[Fee]) -> list[dict[str, Any]]:
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

"""Routes for programs: one JSON object, or CSV with a row for each step."""

from __future__ import annotations

import csv
import io
from itertools import zip_longest
from typing import Any

from routing_engine.archive.result_records import describe_route, list_steps
from routing_engine.result import RouteResult

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
        **describe_route(result.best(), result.certificate),
        "alternatives": [describe_route(*each) for each in zip_longest(result.routes[1:], result.certificates[1:])],
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
        for position, step in enumerate(list_steps(route)):
            fees = "; ".join(f"{fee['amount']} {fee['token']} {fee['name']}" for fee in step["fees"])
            writer.writerow({"route": number, "step": position} | step | {"fees": fees})
    return text.getvalue()

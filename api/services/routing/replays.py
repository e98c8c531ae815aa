"""Quotes made again, on the market that they were made on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from api.domain.errors import Conflict, Gone
from api.services.resources import Resources
from api.services.routing.query import RouteQuery
from api.services.routing.quotes import Owner, describe_answer, find_quote, write_quote
from api.storage.tables import StoredQuote
from routing_engine import RouteResult, __version__
from routing_engine.archive.archive import Archive, find_difference
from routing_engine.archive.request_records import read_request

if TYPE_CHECKING:
    from routing_engine import Router


def replay_quote(resources: Resources, quote_id: str, owner: Owner | None) -> dict[str, Any]:
    """Search the quote's market again and return what that gives: the same quote, bit for bit.

    Raises
    ------
    NotFound, Gone
        As `find_quote`.
    Conflict
        If this process runs another version of the engine, which answers otherwise.
    """
    row, router = _read(resources, quote_id, owner)
    result = _search_again(row, router)
    rests_on = row.body["rests_on"]
    query = RouteQuery(request=result.request, slippage_bps=rests_on["slippage_bps"])
    again = {"quote": write_quote(query, result, row.id, row.created_at), "answer": describe_answer(result)}
    difference = find_difference({name: row.body[name] for name in again}, again)
    if difference:
        engines = f"routing-engine {rests_on['engine']} made this quote, and {__version__} runs now"
        raise Conflict(f"The quote cannot be made again: {difference} differs; {engines}")
    return again["quote"]


def archive_quote(resources: Resources, quote_id: str, owner: Owner | None) -> dict[str, Any]:
    """Return a quote's question, market and answer as a file for `routing-engine replay`; raises as `replay_quote`."""
    row, router = _read(resources, quote_id, owner)
    return Archive.of(_search_again(row, router), router.snapshot).describe()


def _read(resources: Resources, quote_id: str, owner: Owner | None) -> tuple[StoredQuote, Router]:
    with resources.database.read() as session:
        row = find_quote(resources, session, quote_id, owner)
        if "answer" not in row.body:
            raise Gone("This quote was made by an earlier version of the service; ask for a new one")
        session.expunge(row)
        router = resources.snapshots.find_router(session, row.body["answer"]["snapshot_id"])
    if router is None:
        raise Gone("The market of this quote is kept no longer; ask for a new quote")
    return row, router


def _search_again(row: StoredQuote, router: Router) -> RouteResult:
    rests_on: Mapping[str, Any] = row.body["rests_on"]
    return router.find_routes(read_request(rests_on["request"]))

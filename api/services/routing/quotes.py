"""Quotes: what a swap gives now, kept under an id with all that it rests on."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TypeAlias

from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.errors import Gone, NotFound
from api.domain.ids import IdPrefix, make_id, read_time
from api.services.market.source_problems import list_left_out
from api.services.resources import Resources
from api.services.routing.query import RouteQuery
from api.services.routing.routes import explain_incomplete, make_route_writer, require_routes, unknown_is_no_route
from api.services.routing.serializers import VALID_FOR, RouteWriter
from api.services.routing.token_serializers import checksum
from api.storage.rows import NewRow
from api.storage.tables import StoredQuote
from routing_engine import RouteResult, Side, Snapshot, __version__
from routing_engine.archive.request_records import describe_request

KEPT = timedelta(hours=24)
"""How long a quote can be shown and replayed."""
Owner: TypeAlias = tuple[str, EnvMode]
"""Whose a quote is: a vendor's id, and the environment of the key that asked for it."""


def make_quote(resources: Resources, query: RouteQuery, owner: Owner | None) -> dict[str, str]:
    """Quote the best route and store the quote with the route and the market that it rests on.

    Parameters
    ----------
    owner : Owner or None
        Who asked, if known.

    Raises
    ------
    RouteNotFound
        If there is no route.
    """
    router, sources = resources.market.current()
    missing = list_left_out(sources)
    with unknown_is_no_route(router):
        result = resources.searches.find_routes(router, query.request)
    best = require_routes(result, missing)[0]
    writer = make_route_writer(resources, router, query)
    quote_id = make_id(IdPrefix.QUOTE, writer.at)
    answer = write_quote(writer, result, quote_id)
    rests_on = {"request": describe_request(result.request), "slippage_bps": query.slippage_bps, "engine": __version__}
    _keep_market(resources, router.snapshot, writer.at + KEPT)
    vendor_id, env_mode = owner or (None, None)
    route = writer.route(best, result.certificate)
    given = {
        "id": quote_id,
        "vendor_id": vendor_id,
        "body": {"quote": answer, "route": route, "rests_on": rests_on, "env_mode": env_mode},
        "created_at": writer.at,
        "expires_at": writer.at + VALID_FOR,
    }
    resources.database.write_rows([NewRow(table=StoredQuote, given=given)])
    return answer


def _keep_market(resources: Resources, snapshot: Snapshot, until: datetime) -> None:
    """Store a market before the quote that rests on it; a market without a quote does no harm."""
    with resources.database.look() as place:
        if resources.snapshots.is_kept(place, snapshot.id, until):
            return
    packed = resources.snapshots.pack(snapshot)
    with resources.database.write() as session:
        resources.snapshots.keep(session, packed, until)


def get_quote(resources: Resources, quote_id: str, owner: Owner | None) -> dict[str, str]:
    """Return a quote that was given before, while it holds.

    Raises
    ------
    NotFound
        If this caller may see no such quote.
    Gone
        If it has expired.
    """
    with resources.database.read() as session:
        row = find_quote(resources, session, quote_id, owner)
    if resources.clock.now() >= row.expires_at:
        raise Gone(f"The quote expired at {format_time(row.expires_at)}; ask for a new one")
    quote: dict[str, str] = row.body["quote"]
    return quote


def find_quote(resources: Resources, session: Session, quote_id: str, owner: Owner | None) -> StoredQuote:
    """Return a quote that this caller may see: its own, or one that was made without a key.

    Raises
    ------
    NotFound
        If there is none: what is of the vendor's other environment counts as another vendor's.
    Gone
        If it was made too long ago.
    """
    now = resources.clock.now()
    made_at = read_time(quote_id)
    if quote_id.startswith(f"{IdPrefix.QUOTE}_") and made_at is not None and made_at < now - KEPT:
        raise Gone("This quote was made more than 24 hours ago; ask for a new one")
    row = session.get(StoredQuote, quote_id)
    if row is None or "rests_on" not in row.body or not _is_visible(row, owner):
        raise NotFound(f"There is no quote {quote_id!r}")
    return row


def _is_visible(row: StoredQuote, owner: Owner | None) -> bool:
    """Whether a quote was made without a key, or with one of this owner's; one of an earlier version names no key."""
    vendor_id, env_mode = owner or (None, None)
    return row.vendor_id is None or (row.vendor_id == vendor_id and row.body.get("env_mode", env_mode) == env_mode)


def write_quote(writer: RouteWriter, result: RouteResult, quote_id: str) -> dict[str, str]:
    """Write the fields of the interface; with a fixed output this is what is promised, not what rounding adds."""
    route = result.best()
    exact_out = route.side is Side.EXACT_OUT
    query = writer.query
    most = {"inputAmountMax": str(query.most_in(route.amount_in))} if exact_out else {}
    return {
        "toAmount": str(query.request.amount if exact_out else route.amount_out),
        "toAmountMin": str(query.least_out(route.amount_out)),
        "toToken": checksum(route.token_out.address),
        "toChain": str(route.token_out.chain_id),
        "fromToken": checksum(route.token_in.address),
        "fromAmount": str(route.amount_in),
        "fromChain": str(route.token_in.chain_id),
        **most,
        "quoteId": quote_id,
        "expiresAt": format_time(writer.at + VALID_FOR),
        "incompleteReason": explain_incomplete(result),
    }

"""Quotes: what a swap gives now, kept under an id with all that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, TypeAlias, cast

from sqlalchemy import Table, bindparam, insert, select
from sqlalchemy.orm import Session

from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.errors import Gone, NotFound
from api.domain.ids import IdPrefix, make_id, read_time
from api.services.market.snapshots import IS_KEPT
from api.services.market.source_problems import list_left_out
from api.services.resources import Resources
from api.services.routing.query import RouteQuery
from api.services.routing.routes import explain_incomplete, require_routes, unknown_is_no_route
from api.services.routing.serializers import GAP_DIGITS, VALID_FOR
from api.services.routing.token_serializers import checksum
from api.storage.rows import NewRow
from api.storage.statements import DirectConnection, Statement
from api.storage.tables import StoredQuote
from routing_engine import RouteResult, Side, Snapshot, __version__
from routing_engine.archive.request_records import describe_request
from routing_engine.archive.result_records import describe_result

KEPT = timedelta(hours=24)
"""How long a quote can be shown and replayed."""
_TABLE = cast(Table, StoredQuote.__table__)
_COLUMNS = ("id", "vendor_id", "body", "created_at", "expires_at")
_GIVEN = [bindparam(name, type_=_TABLE.c[name].type) for name in _COLUMNS]
_INSERT_ON_MARKET = Statement(
    insert(_TABLE).from_select(_COLUMNS, select(*_GIVEN).where(IS_KEPT), include_defaults=False).returning(_TABLE.c.id)
)

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
    require_routes(result, missing)
    at = resources.clock.now()
    quote_id = make_id(IdPrefix.QUOTE, at)
    quote = write_quote(query, result, quote_id, at)
    rests_on = {"request": describe_request(result.request), "slippage_bps": query.slippage_bps, "engine": __version__}
    vendor_id, env_mode = owner or (None, None)
    given = {
        "id": quote_id,
        "vendor_id": vendor_id,
        "body": {"quote": quote, "answer": describe_answer(result), "rests_on": rests_on, "env_mode": env_mode},
        "created_at": at,
        "expires_at": at + VALID_FOR,
    }
    _store(resources, given, router.snapshot)
    return quote


def _store(resources: Resources, given: Mapping[str, Any], snapshot: Snapshot) -> None:
    """Store a quote; the market that it rests on before, where nobody has yet. A market without a quote does no harm.

    A quote does not wait for the disk: a power cut loses those of the last moments, and takes longer than they hold.
    """
    until = given["created_at"] + KEPT
    insertion = _Insertion({**given, "market_id": snapshot.id, "kept_until": until})
    resources.database.write_at_once(insertion, is_lasting=False)
    if not insertion.has_inserted:
        packed = resources.snapshots.pack(snapshot)
        with resources.database.write() as session:
            resources.snapshots.keep(session, packed, until)
        resources.database.write_rows([NewRow(table=StoredQuote, given=given)])


class _Insertion:
    """Inserts a quote if the market that it rests on is kept for as long, by one statement."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values
        self.has_inserted = False

    def __call__(self, place: DirectConnection) -> None:
        self.has_inserted = bool(_INSERT_ON_MARKET.fetch(place, self._values))


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


def describe_answer(result: RouteResult) -> dict[str, Any]:
    """Return what the engine answered, as far as another processor answers the same: what is proven, roundly."""
    answer = describe_result(result)
    for route in answer["routes"]:
        proven = route["certificate"]
        for name in ("gap_bps", "all_flows_gap_bps") if proven else ():
            proven[name] = None if proven[name] is None else round(proven[name], GAP_DIGITS)
    return answer


def write_quote(query: RouteQuery, result: RouteResult, quote_id: str, at: datetime) -> dict[str, str]:
    """Write the fields of the interface; with a fixed output this is what is promised, not what rounding adds."""
    route = result.best()
    exact_out = route.side is Side.EXACT_OUT
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
        "expiresAt": format_time(at + VALID_FOR),
        "incompleteReason": explain_incomplete(result),
    }

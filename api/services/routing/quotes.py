"""Quotes: what a swap gives now, kept for a minute under an id."""

from __future__ import annotations

from api.domain.clock import format_time
from api.domain.errors import Gone, NotFound
from api.domain.ids import IdPrefix, make_id
from api.services.market.source_problems import list_left_out
from api.services.resources import Resources
from api.services.routing.query import RouteQuery
from api.services.routing.routes import make_route_writer, require_routes, unknown_is_no_route
from api.services.routing.serializers import VALID_FOR
from api.services.routing.token_serializers import checksum
from api.storage.tables import StoredQuote
from routing_engine import Route, Side


def make_quote(resources: Resources, query: RouteQuery, vendor_id: str | None) -> dict[str, str]:
    """Quote the best route and store the quote with the route that it rests on.

    Parameters
    ----------
    vendor_id : str or None
        Who asked, if known.

    Raises
    ------
    RouteNotFound
        If there is no route.
    """
    router, sources = resources.market.current()
    missing = list_left_out(sources)
    with unknown_is_no_route(router):
        result = router.find_routes(query.request)
    best = require_routes(result, missing)[0]
    writer = make_route_writer(resources, router, query)
    quote_id = make_id(IdPrefix.QUOTE, writer.at)
    expires_at = writer.at + VALID_FOR
    answer = _describe_amounts(query, best) | {"quoteId": quote_id, "expiresAt": format_time(expires_at)}
    with resources.database.write() as session:
        session.add(
            StoredQuote(
                id=quote_id,
                vendor_id=vendor_id,
                body={"quote": answer, "route": writer.route(best)},
                created_at=writer.at,
                expires_at=expires_at,
            )
        )
    return answer


def get_quote(resources: Resources, quote_id: str, vendor_id: str | None) -> dict[str, str]:
    """Return a quote that was given before; one that was asked for with a key is its vendor's alone.

    Raises
    ------
    NotFound
        If there is none with this id, or it is another vendor's, or an order's.
    Gone
        If it has expired.
    """
    with resources.database.read() as session:
        row = session.get(StoredQuote, quote_id)
    if row is None or row.order_id is not None or row.vendor_id not in (None, vendor_id):
        raise NotFound("There is no quote with this id")
    if resources.clock.now() >= row.expires_at:
        raise Gone(f"The quote expired at {format_time(row.expires_at)}; ask for a new one")
    quote: dict[str, str] = row.body["quote"]
    return quote


def _describe_amounts(query: RouteQuery, route: Route) -> dict[str, str]:
    """Write the seven fields of the interface; with a fixed output this is what is promised, not what rounding adds.

    Then it is the input that may move: what it takes at most is said too.
    """
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
    }

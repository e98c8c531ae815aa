"""Quotes for cross-chain swaps."""

from __future__ import annotations

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.schemas.routing.quotes import QuoteQuerySchema, QuoteSchema
from api.services.routing.query import RouteQuery
from api.services.routing.quotes import get_quote, make_quote
from api.web.security import find_owner, key_optional

blueprint = Blueprint(
    "quotes", __name__, url_prefix="/api/v1/quote", description="What a swap gives at the market rate"
)


@blueprint.get("", operation="getQuote")
@key_optional
@blueprint.query(QuoteQuerySchema)
@blueprint.answer(QuoteSchema)
@blueprint.refusal(404, "No route, with each protocol's reason")
def quote(query: RouteQuery) -> dict[str, str]:
    """Quote a swap.

    Based on the market of this moment and valid for 60 seconds.
    """
    return make_quote(get_resources(), query, find_owner())


@blueprint.get("/<quote_id>", operation="readQuote")
@key_optional
@blueprint.answer(QuoteSchema)
@blueprint.refusal(410, "The quote has expired")
def show(quote_id: str) -> dict[str, str]:
    """Read a quote again while it holds.

    One that was asked for with a key is read with a key of the same vendor and environment.
    """
    return get_quote(get_resources(), quote_id, find_owner())

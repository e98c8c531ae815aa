"""Quotes made again, and given out with all that they rest on."""

from __future__ import annotations

from typing import Any

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.schemas.routing.quotes import QuoteArchiveSchema, QuoteSchema
from api.services.routing import replays
from api.web.security import find_owner, key_optional

blueprint = Blueprint(
    "quote_replays", __name__, url_prefix="/api/v1/quote", description="Quotes that can be checked by anybody"
)
GONE = "The quote was made more than 24 hours ago"
NOT_FOUND = "No such quote, or another vendor's, or one of the other environment"


@blueprint.get("/<quote_id>/replay", operation="replayQuote")
@key_optional
@blueprint.answer(QuoteSchema)
@blueprint.refusal(404, NOT_FOUND)
@blueprint.refusal(409, "Another version of the engine runs now, and it answers otherwise")
@blueprint.refusal(410, GONE)
def replay(quote_id: str) -> dict[str, Any]:
    """Make a quote of the last 24 hours again, on the market that it was made on: the same, bit for bit."""
    return replays.replay_quote(get_resources(), quote_id, find_owner())


@blueprint.get("/<quote_id>/archive", operation="archiveQuote")
@key_optional
@blueprint.answer(QuoteArchiveSchema)
@blueprint.refusal(404, NOT_FOUND)
@blueprint.refusal(410, GONE)
def archive(quote_id: str) -> dict[str, Any]:
    """Give a quote's question, market and answer as a file for `routing-engine replay FILE`."""
    return replays.archive_quote(get_resources(), quote_id, find_owner())

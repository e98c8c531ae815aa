"""Tokens and chains that routes can use."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from api.blueprints.base import Blueprint
from api.context import get_resources
from api.schemas.tokens import TokenFilter, TokenListSchema
from api.security import key_optional
from api.services.routing.token_list import list_tokens

CACHING = {"Cache-Control": "public, max-age=60"}

blueprint = Blueprint("tokens", __name__, url_prefix="/v1/tokens", description="Supported tokens and chains")


@blueprint.get("", operation="listTokens")
@key_optional
@blueprint.query(TokenFilter)
@blueprint.answer(TokenListSchema)
@blueprint.note(304, "The list is the one whose ETag was sent as If-None-Match")
def tokens(query: dict[str, Any]) -> Response | tuple[dict[str, Any], int, dict[str, str]]:
    """List supported tokens and chains.

    The list grows over time.
    """
    page = list_tokens(get_resources(), **query)
    headers = CACHING | {"ETag": f'W/"{page.etag}"'}
    if request.if_none_match.contains_weak(page.etag):
        return Response(status=304, headers=headers)
    return page.body, 200, headers

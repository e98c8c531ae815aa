"""Tokens and chains that routes can use."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from flask import Response, request

from api.assets.encodings import IDENTITY, PREFERRED, compress_quickly
from api.blueprints.base import Blueprint
from api.context import get_resources
from api.domain.clock import format_time
from api.schemas.routing.tokens import TokenFilter, TokenListSchema
from api.services.routing.token_list import TokenPage, list_tokens
from api.web.compression import choose_encoding
from api.web.security import key_optional

CACHING = {"Cache-Control": "public, max-age=60", "Vary": "Accept-Encoding"}

blueprint = Blueprint("tokens", __name__, url_prefix="/v1/tokens", description="Supported tokens and chains")


@blueprint.get("", operation="listTokens")
@key_optional
@blueprint.query(TokenFilter)
@blueprint.answer(TokenListSchema)
@blueprint.note(304, "The list is the one whose ETag was sent as If-None-Match")
def tokens(query: dict[str, Any]) -> Response:
    """List supported tokens and chains.

    The list grows over time.
    """
    shared = get_resources()
    page = list_tokens(shared, **query)
    headers = CACHING | {"ETag": f'W/"{page.etag}"'}
    if request.if_none_match.contains_weak(page.etag):
        return Response(status=304, headers=headers)
    encoding = choose_encoding(request.accept_encodings)
    if encoding != IDENTITY:
        headers["Content-Encoding"] = encoding
    body = _write(page, format_time(shared.market.updated_at), encoding)
    return Response(body, headers=headers, mimetype="application/json")


@lru_cache(maxsize=2 * (1 + len(PREFERRED)))
def _write(page: TokenPage, updated_at: str, encoding: str) -> bytes:
    """Write and compress a page once: it holds nothing that is secret, so how long it is tells nothing (ADR 32)."""
    body = page.write(updated_at)
    return body if encoding == IDENTITY else compress_quickly(body, encoding)

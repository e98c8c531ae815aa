"""Answers for browsers are compressed, in the best way that the browser takes.

Answers of the API are not: their keys and secrets stand beside text of the caller's choice (ADR 32); the list of
tokens, which holds neither, compresses itself. Streams, files
that are sent as they are and what is compressed already are left alone.
"""

from __future__ import annotations

from functools import lru_cache
from http import HTTPStatus

from flask import Flask, Response, request
from werkzeug.datastructures import Accept

from api.assets.encodings import IDENTITY, PREFERRED, compress_quickly, is_compressible
from api.web.kept_pages import KeptPageAnswer
from api.web.security import API_PREFIXES

MIN_BYTES = 256
"""Below this the header would cost what is gained."""


def install(app: Flask) -> None:
    """Compress the answers of `app`."""
    app.after_request(compress_response)


def choose_encoding(accepted: Accept, offered: tuple[str, ...] = PREFERRED) -> str:
    """Return the encoding that a client likes best, of several the one that is offered first."""
    likes = {encoding: accepted.quality(encoding) for encoding in (*offered, IDENTITY)}
    best = max(offered, key=lambda encoding: likes[encoding], default=IDENTITY)
    is_taken = likes.get(best, 0) > 0 and likes[best] >= likes[IDENTITY]
    return best if is_taken else IDENTITY


def answer_with_constant(text: str, media_type: str) -> Response:
    """Answer with a text that is the same for everybody, and is compressed once for all of them."""
    encoding = choose_encoding(request.accept_encodings)
    response = Response(_compress_once(text, encoding), mimetype=media_type)
    response.vary.add("Accept-Encoding")
    if encoding != IDENTITY:
        response.content_encoding = encoding
    return response


@lru_cache(maxsize=2 * (1 + len(PREFERRED)))
def _compress_once(text: str, encoding: str) -> bytes:
    return text.encode() if encoding == IDENTITY else compress_quickly(text.encode(), encoding)


def compress_response(response: Response) -> Response:
    """Compress a whole answer of text, where the client takes that."""
    if request.path.startswith(API_PREFIXES) or not _is_whole_text(response):
        return response
    response.vary.add("Accept-Encoding")
    encoding = choose_encoding(request.accept_encodings)
    if encoding == IDENTITY or response.status_code == HTTPStatus.NOT_MODIFIED:
        return response
    body = response.get_data()
    if len(body) >= MIN_BYTES:
        kept = response.page if isinstance(response, KeptPageAnswer) else None
        response.set_data(kept.compress(encoding) if kept else compress_quickly(body, encoding))
        response.content_encoding = encoding
    return response


def _is_whole_text(response: Response) -> bool:
    is_whole = not (response.is_streamed or response.direct_passthrough or "Content-Range" in response.headers)
    return is_whole and not response.content_encoding and is_compressible(response.mimetype or "")

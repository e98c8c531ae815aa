"""Serves the pages' files below ``/static``: for a year, since other content has another address."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from flask import Flask, Response, request
from markupsafe import Markup

from api.assets.encodings import IDENTITY, PREFERRED
from api.assets.files import HASH_DIGITS, load_assets
from api.domain.errors import NotFound
from api.web.compression import choose_encoding
from api.web.kept_pages import KeptPageAnswer

ENDPOINT = "static"
FOREVER = "public, max-age=31536000, immutable"
PLAIN = " =:/'"
"""Signs that may stay as they are in an address that holds a drawing, between double quotes, and are shorter so."""


def install(app: Flask) -> None:
    """Serve the files, let ``url_for("static", filename=…)`` find their addresses, and templates take them in."""
    app.add_url_rule("/static/<path:filename>", ENDPOINT, send_file)
    app.url_defaults(_name_by_content)
    app.jinja_env.globals["read_static"] = read_static
    app.jinja_env.globals["read_picture"] = read_picture


def send_file(filename: str) -> Response:
    """Answer with a file that has this content; what was served before an update is not there any more."""
    asset = load_assets().by_url_name.get(filename)
    if asset is None:
        raise NotFound("There is nothing at this address")
    encoding = choose_encoding(request.accept_encodings, tuple(each for each in PREFERRED if each in asset.bodies))
    response = Response(asset.bodies[encoding], mimetype=asset.mimetype, headers={"Cache-Control": FOREVER})
    if len(asset.bodies) > 1:
        response.vary.add("Accept-Encoding")
    if encoding != IDENTITY:
        response.content_encoding = encoding
    response.set_etag(asset.digest, weak=True)
    send_if_changed(response)
    return response


def tag_content(response: Response) -> None:
    """Give an answer that a browser may keep a name by its content, as short as that of a file."""
    kept = response.page if isinstance(response, KeptPageAnswer) else None
    digest = kept.digest if kept else sha256(response.get_data()).hexdigest()[:HASH_DIGITS]
    response.set_etag(digest, weak=True)


def send_if_changed(response: Response) -> None:
    """Leave the content out if the browser has it; the date is for the server to add, which does so to each answer."""
    response.make_conditional(request)
    response.headers.pop("Date", None)


@lru_cache(maxsize=64)
def read_static(name: str) -> Markup:
    """Return a file of this tree as text, for a template that has it in the page itself."""
    return Markup(load_assets().get_named(name).text)  # noqa: S704 - written here, by nobody else


@lru_cache(maxsize=64)
def read_picture(name: str) -> Markup:
    """Return a small drawing as an address that holds all of it: the headers of a file would weigh more."""
    drawing = load_assets().get_named(name).text.replace('"', "'")
    return Markup(f"data:image/svg+xml,{quote(drawing, safe=PLAIN)}")  # noqa: S704 - no sign is left that ends it


@lru_cache(maxsize=64)
def allow_inline(text: str) -> str:
    """Return the source for a content security policy that allows this text inside the page, and no other."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _name_by_content(endpoint: str, values: dict[str, Any]) -> None:
    if endpoint == ENDPOINT and "filename" in values:
        values["filename"] = load_assets().get_named(values["filename"]).url_name

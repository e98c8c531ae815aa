"""The OpenAPI document as a page, served from files that came with the installation."""

from __future__ import annotations

from pathlib import Path

import flask_swagger_ui
from flask import Blueprint, Response, render_template, send_from_directory

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
)

FILES = Path(flask_swagger_ui.__file__).parent / "dist"

blueprint = Blueprint("docs", __name__, url_prefix="/docs")


@blueprint.get("")
def page() -> Response:
    """Show the API's description, to read and to try."""
    response = Response(render_template("docs.html"), mimetype="text/html")
    response.headers["Content-Security-Policy"] = CSP
    return response


@blueprint.get("/assets/<path:name>")
def asset(name: str) -> Response:
    """Give one of the page's scripts and styles."""
    return send_from_directory(FILES, name, max_age=86_400)

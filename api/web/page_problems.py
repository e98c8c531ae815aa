"""The page for people where the page of a payment can't be shown, and what a browser may do on either."""

from __future__ import annotations

from http import HTTPStatus

from flask import Response, request

from api.checkout_page.language.languages import choose_strings
from api.web.page_templates import render
from api.web.static_files import allow_inline, read_static

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self' {style}; connect-src 'self'; "
    "img-src 'self' data: https:; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
STYLE = "payment/page.css"
"""Stands in the page itself, so that the first answer can be painted."""
PAGES = "payment"


def write_policy() -> str:
    """Return the Content-Security-Policy of the page."""
    return CSP.format(style=allow_inline(read_static(STYLE)))


def show_problem(response: Response) -> None:
    """Say in an answer what is wrong as a page."""
    texts = choose_strings(request)
    problem = texts.not_found if response.status_code == HTTPStatus.NOT_FOUND else texts.busy
    response.set_data(render("payment_problem.html", texts, problem=problem))
    response.mimetype = "text/html"
    response.headers["Content-Security-Policy"] = write_policy()


def show_astray(response: Response) -> Response:
    """Show it for a link to a payment that was written wrong, so that nothing is there, where a browser asks."""
    folder = request.path.lower().lstrip("/").partition("/")[0]
    is_astray = request.url_rule is None and response.status_code == HTTPStatus.NOT_FOUND
    if is_astray and folder == PAGES and "text/html" in request.headers.get("Accept", ""):
        show_problem(response)
        response.headers["Cache-Control"] = "no-store"
    return response

"""Files of the payment page that differ from merchant to merchant: its colours and its logo.

Their addresses change with what is in them, so that a browser keeps them for good. They name no vendor and no order.
"""

from __future__ import annotations

from flask import Blueprint, Response

from api.checkout_page.look.accent import write_stylesheet
from api.checkout_page.look.branding import read_colour
from api.context import get_resources
from api.domain.errors import NotFound
from api.services.vendors.brands import find_logo

FOR_GOOD = "public, max-age=31536000, immutable"

blueprint = Blueprint("brand_files", __name__, url_prefix="/brand")


@blueprint.get("/<name>.css")
def colours(name: str) -> Response:
    """Serve the colours that a merchant's one becomes."""
    colour = read_colour(name)
    if colour is None:
        raise NotFound("There are no such colours")
    return _keep(Response(write_stylesheet(colour), mimetype="text/css"))


@blueprint.get("/<name>")
def logo(name: str) -> Response:
    """Serve a merchant's logo, as the picture that it was found to be."""
    with get_resources().database.read() as session:
        found = find_logo(session, name)
    return _keep(Response(found.content, mimetype=found.media_type))


def _keep(response: Response) -> Response:
    response.headers["Cache-Control"] = FOR_GOOD
    return response

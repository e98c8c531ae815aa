"""Changes come from the page itself, not from another site that the customer has open."""

from __future__ import annotations

from urllib.parse import urlsplit

from flask import Request

from api.domain.errors import Forbidden, UnsupportedMedia


def require_same_origin(request: Request, base_url: str) -> None:
    """Refuse a change that another site asks a browser to make.

    Browsers say where a request comes from and let no page change that; a caller that says nothing is no browser,
    and the order's id is all that it needs.

    Parameters
    ----------
    base_url : str
        Public address of the service; a proxy may hide it from `request`.

    Raises
    ------
    UnsupportedMedia
        If the body is not declared as JSON; a form of another site can't send that.
    Forbidden
        If it comes from another origin.
    """
    if not request.is_json:
        raise UnsupportedMedia("The body must be JSON, sent with Content-Type: application/json")
    if not _is_ours(request, base_url):
        raise Forbidden("Only the payment page itself may do this; open it and use its buttons")


def _is_ours(request: Request, base_url: str) -> bool:
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("Origin")
    return origin is None or _parse_origin(origin) in {_parse_origin(base_url), _parse_origin(request.host_url)}


def _parse_origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme.lower(), parts.netloc.lower()

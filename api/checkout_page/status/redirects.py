"""The way back to the merchant."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit, urlunsplit

SCHEMES = frozenset({"http", "https"})


def add_outcome(url: str, order_id: str, status: str) -> str | None:
    """Append ``payment_order_id`` and ``status`` to a merchant's callback URL.

    What the merchant wrote stays to the letter: its query, its parameters of the same names, its fragment.

    Returns
    -------
    str or None
        None where a browser must not be sent: anything but http and https.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if parts.scheme not in SCHEMES or not parts.hostname:
        return None
    outcome = urlencode({"payment_order_id": order_id, "status": status})
    query = f"{parts.query.removesuffix('&')}&{outcome}" if parts.query else outcome
    return urlunsplit(parts._replace(query=query))

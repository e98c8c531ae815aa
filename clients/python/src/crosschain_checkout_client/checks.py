"""What callers give, checked before anything is sent: each error names the parameter and the remedy, and no secret."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit


def check_address(base_url: str) -> str:
    """Return the address of a service, without the slashes and the path of the interface that may end it.

    Raises
    ------
    ValueError
        If it is none.
    """
    parts = urlsplit(base_url if isinstance(base_url, str) else "")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"base_url: {_show(base_url)} is no address of a service, such as https://pay.example")
    return re.sub(r"/+(api/v1/*)?$", "", base_url)


def check_api_key(api_key: str | None, base_url: str) -> str:
    """Return an API key without the white space around it, such as the end of the file's line that it was read from.

    Raises
    ------
    ValueError
        If it is missing, empty, or can't go into a header; or if a live key would travel unencrypted.
    """
    if api_key is None or not api_key.strip():
        raise ValueError("api_key is empty: is the setting there? Leave it out where no key is needed")
    key = api_key.strip()
    if not re.fullmatch(r"[!-~]+", key):
        raise ValueError("api_key has characters that no API key has: was it copied whole, and alone?")
    parts = urlsplit(base_url)
    if key.startswith("sk_live_") and parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        raise ValueError("base_url: a live key is sent over https only; use the service's https address")
    return key


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_idempotency_key(given: str) -> str:
    """Return a key that a header can carry.

    Raises
    ------
    ValueError
        If it is empty, too long, or has characters that no header carries.
    """
    if not isinstance(given, str) or not re.fullmatch(r"[!-~](?:[ -~]{0,253}[!-~])?", given):
        raise ValueError(
            f"idempotency_key is {_show(given)}: give 1 to 255 characters of ASCII without spaces around them, "
            "such as the cart's id, or leave it out"
        )
    return given


def check_id(**ids: str) -> str:
    """Return the one id that is given, under its parameter's name, if it may stand in a path.

    Raises
    ------
    ValueError
        If it is none: anything else would lead to another address.
    """
    ((name, given),) = ids.items()
    if not isinstance(given, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,255}", given):
        raise ValueError(f"{name}: {_show(given)} is no id; give one as the service has named it, such as po_…")
    return given


def _show(given: object) -> str:
    """Write what was given instead, but no API key that is at the wrong place."""
    return re.sub(r"(sk_(?:test|live)_)[^\s'\"]*", r"\1…", repr(given))[:100]

"""What a merchant may look like to its customers.

All of it is shown to people who are about to pay. So a name can't turn the text around it, a contact is an address that
people can see through, and nothing becomes an address that a browser runs.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

MAX_DISPLAY_NAME = 100
MAX_SUPPORT = 2048
MAX_EMAIL = 254

_COLOUR = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_EMAIL = re.compile(rf"[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*@(?:{_LABEL}\.)+{_LABEL}", re.ASCII)
_MAX_LOCAL = 64
_URL = re.compile(r"https://[!#$%&'()*+,./0-9:;=?@A-Z\[\]_a-z~-]+", re.ASCII)


class BadBrand(Exception):
    """Something a merchant may not look like; the message says why."""


def check_display_name(text: str) -> str:
    """Return a name to be shown; an empty one means the vendor's own.

    Raises
    ------
    BadBrand
        If it is too long, or has signs that are not seen: among them are those that turn the direction of writing.
    """
    if len(text) > MAX_DISPLAY_NAME:
        raise BadBrand(f"Must have at most {MAX_DISPLAY_NAME} characters")
    if not text.isprintable() or text != " ".join(text.split()):
        raise BadBrand("Must be printable characters, without spaces around it or several in a row")
    if text and not any(sign.isalnum() for sign in text):
        raise BadBrand("Must have a letter or a digit")
    return text


def check_accent_color(text: str) -> str:
    """Return a colour in small letters; an empty one means the page's own.

    Raises
    ------
    BadBrand
        If it is none.
    """
    if text and not _COLOUR.fullmatch(text):
        raise BadBrand("Expected a colour such as #3346d3: # and six hexadecimal digits")
    return text.lower()


def check_support(text: str) -> str:
    """Return where customers get help: an e-mail address or an https URL; empty where nowhere.

    Raises
    ------
    BadBrand
        If it is neither.
    """
    if not text or is_email(text) or is_support_url(text):
        return text
    raise BadBrand(
        "Expected an e-mail address such as help@shop.example, or a URL that starts with https://, in ASCII and "
        "without a user name; write a name in another script as its xn-- form"
    )


def is_email(text: str) -> bool:
    """Return whether this is an e-mail address of the plain kind, without quotes or what means something in a URL."""
    return len(text) <= MAX_EMAIL and len(text.partition("@")[0]) <= _MAX_LOCAL and bool(_EMAIL.fullmatch(text))


def is_support_url(text: str) -> bool:
    """Return whether this is an https URL without credentials, of signs that stand for themselves."""
    if len(text) > MAX_SUPPORT or not _URL.fullmatch(text):
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and "@" not in parts.netloc and parts.port != 0
    except ValueError:
        return False

"""The merchant on its payment page: where its colours and its logo are, and how to reach it."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from api.checkout_page.language.strings import Strings
from api.checkout_page.look.accent import write_stylesheet
from api.domain.brands import is_email, is_support_url
from api.services.orders.views import PublicOrder

_COLOURS = re.compile(r"([0-9a-f]{6})-[0-9a-f]{8}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """Where a customer gets help.

    Parameters
    ----------
    href : str
        A ``mailto:`` or ``https:`` address.
    text : str
        What is shown of it: the e-mail address, or the host.
    """

    href: str
    text: str


def name_stylesheet(colour: str) -> str:
    """Return the address of a colour's stylesheet, which changes with what is in it; empty without a colour."""
    if not colour:
        return ""
    return f"/brand/{colour[1:]}-{zlib.crc32(write_stylesheet(colour).encode()):08x}.css"


def read_colour(name: str) -> str | None:
    """Return the colour that a stylesheet was named for; None where this is no name of one."""
    found = _COLOURS.fullmatch(name)
    colour = f"#{found[1]}" if found else ""
    return colour if found and name_stylesheet(colour) == f"/brand/{name}.css" else None


def name_logo(order: PublicOrder) -> str:
    """Return the address of the merchant's logo; empty where it has none."""
    return f"/brand/{order.vendor_logo}" if order.vendor_logo else ""


def find_contact(order: PublicOrder, strings: Strings) -> Contact | None:
    """Return how to reach the merchant about an order; None where it has not said.

    An e-mail begins with the order's number. What is neither an e-mail address nor an https URL leads nowhere, wherever
    it comes from.
    """
    support = order.vendor_support
    if is_email(support):
        subject = strings.page["support_subject"].format(order=order.order_id)
        return Contact(href=f"mailto:{quote(support, safe='@')}?subject={quote(subject, safe='')}", text=support)
    if is_support_url(support):
        return Contact(href=support, text=urlsplit(support).netloc)
    return None

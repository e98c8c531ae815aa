"""Everything that the page's template needs, for one order at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import segno
from markupsafe import Markup

from api.checkout_page.amounts import CENT_SYMBOLS, CENTS, format_whole_units
from api.checkout_page.avatars import pick_hue, pick_letter
from api.checkout_page.state import PageState, build_state
from api.checkout_page.strings import Strings, isolate
from api.checkout_page.transfers import name_chain
from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.services.checkout.money_seen import MoneySeen
from api.services.orders.views import PublicOrder

STATIC = Path(__file__).parents[1] / "static" / "payment"
MODULES = tuple(sorted(path.name for path in STATIC.glob("*.js")))
SCRIPT_WORDS = ("cancel", "back", "retry")
"""Texts of the page that its scripts need too."""
IMAGE_SCHEMES = ("https://", "http://")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the template shows; every text is still to be escaped, but for the QR code.

    Parameters
    ----------
    words : mapping
        The page's texts that name the merchant.
    claim_chains : tuple of (int, str)
        Where a payment may have been sent that nobody has seen; none where payments are simulated.
    for_script : mapping
        What the page's scripts start from.
    """

    order_id: str
    merchant: str
    merchant_letter: str
    merchant_hue: int
    is_test: bool
    is_simulated: bool
    price_amount: str
    price_currency: str
    items: tuple[Mapping[str, str], ...]
    expires_at: str
    expires_text: str
    qr_svg: Markup
    words: Mapping[str, str]
    state: PageState
    claim_chains: tuple[tuple[int, str], ...]
    modules: tuple[str, ...]
    for_script: Mapping[str, Any]


def build_page(order: PublicOrder, seen: MoneySeen, now: datetime, strings: Strings, base_url: str) -> Page:
    """Put an order into the page's words."""
    state = build_state(order, seen, now, strings)
    min_places = CENTS if order.price_currency in CENT_SYMBOLS else 0
    return Page(
        order_id=order.order_id,
        merchant=order.vendor_name,
        merchant_letter=pick_letter(order.vendor_name),
        merchant_hue=pick_hue(order.vendor_name),
        is_test=order.env_mode == EnvMode.TEST,
        is_simulated=order.is_simulated,
        price_amount=format_whole_units(order.price_amount, order.price_decimals, min_places=min_places),
        price_currency=order.price_currency,
        items=tuple(_describe_item(row, strings) for row in order.line_items),
        expires_at=format_time(order.expires_at),
        expires_text=f"{order.expires_at:%-d %b %Y, %H:%M} UTC",
        qr_svg=draw_qr(f"{base_url}/payment/{order.order_id}"),
        words=_name_merchant(strings.page, order.vendor_name),
        state=state,
        claim_chains=() if order.is_simulated else tuple((each, name_chain(each)) for each in seen.chain_ids),
        modules=MODULES,
        for_script=_encode_for_script(order, state, strings),
    )


def draw_qr(url: str) -> Markup:
    """Draw the code of an address, to be scanned from this screen by a phone."""
    drawing = segno.make(url, error="m", micro=False).svg_inline(border=2, omitsize=True, svgclass=None, lineclass=None)
    return Markup(drawing)  # noqa: S704 - drawn here, from modules of the code only


def _describe_item(row: Mapping[str, Any], strings: Strings) -> dict[str, str]:
    image = row.get("image_url") or ""
    return {
        "title": row["title"],
        "letter": pick_letter(row["title"]).upper(),
        "quantity_text": strings.page["quantity"].format(n=f"{row['quantity']:,}"),
        "description": row.get("description") or "",
        "image_url": image if image.lower().startswith(IMAGE_SCHEMES) else "",
    }


def _name_merchant(texts: Mapping[str, str], merchant: str) -> dict[str, str]:
    """Fill in the texts whose only placeholder is the merchant."""
    name = isolate(merchant)
    return {
        key: text.replace("{merchant}", name)
        for key, text in texts.items()
        if text.count("{") == text.count("{merchant}")
    }


def _encode_for_script(order: PublicOrder, state: PageState, strings: Strings) -> dict[str, Any]:
    return {
        "path": f"/payment/{order.order_id}",
        "state": state.json(),
        "merchant": isolate(order.vendor_name),
        "is_simulated": order.is_simulated,
        "strings": strings.script,
        "words": _name_merchant({name: strings.page[name] for name in SCRIPT_WORDS}, order.vendor_name),
    }

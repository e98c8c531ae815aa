"""Everything that the page's template needs, for one order at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from api.checkout_page.devices import Devices, describe_devices
from api.checkout_page.language.strings import Strings, isolate, load
from api.checkout_page.look.avatars import pick_hue, pick_letter
from api.checkout_page.look.branding import name_logo, name_stylesheet
from api.checkout_page.money.amounts import (
    CENT_SYMBOLS,
    CENTS,
    format_count,
    format_moment,
    format_money,
    format_whole_units,
)
from api.checkout_page.money.transfers import name_chain
from api.checkout_page.status.state import PageState
from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.domain.item_prices import sum_item
from api.services.checkout.money_seen import MoneySeen
from api.services.orders.views import PublicOrder

SCRIPT_WORDS = ("cancel", "return", "retry", "payment_to")
"""Texts of the page that its scripts need too."""
FLEETING = ("now", "looked_at", "nothing_seen_until")
"""What of a state would make the page another one each time; the scripts ask for the state at once anyway."""
MOST_NAMED = 128
"""Merchants, each in one language, whose texts are remembered."""
PICTURE_SCHEME = "https://"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What the template shows; every text is still to be escaped, but for the QR code in `devices`.

    Parameters
    ----------
    stylesheet, logo : str
        Addresses on this host; empty where the merchant has none of its own.
    words : mapping
        The page's texts that name the merchant.
    nothing_seen : str
        Up to when nothing came for a closed order; empty where something did, or that is not known.
    claim_chains : tuple of (int, str)
        Where a payment may have been sent that nobody has seen; none where payments are simulated.
    for_script : mapping
        What the page's scripts start from.
    """

    order_id: str
    merchant: str
    merchant_letter: str
    merchant_hue: int
    stylesheet: str
    logo: str
    is_test: bool
    is_simulated: bool
    price_amount: str
    price_currency: str
    items: tuple[Mapping[str, str], ...]
    expires_at: str
    expires_text: str
    devices: Devices
    words: Mapping[str, str]
    state: PageState
    nothing_seen: str
    claim_chains: tuple[tuple[int, str], ...]
    for_script: Mapping[str, Any]


def build_page(order: PublicOrder, seen: MoneySeen, state: PageState, strings: Strings, base_url: str) -> Page:
    """Put an order into the page's words."""
    min_places = CENTS if order.price_currency in CENT_SYMBOLS else 0
    return Page(
        order_id=order.order_id,
        merchant=order.vendor_name,
        merchant_letter=pick_letter(order.vendor_name),
        merchant_hue=pick_hue(order.vendor_name),
        stylesheet=name_stylesheet(order.vendor_accent),
        logo=name_logo(order),
        is_test=order.env_mode == EnvMode.TEST,
        is_simulated=order.is_simulated,
        price_amount=format_whole_units(order.price_amount, order.price_decimals, strings, min_places=min_places),
        price_currency=order.price_currency,
        items=tuple(_describe_item(row, order.price_currency, strings) for row in order.line_items),
        expires_at=format_time(order.pay_until),
        expires_text=format_moment(order.pay_until, strings),
        devices=describe_devices(f"{base_url}/payment/{order.order_id}", needs_wallet=not order.is_simulated),
        words=_name_merchant(strings.locale.language, order.vendor_name),
        state=state,
        nothing_seen=_describe_nothing_seen(state, strings),
        claim_chains=() if order.is_simulated else tuple((each, name_chain(each)) for each in seen.chain_ids),
        for_script=_encode_for_script(order, state, strings),
    )


def leave_moment_out(page: Page) -> Page:
    """Return a page without the moment of its state, which is all that differs while nothing happens."""
    return replace(page, state=replace(page.state, now="", looked_at=None, nothing_seen_until=None))


def _describe_nothing_seen(state: PageState, strings: Strings) -> str:
    until = state.nothing_seen_until
    return (
        strings.script["nothing_seen"].format(time=format_moment(datetime.fromisoformat(until), strings))
        if until
        else ""
    )


def _describe_item(row: Mapping[str, Any], currency: str, strings: Strings) -> dict[str, str]:
    image = row.get("image_url") or ""
    price = row.get("unit_price")
    described = {
        "title": row["title"],
        "letter": pick_letter(row["title"]).upper(),
        "quantity_text": strings.page["quantity"].format(n=format_count(row["quantity"], strings)),
        "description": row.get("description") or "",
        "image_url": image if image.lower().startswith(PICTURE_SCHEME) else "",
        "each_text": "",
        "total_text": "",
    }
    if price is not None:
        described["total_text"] = format_money(sum_item(row), price["decimals"], currency, strings)
    if price is not None and row["quantity"] > 1:
        each = format_money(price["amount"], price["decimals"], currency, strings)
        described["each_text"] = strings.page["each"].format(amount=each)
    return described


@lru_cache(MOST_NAMED)
def _name_merchant(language: str, merchant: str) -> Mapping[str, str]:
    """Fill in the texts of a language whose only placeholder is the merchant: the same for all of its orders."""
    name = isolate(merchant)
    return MappingProxyType(
        {
            key: text.replace("{merchant}", name)
            for key, text in load(language).page.items()
            if text.count("{") == text.count("{merchant}")
        }
    )


def _encode_for_script(order: PublicOrder, state: PageState, strings: Strings) -> dict[str, Any]:
    return {
        "path": f"/payment/{order.order_id}",
        "state": state.json() | dict.fromkeys(FLEETING),
        "version": order.version,
        "merchant": isolate(order.vendor_name),
        "is_simulated": order.is_simulated,
        "words": {name: _name_merchant(strings.locale.language, order.vendor_name)[name] for name in SCRIPT_WORDS},
    }

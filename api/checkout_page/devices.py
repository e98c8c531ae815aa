"""Ways to pay an order from another device: links that open its page in the browsers of wallets, and its code.

A link holds the page's address and nothing else. Each has the form that its wallet publishes: see docs/devices.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import BytesIO
from types import MappingProxyType
from urllib.parse import quote

import segno

from api.checkout_page.look.avatars import Avatar, dress_wallet


@dataclass(frozen=True, slots=True, kw_only=True)
class WalletLink:
    """One wallet whose own browser can open a page."""

    name: str
    url: str
    avatar: Avatar


@dataclass(frozen=True, slots=True, kw_only=True)
class Devices:
    """Where else an order can be paid."""

    page_url: str
    wallet_links: tuple[WalletLink, ...]


def describe_devices(page_url: str, *, needs_wallet: bool) -> Devices:
    """Return the ways to open a page elsewhere; those into wallets only where one is needed to pay."""
    links = list_wallet_links(page_url) if needs_wallet else ()
    return Devices(page_url=page_url, wallet_links=links)


def list_wallet_links(page_url: str) -> tuple[WalletLink, ...]:
    """Return the links that open a page in the browsers of the wallets that say how, the most common first."""
    return tuple(
        WalletLink(name=name, url=_FORMS[key](page_url), avatar=dress_wallet(key, name)) for key, name in _NAMES.items()
    )


def draw_code(url: str) -> bytes:
    """Draw the code of an address as SVG, to be scanned from this screen by a phone."""
    drawing = BytesIO()
    code = segno.make(url, error="m", micro=False)
    code.save(drawing, kind="svg", xmldecl=False, border=2, omitsize=True, svgclass=None, lineclass=None)
    return drawing.getvalue()


def _encode(text: str) -> str:
    return quote(text, safe="")


def _leave_out_scheme(url: str) -> str:
    """Return an address as MetaMask takes it: it puts ``https://`` before it, and opens nothing where it is encoded."""
    return quote(url.split("://", 1)[1], safe="/:@")


_NAMES: Mapping[str, str] = MappingProxyType(
    {"metamask": "MetaMask", "coinbase": "Base (Coinbase Wallet)", "trust": "Trust Wallet", "okx": "OKX Wallet"}
)
_FORMS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {
        "metamask": lambda url: f"https://link.metamask.io/dapp/{_leave_out_scheme(url)}",
        "coinbase": lambda url: f"https://go.cb-w.com/dapp?cb_url={_encode(url)}",
        "trust": lambda url: f"https://link.trustwallet.com/open_url?coin_id=60&url={_encode(url)}",
        "okx": lambda url: (
            f"https://web3.okx.com/download?deeplink={_encode(f'okx://wallet/dapp/url?dappUrl={_encode(url)}')}"
        ),
    }
)

"""Icons of tokens, chains and wallets from the page's own sprites; letters on coloured discs for what has none."""

from __future__ import annotations

import re
import zlib
from functools import cache
from pathlib import Path
from typing import TypedDict

from routing_engine.reference import token_registry

HUES = 12
_FOLDER = Path(__file__).parents[2] / "static" / "payment"
SPRITES = (_FOLDER / "icons.svg", _FOLDER / "icons-more.svg", _FOLDER / "icons-wallets.svg")
MORE = "more-"
"""Begins the names in the second sprite, which is fetched where one of them is shown."""
WALLET = "wallet-"
"""Begins the names in the third one, whose drawings are pictures: a folded list of wallets fetches none of them."""


class Avatar(TypedDict):
    """What stands for a thing: a symbol of a sprite or "", and the letter and colour under it."""

    icon: str
    letter: str
    hue: int


def dress_token(chain_id: int, address: str, symbol: str) -> Avatar:
    """Return what stands for a token; only a listed contract gets an icon, whatever another one calls itself."""
    info = token_registry.info_of(chain_id, address)
    return _dress(symbol, *((info.symbol.lower(), MORE + info.symbol.lower()) if info else ()))


def dress_chain(chain_id: int, name: str) -> Avatar:
    """Return what stands for a chain."""
    return _dress(name, f"chain-{chain_id}")


def dress_wallet(key: str, name: str) -> Avatar:
    """Return what stands for a wallet that has a name here."""
    return _dress(name, f"{WALLET}{key}")


def pick_letter(name: str) -> str:
    """Return the first letter or digit of a name, or a dot where it has none."""
    return next((sign for sign in name if sign.isalnum()), "·")


def pick_hue(name: str) -> int:
    """Return the number of a name's colour, always the same."""
    return zlib.crc32(name.encode()) % HUES


@cache
def list_icons() -> frozenset[str]:
    """Return the names of what is drawn in the sprites."""
    texts = (path.read_text(encoding="utf-8") for path in SPRITES)
    return frozenset(name for text in texts for name in re.findall(r'<(?:symbol|view) id="([^"]+)"', text))


def _dress(name: str, *icons: str) -> Avatar:
    icon = next((each for each in icons if each in list_icons()), "")
    return Avatar(icon=icon, letter=pick_letter(name), hue=pick_hue(name))

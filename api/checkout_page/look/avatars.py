"""Icons of tokens, chains and wallets from the page's own sprite; letters on coloured discs for what has none."""

from __future__ import annotations

import re
import zlib
from functools import cache
from pathlib import Path
from typing import TypedDict

from routing_engine.reference import token_registry

HUES = 12
SPRITE = Path(__file__).parents[2] / "static" / "payment" / "icons.svg"


class Avatar(TypedDict):
    """What stands for a thing: a symbol of the sprite or "", and the letter and colour under it."""

    icon: str
    letter: str
    hue: int


def dress_token(chain_id: int, address: str, symbol: str) -> Avatar:
    """Return what stands for a token; only a listed contract gets an icon, whatever another one calls itself."""
    info = token_registry.info_of(chain_id, address)
    return _dress(symbol, info.symbol.lower() if info else "")


def dress_chain(chain_id: int, name: str) -> Avatar:
    """Return what stands for a chain."""
    return _dress(name, f"chain-{chain_id}")


def dress_wallet(key: str, name: str) -> Avatar:
    """Return what stands for a wallet that has a name here."""
    return _dress(name, f"wallet-{key}")


def pick_letter(name: str) -> str:
    """Return the first letter or digit of a name, or a dot where it has none."""
    return next((sign for sign in name if sign.isalnum()), "·")


def pick_hue(name: str) -> int:
    """Return the number of a name's colour, always the same."""
    return zlib.crc32(name.encode()) % HUES


@cache
def list_icons() -> frozenset[str]:
    """Return the names of the sprite's symbols."""
    return frozenset(re.findall(r'<symbol id="([^"]+)"', SPRITE.read_text(encoding="utf-8")))


def _dress(name: str, icon: str) -> Avatar:
    return Avatar(icon=icon if icon in list_icons() else "", letter=pick_letter(name), hue=pick_hue(name))

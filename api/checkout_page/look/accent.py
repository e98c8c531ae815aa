"""A merchant's accent colour, made legible: of whatever colour, text and buttons keep a contrast of 4.5 to 1 (WCAG AA).

Colours are mixed in linear light, where luminance is a weighted sum. So the amount of black or white that a wanted
luminance takes is one division, and what is written in eight bits is rounded away from the background.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import TypeAlias

Light: TypeAlias = tuple[float, float, float]
"""Red, green and blue in linear light, 0 … 1."""

CONTRAST = 4.5
MARGIN = 0.02
"""Above `CONTRAST`, for what the eight bits of a background round away."""
STANDS_OUT = 1.3
"""Contrast with the page below which a button's own colour could not be told from it."""
MOST_BRIGHTER = 8
"""How many times brighter a dark colour is made before it gets white: a black that is not quite one stays a grey."""
MOST_KEPT = 256
"""Palettes that are kept: anybody may ask for any of 16 million colours."""
FLARE = 0.05
"""What the definition of contrast adds to each luminance."""
WEIGHTS = (0.2126, 0.7152, 0.0722)
WHITE, BLACK = "#ffffff", "#000000"
LIGHT_SURFACES = ("#ffffff", "#f7f8fb", "#f5f6f9")
DARK_SURFACES = ("#141822", "#1b2030", "#0c0e14")
"""The page's own backgrounds, as `styles/base.css` has them; buttons stand on the first one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """What a merchant's colour becomes in one colour scheme; each is ``#rrggbb``.

    Parameters
    ----------
    accent, accent_deep, accent_wash : str
        For text, lines and marks, for the same under the pointer, and for what lies behind them.
    fill, fill_deep, on_fill : str
        For a button, for one under the pointer, and for its text: the merchant's own colour where it stands out.
    fill_edge : str
        The button's outline, which is seen where the button is not.
    """

    accent: str
    accent_deep: str
    accent_wash: str
    fill: str
    fill_deep: str
    fill_edge: str
    on_fill: str


def write_stylesheet(colour: str) -> str:
    """Return the rules that give the page a merchant's colour, in the light and in the dark."""
    light, dark = _write_rule(make_light_palette(colour)), _write_rule(make_dark_palette(colour))
    return f"{light}\n@media (prefers-color-scheme: dark) {{ {dark} }}\n"


@lru_cache(MOST_KEPT)
def make_light_palette(colour: str) -> Palette:
    """Derive the colours for a light page: darker ones."""
    light = _read(colour)
    wash = _write(_mix(_lighten_to(light, 0.8), _read(WHITE), 0.55), math.floor)
    accent = _darken_against(light, (*LIGHT_SURFACES, wash))
    deep = _write(_mix(_read(accent), _read(BLACK), 0.4), math.floor)
    return _make_palette(colour, accent, deep, wash, LIGHT_SURFACES[0])


@lru_cache(MOST_KEPT)
def make_dark_palette(colour: str) -> Palette:
    """Derive the colours for a dark page: lighter ones."""
    light = _read(colour)
    wash = _write(_mix(_darken_to(light, 0.03), _read(DARK_SURFACES[0]), 0.5), math.ceil)
    accent = _lighten_against(light, (*DARK_SURFACES, wash))
    deep = _write(_mix(_read(accent), _read(WHITE), 0.3), math.ceil)
    return _make_palette(colour, accent, deep, wash, DARK_SURFACES[0])


def measure_contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it, 1 … 21."""
    darker, lighter = sorted(_luminance(_read(each)) for each in (one, other))
    return (lighter + FLARE) / (darker + FLARE)


def _make_palette(colour: str, accent: str, deep: str, wash: str, surface: str) -> Palette:
    fill = colour if measure_contrast(colour, surface) >= STANDS_OUT else accent
    on_fill = WHITE if measure_contrast(fill, WHITE) >= CONTRAST else BLACK
    away = (BLACK, math.floor) if on_fill == WHITE else (WHITE, math.ceil)
    return Palette(
        accent=accent,
        accent_deep=deep,
        accent_wash=wash,
        fill=fill,
        fill_deep=_write(_mix(_read(fill), _read(away[0]), 0.25), away[1]),
        fill_edge=accent,
        on_fill=on_fill,
    )


def _darken_against(light: Light, backgrounds: tuple[str, ...]) -> str:
    darkest = min(_luminance(_read(each)) for each in backgrounds)
    return _write(_darken_to(light, (darkest + FLARE) / (CONTRAST + MARGIN) - FLARE), math.floor)


def _lighten_against(light: Light, backgrounds: tuple[str, ...]) -> str:
    lightest = max(_luminance(_read(each)) for each in backgrounds)
    return _write(_lighten_to(light, (lightest + FLARE) * (CONTRAST + MARGIN) - FLARE), math.ceil)


def _darken_to(light: Light, most: float) -> Light:
    """Mix black into a colour until its luminance is at most this."""
    luminance = _luminance(light)
    return light if luminance <= most else _mix(light, _read(BLACK), 1 - most / luminance)


def _lighten_to(light: Light, least: float) -> Light:
    """Give a colour this luminance at least: brighter first, which keeps it vivid, then with white in it."""
    luminance = _luminance(light)
    if luminance >= least:
        return light
    factor = min(MOST_BRIGHTER, least / luminance, 1 / max(light)) if luminance else 1
    brighter = _mix(light, _read(BLACK), 1 - factor)
    luminance *= factor
    return _mix(brighter, _read(WHITE), max(0, least - luminance) / (1 - luminance))


def _mix(one: Light, other: Light, share: float) -> Light:
    """Return a colour of which so much is the other one."""
    red, green, blue = ((1 - share) * a + share * b for a, b in zip(one, other, strict=True))
    return red, green, blue


def _luminance(light: Light) -> float:
    return sum(weight * channel for weight, channel in zip(WEIGHTS, light, strict=True))


def _read(colour: str) -> Light:
    red, green, blue = (_expand(byte / 255) for byte in bytes.fromhex(colour[1:]))
    return red, green, blue


def _write(light: Light, round_off: Callable[[float], int]) -> str:
    steps = (round_off(round(255 * _compress(channel), 6)) for channel in light)
    return "#" + bytes(min(255, max(0, step)) for step in steps).hex()


def _expand(channel: float) -> float:
    """Undo sRGB's transfer function."""
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _compress(channel: float) -> float:
    """Apply sRGB's transfer function."""
    return channel * 12.92 if channel <= 0.0031308 else 1.055 * channel ** (1 / 2.4) - 0.055


def _write_rule(palette: Palette) -> str:
    values = "; ".join(f"--{each.name.replace('_', '-')}: {getattr(palette, each.name)}" for each in fields(palette))
    return f":root {{ {values} }}"

"""A merchant's colour, whichever it is, leaves every text of the page legible."""

from __future__ import annotations

import random
import re
from itertools import product
from pathlib import Path

import pytest

from api.checkout_page.look import accent
from api.checkout_page.look.accent import (
    BLACK,
    DARK_SURFACES,
    LIGHT_SURFACES,
    MOST_KEPT,
    WHITE,
    Palette,
    make_dark_palette,
    make_light_palette,
    measure_contrast,
    write_stylesheet,
)
from api.checkout_page.look.branding import read_colour

CORNERS = ["#" + bytes(each).hex() for each in product((0, 1, 127, 128, 254, 255), repeat=3)]
RANDOM = [f"#{random.Random(seed).randrange(1 << 24):06x}" for seed in range(1000)]
BASE = (Path(accent.__file__).parents[2] / "static" / "payment" / "styles" / "base.css").read_text()
INK, INK_SOFT = ("#171b26", "#eef0f6"), ("#555d70", "#a7afc2")


def check(palette: Palette, surfaces: tuple[str, ...], inks: tuple[str, str]) -> None:
    for behind in (*surfaces, palette.accent_wash):
        for text in (palette.accent, palette.accent_deep, *inks):
            assert measure_contrast(text, behind) >= 4.5, (text, behind)
    for button in (palette.fill, palette.fill_deep):
        assert measure_contrast(palette.on_fill, button) >= 4.5, button
    assert measure_contrast(palette.fill_edge, surfaces[0]) >= 3, "a button's shape is seen"
    assert measure_contrast(palette.fill, surfaces[0]) >= 1.3


@pytest.mark.parametrize("colours", [RANDOM, CORNERS], ids=["random", "corners"])
def test_text_and_buttons_keep_their_contrast_whatever_the_colour(colours: list[str]) -> None:
    for colour in colours:
        check(make_light_palette(colour), LIGHT_SURFACES, (INK[0], INK_SOFT[0]))
        check(make_dark_palette(colour), DARK_SURFACES, (INK[1], INK_SOFT[1]))


@pytest.mark.parametrize(
    ("one", "other", "contrast"),
    [
        (BLACK, WHITE, 21),
        (WHITE, WHITE, 1),
        ("#777777", WHITE, 4.48),
        ("#ff0000", WHITE, 4.0),
        ("#0000ff", BLACK, 2.44),
    ],
)
def test_contrast_is_what_wcag_says(one: str, other: str, contrast: float) -> None:
    assert measure_contrast(one, other) == measure_contrast(other, one) == pytest.approx(contrast, abs=0.005)


def test_a_colour_that_is_legible_stays_as_it_is() -> None:
    light, dark = make_light_palette("#0b5fff"), make_dark_palette("#8ab4ff")
    assert (light.accent, light.fill, light.on_fill) == ("#0b5fff", "#0b5fff", WHITE)
    assert (dark.accent, dark.fill, dark.on_fill) == ("#8ab4ff", "#8ab4ff", BLACK)


def test_a_button_keeps_a_bright_colour_and_gets_dark_text() -> None:
    palette = make_light_palette("#ffdd00")
    assert (palette.fill, palette.on_fill) == ("#ffdd00", BLACK)
    assert palette.fill_edge == palette.accent != palette.fill


@pytest.mark.parametrize(("make", "colour"), [(make_light_palette, WHITE), (make_dark_palette, BLACK)])
def test_a_button_never_vanishes_into_the_page(make: type, colour: str) -> None:
    assert make(colour).fill != colour


def test_the_surfaces_are_those_of_the_page() -> None:
    light, dark = BASE.split("@media (prefers-color-scheme: dark)", 1)
    for part, surfaces, inks in ((light, LIGHT_SURFACES, 0), (dark, DARK_SURFACES, 1)):
        named = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", part))
        assert {named[name] for name in ("surface", "canvas", "raised")} == set(surfaces)
        assert named["surface"] == surfaces[0]
        assert (named["ink"], named["ink-soft"]) == (INK[inks], INK_SOFT[inks])


def test_a_stylesheet_has_nothing_but_colours() -> None:
    text = write_stylesheet("#ffdd00")
    assert set(re.findall(r"--([\w-]+): #[0-9a-f]{6}\b", text)) == {
        "accent", "accent-deep", "accent-wash", "fill", "fill-deep", "fill-edge", "on-fill",
    }  # fmt: skip
    assert text.count(":root") == 2
    assert "url" not in text


def test_whoever_asks_for_all_colours_fills_no_memory() -> None:
    for number in range(2 * MOST_KEPT):
        assert read_colour(f"{number:06x}-00000000") is None
    for kept in (make_light_palette, make_dark_palette):
        assert kept.cache_info().currsize <= MOST_KEPT

"""Take the pictures: ``make page``, or ``python -m tests.browser.gallery [name of a state …]`` for some of them."""

from __future__ import annotations

import io
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import structlog
from PIL import Image
from playwright.sync_api import Error, sync_playwright

from tests.browser.axe import violations
from tests.browser.conftest import Tab, prepare_context
from tests.browser.contexts import Contexts
from tests.browser.gallery.index import write_index
from tests.browser.gallery.looks import LOOKS, WIDE, Look
from tests.browser.gallery.stage import Stage, State, open_stage
from tests.browser.gallery.states import CATALOGUE
from tests.browser.gallery.timing import measure_visits
from tests.browser.motion import end_motion
from tests.support import chromium

FOLDER = Path(__file__).parents[3] / "docs" / "page"
COMMON, RARE = 24, 64
"""Colours of a picture that stay as they are, and others, which have to be unlike one another: an icon is small."""
MOST_BYTES = 5_000_000
TALLEST = 1200
TO_TOP = "() => window.scrollTo(0, 0)"
HEIGHT = "() => document.documentElement.scrollHeight"
ARGUMENTS = (*chromium.ARGUMENTS, "--force-device-scale-factor=1")


def main(names: Sequence[str]) -> int:
    """Take the pictures of these states, or of all; return how many could not be taken or had a fault."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    chosen = [state for state in CATALOGUE if not names or state.name in names]
    FOLDER.mkdir(parents=True, exist_ok=True)
    began, faults = time.monotonic(), []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=str(chromium.executable()), args=[*ARGUMENTS])
        with open_stage(Contexts(browser, prepare_context), Path(folder)) as stage:
            for number, state in enumerate(chosen, 1):
                print(f"{number:3}/{len(chosen)} {state.title} …", end=" ", flush=True)
                faults += _picture_state(stage, state)
                print(f"{time.monotonic() - began:.0f} s", flush=True)
            if not names:
                measured = measure_visits(browser, stage)
                _remove_others()
                (FOLDER / "README.md").write_text(write_index(CATALOGUE, LOOKS, FOLDER, measured), encoding="utf-8")
        browser.close()
    n_bytes = sum(path.stat().st_size for path in FOLDER.glob("*.webp"))
    faults += [f"{n_bytes:,} bytes of pictures; {MOST_BYTES:,} are allowed"] if n_bytes > MOST_BYTES else []
    print(f"{len(list(FOLDER.glob('*.webp')))} pictures, {n_bytes:,} bytes, in {FOLDER}")
    print("".join(f"FAULT {fault}\n" for fault in faults), end="")
    return min(len(faults), 1)


def _picture_state(stage: Stage, state: State) -> Iterator[str]:
    """Take one state in every look, and yield what is wrong."""
    order_id = state.make(stage)
    for look in LOOKS:
        if not _is_taken(state, look):
            continue
        order_id = state.make(stage) if state.then else order_id
        print(look.name, end=" ", flush=True)
        try:
            tab = state.visit(stage, order_id, **look.settings)
            _take(tab, FOLDER / f"{state.name}-{look.name}.webp")
            wrong = tab.unexpected + (violations(tab.page) if look.has_scripts else [])
        except (Error, AssertionError) as error:
            wrong = [str(error).splitlines()[0]]
        yield from (f"{state.name}, {look.title}: {text}" for text in wrong)
        stage.close_tabs()


def _is_taken(state: State, look: Look) -> bool:
    """Say whether a state can be seen so."""
    return not ((state.then and not look.has_scripts) or (state.locale and "locale" in look.settings))


def _take(tab: Tab, path: Path) -> None:
    """Take the whole page, as far down as is looked at.

    The screen is made as tall as the page: what goes beyond a screen is drawn as if it had a mouse.
    """
    page = tab.page
    page.evaluate(TO_TOP)
    width, height = (page.viewport_size or WIDE).values()
    page.set_viewport_size({"width": width, "height": min(max(height, page.evaluate(HEIGHT)), TALLEST)})
    end_motion(page)
    with Image.open(io.BytesIO(page.screenshot())) as picture:
        few = _spare_colours(picture.convert("RGB"))
        few.save(path, "WEBP", lossless=True, method=4, quality=60)


def _spare_colours(picture: Image.Image) -> Image.Image:
    """Leave the edges of letters fewer colours, which halves the file; grounds and letters keep their own."""
    colours = np.asarray(picture).astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    found, counts = np.unique(colours, return_counts=True)
    is_common = np.isin(colours, found[np.argsort(-counts)[:COMMON]])
    rare = picture.quantize(RARE, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).convert("RGB")
    return Image.fromarray(np.where(is_common[..., None], np.asarray(picture), np.asarray(rare)))


def _remove_others() -> None:
    """Remove pictures of states and looks that are no more."""
    wanted = {f"{state.name}-{look.name}.webp" for state in CATALOGUE for look in LOOKS if _is_taken(state, look)}
    for path in FOLDER.glob("*.webp"):
        if path.name not in wanted:
            path.unlink()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

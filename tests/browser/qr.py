"""jsQR, from npm: reads a code from a picture, as a phone's camera does."""

from __future__ import annotations

import base64
from functools import cache

from playwright.sync_api import Locator

from tests.support.npm import Package, fetch

JSQR = Package(
    "jsqr",
    "1.4.0",
    "sha512-dxLob7q65Xg2DvstYkRpkYtmKm2sPJ9oFhrhmudT1dZvNFFTlroai3AWSpLey/w5vMcLBXRgOJsbXpdN9HzU/A==",
)
READ = """async (source) => {
  const picture = new Image();
  picture.src = source;
  await picture.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: picture.width, height: picture.height });
  const drawing = canvas.getContext("2d");
  drawing.drawImage(picture, 0, 0);
  const { data } = drawing.getImageData(0, 0, canvas.width, canvas.height);
  return window.jsQR(data, canvas.width, canvas.height)?.data ?? null;
}"""


@cache
def _source() -> str:
    return (fetch(JSQR) / "dist" / "jsQR.js").read_text()


def read_code(element: Locator) -> str | None:
    """Return what the code says that an element shows, or None where there is none to be read."""
    element.evaluate("(picture) => picture.decode()")
    picture = base64.b64encode(element.screenshot()).decode()
    page = element.page.context.new_page()
    page.evaluate(_source())
    text: str | None = page.evaluate(READ, f"data:image/png;base64,{picture}")
    page.close()
    return text

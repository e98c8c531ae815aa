"""A merchant's logo, drawn here: a cup on its saucer."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw

SIZE, GREEN, WHITE = 256, "#0a7d5a", "#ffffff"


def draw_logo() -> bytes:
    """Return it as a PNG."""
    picture = Image.new("RGB", (SIZE, SIZE), GREEN)
    pen = ImageDraw.Draw(picture)
    pen.ellipse((148, 92, 212, 156), outline=WHITE, width=14)
    pen.pieslice((52, 20, 180, 172), 0, 180, fill=WHITE)
    pen.rounded_rectangle((40, 190, 196, 206), 8, fill=WHITE)
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()

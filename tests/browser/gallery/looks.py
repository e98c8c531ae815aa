"""How the page can look: on three widths, in the dark, in a system's own colours, right to left, without scripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
SMALL = {"width": 320, "height": 640}


@dataclass(frozen=True)
class Look:
    """One browser: what a picture's file ends in, what the table says, and the settings of a browser context."""

    name: str
    title: str
    settings: dict[str, Any]

    @property
    def has_scripts(self) -> bool:
        return self.settings.get("java_script_enabled", True)


LOOKS = (
    Look("1280", "1280 px", {"viewport": WIDE}),
    Look("390", "390 px", {"viewport": PHONE, "has_touch": True}),
    Look("320", "320 px", {"viewport": SMALL, "has_touch": True}),
    Look("1280-dark", "1280 px, dark", {"viewport": WIDE, "color_scheme": "dark"}),
    Look("390-dark", "390 px, dark", {"viewport": PHONE, "color_scheme": "dark", "has_touch": True}),
    Look("forced", "forced colours", {"viewport": PHONE, "forced_colors": "active"}),
    Look("arabic", "Arabic", {"viewport": PHONE, "locale": "ar"}),
    Look("no-script", "no script", {"viewport": PHONE, "java_script_enabled": False}),
)
SMALLEST = LOOKS[2]

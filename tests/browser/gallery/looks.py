"""How the page can look: on a desktop, on phones, dark, in a system's own colours, mirrored, without scripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

WIDE = {"width": 1280, "height": 800}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "is_mobile": True,
    "has_touch": True,
    "user_agent": "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Mobile Safari/537.36",
}
SMALL = {**PHONE, "viewport": {"width": 320, "height": 640}}


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
    Look("390", "390 px", PHONE),
    Look("320", "320 px", SMALL),
    Look("1280-dark", "1280 px, dark", {"viewport": WIDE, "color_scheme": "dark"}),
    Look("390-dark", "390 px, dark", {**PHONE, "color_scheme": "dark"}),
    Look("forced", "forced colours", {**PHONE, "forced_colors": "active"}),
    Look("arabic", "Arabic", {**PHONE, "locale": "ar"}),
    Look("no-script", "no script", {**PHONE, "java_script_enabled": False}),
)
SMALLEST = LOOKS[2]

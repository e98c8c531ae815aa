"""The reference of settings in `docs/settings.md`; run as a module, this writes it anew."""

from __future__ import annotations

from pathlib import Path

from api.settings import SETTINGS, Group, Setting

DOCUMENT = Path(__file__).parents[2] / "docs" / "settings.md"
BEGIN = "## Reference\n"


def write_reference() -> str:
    """Return the document as it should be: what people wrote, and what the code declares."""
    parts = [DOCUMENT.read_text(encoding="utf-8").partition(BEGIN)[0] + BEGIN]
    for group in Group:
        rows = [_write_row(setting) for setting in SETTINGS.values() if setting.group == group]
        parts.append(f"\n### {group}\n\n| setting | without it | meaning |\n|---|---|---|\n" + "".join(rows))
    return "".join(parts)


def _write_row(setting: Setting) -> str:
    otherwise = f"`{setting.default}`" if setting.default else setting.otherwise
    return f"| `{setting.name}`{' 🔒' if setting.is_secret else ''} | {otherwise} | {setting.meaning} |\n"


if __name__ == "__main__":
    DOCUMENT.write_text(write_reference(), encoding="utf-8")

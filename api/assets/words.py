"""The texts that the page's scripts say themselves: they stand before the script, one for each language."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "templates" / "payment"
PARTS = ("script", "script_counts")


def write_words() -> Iterator[tuple[str, str]]:
    """Yield each language and a script that leaves its texts where `shared/language.js` takes them."""
    for path in sorted(FOLDER.glob("*.json")):
        texts = json.loads(path.read_text(encoding="utf-8"))
        words = {name: text for part in PARTS for name, text in texts[part].items()}
        text = json.dumps(words, ensure_ascii=False, separators=(",", ":"))
        yield path.stem, f"const pageWords={text};"

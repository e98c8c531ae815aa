"""The texts that the page's scripts say themselves: a file for each language, kept by a browser as the scripts are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "templates" / "payment"
PARTS = ("script", "script_counts")


def write_words() -> Iterator[tuple[str, str]]:
    """Yield for each language the name of its file and a script that leaves its texts where `main.js` takes them."""
    for path in sorted(FOLDER.glob("*.json")):
        texts = json.loads(path.read_text(encoding="utf-8"))
        words = {name: text for part in PARTS for name, text in texts[part].items()}
        yield f"payment/words-{path.stem}.js", f"window.pageWords = {json.dumps(words, ensure_ascii=False)};"

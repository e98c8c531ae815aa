"""Every threat names the tests that hold it off, and every one of them exists."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEAST = 60


def test_every_test_that_the_threat_model_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")))
    files = (path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    defined = {name for text in files for name in re.findall(r"^def (test_\w+)\(", text, re.MULTILINE)}
    assert named - defined == set()
    assert len(named) > LEAST


def test_every_threat_names_a_test() -> None:
    text = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
    tables = text.partition("## Threats")[2].partition("## What is not prevented")[0]
    rows = [line for line in tables.splitlines() if line.startswith("|") and "---" not in line]
    threats = [line for line in rows if not line.startswith("| threat |")]
    assert threats
    assert [line for line in threats if "`test_" not in line] == []

"""Answers that the service gave, a file for each operation, by tests/api/description/test_openapi_examples.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "examples"
EVENT = "event"


def load_example(name: str) -> Any:
    """Return the recorded answer of an operation, or None where there is none yet."""
    file = FOLDER / f"{name}.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else None

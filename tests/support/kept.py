"""What takes long to make and is always the same: kept in a folder, for all processes and later runs."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def keep(folder: Path, source: str, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what is made of a source, which any process may have made before."""
    file = folder / f"{hashlib.sha256(source.encode()).hexdigest()}.json"
    if not file.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        mine = file.with_suffix(f".{os.getpid()}")
        mine.write_text(json.dumps(make()))
        mine.replace(file)  # whole at once: another process may be reading
    found: dict[str, Any] = json.loads(file.read_text())
    return found

"""Write what cells show below them: ``python -m tests.support.notebooks [NAME …]``."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from tests.support.notebooks.documents import FOLDER, find_stale_pictures, list_notebooks, write_notebook


def main(names: list[str]) -> None:
    """Run the named notebooks, or all; those on recorded markets only where there are some."""
    recorded = Path(os.environ.setdefault("SHARED_DATA", str(FOLDER.parents[2] / "shared")))
    for path in list_notebooks(is_recorded=False) + list_notebooks(is_recorded=True) * recorded.is_dir():
        if names and path.stem not in names:
            continue
        started = time.perf_counter()
        written = write_notebook(path)
        for place, text in written.items():
            place.write_text(text, encoding="utf-8")
        for place in find_stale_pictures(path, list(written)):
            place.unlink()
        print(f"{path.name}: {len(written) - 1} pictures, {time.perf_counter() - started:.1f} s")


if __name__ == "__main__":
    main(sys.argv[1:])

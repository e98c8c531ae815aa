"""The browser of the browser tests. `python -m tests.support.chromium` makes sure that there is one.

A headless shell is Chromium's engine without windows. Where there is one it is preferred: a whole Chromium builds a
window for each test, with a page for its buttons, which takes five times the processor time of a test's own page.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.support.debian import install_packages

SHELLS = ("chromium-headless-shell", "chrome-headless-shell")
WHOLE = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PACKAGE = "chromium-headless-shell"
ARGUMENTS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars", "--lang=en-US")
"""What it needs in a container, and what keeps screenshots the same everywhere."""


def find(names: Sequence[str] = (*SHELLS, *WHOLE)) -> Path | None:
    """Return the first of these browsers that is on this machine, or None."""
    found = (shutil.which(name) for name in names)
    return next((Path(path) for path in found if path), None)


def executable() -> Path:
    """Return a Chromium on this machine.

    Raises
    ------
    RuntimeError
        If there is none; the message has the remedy.
    """
    path = find()
    if path is None:
        raise RuntimeError("No Chromium on this machine; `python -m tests.support.chromium` installs one")
    return path


def main() -> int:
    """Install a headless shell if there is none; say what to do if that fails and there is no other Chromium."""
    try:
        if find(SHELLS) is None:
            install_packages([PACKAGE], "The browser tests need Chromium")
    except RuntimeError as error:
        if find() is None:
            print(error, file=sys.stderr)
            return 1
    print(f"Browser tests run in {executable()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The browser of the browser tests. `python -m tests.support.chromium` makes sure that there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PREFERRED = Path("/usr/bin/chromium")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
INSTALL_S = 600
ARGUMENTS = ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars", "--lang=en-US")
"""What it needs in a container, and what keeps screenshots the same everywhere."""


def find() -> Path | None:
    """Return a Chromium on this machine, or None."""
    if os.access(PREFERRED, os.X_OK):
        return PREFERRED
    found = (shutil.which(name) for name in NAMES)
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


def install() -> None:
    """Install Debian's Chromium.

    Raises
    ------
    RuntimeError
        If this user or this system cannot.
    """
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise RuntimeError(
            "The browser tests need Chromium, and only root on a Debian system can be helped here: "
            "install it yourself, for example with `sudo apt-get install chromium`, and start again"
        )
    print("Installing Chromium (once) …", flush=True)
    _run((apt, "update", "-qq"))
    _run((apt, "install", "-y", "-qq", "--no-install-recommends", "chromium"))


def main() -> int:
    """Install a Chromium if there is none; say what to do if that fails."""
    try:
        if find() is None:
            install()
        print(f"Browser tests run in {executable()}")
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _run(command: Sequence[str]) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    if done.returncode:
        raise RuntimeError(f"`{' '.join(command)}` failed:\n{done.stderr[-2000:]}")


if __name__ == "__main__":
    sys.exit(main())

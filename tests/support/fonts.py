"""A Chinese font for the pictures of the page. `python -m tests.support.fonts` makes sure that there is one.

Without one a picture shows boxes; no test needs it.
"""

from __future__ import annotations

import subprocess
import sys

from tests.support.debian import install_packages

PACKAGE = "fonts-wqy-microhei"
ASK = ("fc-list", ":lang=zh-cn", "family")


def main() -> int:
    """Install a font if there is none; say what to do if that fails."""
    try:
        if not subprocess.run(ASK, capture_output=True, text=True, check=True).stdout.strip():
            install_packages([PACKAGE], "Pictures of the page in Chinese need a font")
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

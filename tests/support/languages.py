"""PHP and Go, for the guide's programs; ``python -m tests.support.languages`` installs what is missing, from Debian."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping

from tests.support.debian import install_packages

PACKAGES: Mapping[str, str] = {"php": "php-cli", "go": "golang-go"}
"""Debian's package, by the program."""
VERSION: Mapping[str, str] = {"php": "--version", "go": "version"}


def main() -> int:
    """Install what is missing, and say which versions there are."""
    for program, package in PACKAGES.items():
        if shutil.which(program) is None:
            try:
                install_packages([package], f"The guide's program in {program} needs {package}")
            except RuntimeError as error:
                print(error, file=sys.stderr)
                return 1
        done = subprocess.run([program, VERSION[program]], capture_output=True, text=True, check=True)
        print(done.stdout.partition("\n")[0])
    return 0


if __name__ == "__main__":
    sys.exit(main())

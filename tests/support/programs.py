"""Programs of the system that tests need: ``python -m tests.support.programs`` installs at once what is missing."""

from __future__ import annotations

import sys

from tests.support import chromium
from tests.support.debian import install_packages
from tests.support.servers import PACKAGES, find_program, get_program


def main() -> int:
    """Install what is missing; say what to do if that fails and a test would miss something."""
    missing = list_missing()
    try:
        if missing:
            install_packages(missing, "The tests of the page and of deployments need more")
    except RuntimeError as error:
        if chromium.find() is None or list_missing() != [chromium.PACKAGE]:
            print(error, file=sys.stderr)
            return 1
    print(f"Browser tests run in {chromium.executable()}")
    print("Deployments are tested with " + ", ".join(get_program(name) for name in PACKAGES))
    return 0


def list_missing() -> list[str]:
    """List the packages of programs that are not on this machine; of browsers a headless shell is asked for."""
    missing = {package for program, package in PACKAGES.items() if find_program(program) is None}
    return sorted(missing | ({chromium.PACKAGE} if chromium.find(chromium.SHELLS) is None else set()))


if __name__ == "__main__":
    sys.exit(main())

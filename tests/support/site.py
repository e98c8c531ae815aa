"""The site of the documents: ``python -m tests.support.site build/site`` builds it, without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def build_site(folder: Path) -> str:
    """Build the site into `folder` and return what MkDocs has printed.

    Raises
    ------
    RuntimeError
        If it has warned of anything.
    """
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--config-file", str(ROOT / "mkdocs.yml")]
    # Without this, the theme's makers advertise their next product on each build.
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [*command, "--site-dir", str(folder)], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode or "WARNING" in done.stderr:
        raise RuntimeError(f"The site can't be built:\n{done.stdout}{done.stderr}")
    return done.stderr


if __name__ == "__main__":
    target = Path(sys.argv[1]).absolute()
    build_site(target)
    print(f"The site is in {target}: open {target / 'index.html'}")

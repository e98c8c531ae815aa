"""Curve's contracts as the compiler's authors keep them to test Vyper: from Vyper's source distribution on PyPI."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.archives import unpack
from tests.support.npm import CACHE
from tests.support.vyper_source import compile_source

VERSION = "0.4.3"
SHA256 = "22a7573657401d8a3bc690d65d6b7741680007180978c3a05f9892db31d5dcf5"
FOLDER = f"vyper-{VERSION}/tests/functional/examples/thirdparty/curvefi"


@cache
def compile_curve(name: str, *changes: tuple[str, str]) -> dict[str, Any]:
    """Return ``abi`` and ``bytecode`` of a contract, with constants that its deployer replaces replaced.

    Raises
    ------
    RuntimeError
        If pip cannot bring the distribution, or it is not the pinned one.
    """
    source = _read(f"{name}.vy")
    for old, new in changes:
        if source.count(old) != 1:
            raise RuntimeError(f"{name} has {old!r} not once, but {source.count(old)} times")
        source = source.replace(old, new)
    return compile_source(source)


def _read(file: str) -> str:
    home = CACHE.parent / "pypi" / f"vyper-{VERSION}"
    if not home.is_dir():
        home.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home.parent) as scratch:
            archive = _download(Path(scratch))
            unpacked = Path(scratch) / "unpacked"
            unpack(archive, unpacked, FOLDER)
            try:
                (unpacked / FOLDER).rename(home)
            except OSError:
                if not home.is_dir():
                    raise
    return (home / file).read_text()


def _download(folder: Path) -> Path:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "vyper"]
    done = subprocess.run(
        [*command, "--dest", str(folder), f"vyper=={VERSION}"], capture_output=True, text=True, timeout=400, check=False
    )
    if done.returncode:
        raise RuntimeError(f"pip could not fetch vyper {VERSION}; is a registry reachable?\n{done.stderr[-2000:]}")
    (archive,) = folder.glob("*.tar.gz")
    if hashlib.sha256(archive.read_bytes()).hexdigest() != SHA256:
        raise RuntimeError(f"{archive.name} is not the pinned distribution")
    return archive

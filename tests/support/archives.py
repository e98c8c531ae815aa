"""Archives, unpacked by the system's `tar`: Python's own has no safe way before 3.11.4, and takes thrice as long."""

from __future__ import annotations

import subprocess
from pathlib import Path


def unpack(archive: Path, folder: Path, *parts: str) -> None:
    """Unpack an archive into a folder, which is made; of named parts these only.

    Raises
    ------
    RuntimeError
        If it cannot be read; or if something in it would lie elsewhere, which `tar` refuses by itself.
    """
    folder.mkdir(parents=True, exist_ok=True)
    command = ["tar", "--extract", "--no-same-owner", "--file", str(archive), "--directory", str(folder), *parts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{archive.name} cannot be unpacked:\n{done.stderr[-2000:]}")

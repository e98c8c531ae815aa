"""A small file system for one command and what it starts: nobody else sees it, and it ends with them."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

MOUNT = 'mount -t tmpfs -o "size=$0,mode=777" tmpfs "$1" && shift && exec "$@"'


def write_command(folder: Path, size: str, command: Sequence[str]) -> list[str]:
    """Return what runs a command that finds so large a file system, such as ``100m``, at a folder.

    An account that may not mount gets a namespace in which it is root, and in that one another in which it is itself.
    """
    own = os.geteuid()
    if own == 0:
        return ["unshare", "--mount", "sh", "-c", MOUNT, size, str(folder), *command]
    inside = ["unshare", "--user", f"--map-user={own}", *command]
    return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, size, str(folder), *inside]


def may_mount() -> bool:
    """Find out whether this system lets this account do it."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            ended = subprocess.run(write_command(Path(folder), "1m", ["true"]), capture_output=True, check=False)
        except OSError:
            return False
        return ended.returncode == 0

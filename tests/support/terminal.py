"""A command whose standard error is a terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import threading
from collections.abc import Sequence


def run_in_terminal(command: Sequence[str]) -> tuple[str, bytes]:
    """Run a command that must succeed; return what the terminal showed, and its standard output.

    The terminal is read all the while: its buffer is small, and who draws in it waits when it is full.
    """
    terminal, end = pty.openpty()
    chunks: list[bytes] = []

    def drain() -> None:
        while True:
            try:
                chunk = os.read(terminal, 65536)
            except OSError:  # Linux says so when the last writer has gone
                return
            if not chunk:
                return
            chunks.append(chunk)

    reader = threading.Thread(target=drain)
    reader.start()
    try:
        environment = os.environ | {"TERM": "xterm-256color"}
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=end, env=environment, check=True)
    finally:
        os.close(end)
        reader.join()
        os.close(terminal)
    return b"".join(chunks).decode(), result.stdout

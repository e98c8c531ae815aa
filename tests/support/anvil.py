"""A local chain for tests: anvil, from npm, on loopback."""

from __future__ import annotations

import platform
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.npm import Package, fetch

VERSION = "1.7.1"
STATES = 500
"""Of the newest blocks, in memory. By default anvil writes older ones to the disk and leaves them there: in one day of
random histories, 66 GB."""
_SYSTEMS = {"Linux": "linux", "Darwin": "darwin"}
_MACHINES = {"x86_64": "amd64", "amd64": "amd64", "aarch64": "arm64", "arm64": "arm64"}
_INTEGRITY = {
    "linux-amd64": "sha512-+XmShybEaxfCrr0OUUZwYEy2OnYZt5pHH9TzBtLv3+VrK0O/ANuNSVEahqNhKHlgX7GRJ59383ofNhxkRWIYTg==",
}
"""Measured tarballs; the other platforms' packages are pinned by version and checked by npm alone."""


def anvil_package() -> Package:
    """Return the package with this platform's binary.

    Raises
    ------
    RuntimeError
        If anvil is not published for this platform.
    """
    try:
        target = f"{_SYSTEMS[platform.system()]}-{_MACHINES[platform.machine().lower()]}"
    except KeyError:
        raise RuntimeError(f"no anvil for {platform.system()} on {platform.machine()}") from None
    return Package(f"@foundry-rs/anvil-{target}", VERSION, _INTEGRITY.get(target))


def anvil_binary() -> Path:
    """Return the path of the executable, downloading it once."""
    return fetch(anvil_package()) / "bin" / "anvil"


@contextmanager
def running_anvil(chain_id: int, *options: str) -> Iterator[str]:
    """Run a chain and yield its address; the process ends with the block.

    Parameters
    ----------
    chain_id : int
        EIP-155 chain id it answers with.
    *options : str
        Further command-line options.
    """
    command = [
        anvil_binary(), "--host", "127.0.0.1", "--port", "0", "--chain-id", str(chain_id),
        "--prune-history", str(STATES), *options,
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    drained = None
    try:
        address = _address(process)
        # It logs every question, and stops answering once nobody takes what it says.
        drained = threading.Thread(target=_drain, args=(process,), daemon=True)
        drained.start()
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)
        if drained:
            drained.join(timeout=20)
        process.stdout.close()


def _drain(process: subprocess.Popen[str]) -> None:
    for _ in process.stdout:
        pass


def _address(process: subprocess.Popen[str]) -> str:
    """Read the output until it names the port that the system chose."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        found = re.search(r"Listening on 127\.0\.0\.1:(\d+)", line)
        if found:
            return f"http://127.0.0.1:{found[1]}"
    raise RuntimeError("anvil ended before it listened:\n" + "".join(said))

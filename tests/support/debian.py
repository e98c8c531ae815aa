"""What tests need of Debian's packages, installed where this user may do so."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

INSTALL_S = 600
POLICY = Path("/usr/sbin/policy-rc.d")
"""What Debian's packages ask whether they may start something; 101 is no."""


def install_packages(packages: Sequence[str], need: str) -> None:
    """Install packages, all at once, and start nothing of them; `need` says in a sentence what they are for.

    Raises
    ------
    RuntimeError
        If this user or this system cannot.
    """
    names = " ".join(packages)
    apt = shutil.which("apt-get")
    if apt is None or os.geteuid() != 0:
        raise RuntimeError(
            f"{need}, and only root on a Debian system can be helped here: "
            f"install it yourself, for example with `sudo apt-get install {names}`, and start again"
        )
    print(f"Installing {names} (once) …", flush=True)
    with _start_nothing():
        _run((apt, "update", "-qq"))
        _run((apt, "install", "-y", "-qq", "--no-install-recommends", *packages))


@contextmanager
def _start_nothing() -> Iterator[None]:
    """Keep packages that are installed meanwhile from starting anything."""
    is_ours = os.geteuid() == 0 and not POLICY.exists()
    if is_ours:
        POLICY.write_text("#!/bin/sh\nexit 101\n")
        POLICY.chmod(0o755)
    try:
        yield
    finally:
        if is_ours:
            POLICY.unlink()


def _run(command: Sequence[str]) -> None:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"`{' '.join(command)}` took longer than {INSTALL_S} s") from None
    if done.returncode:
        raise RuntimeError(f"`{' '.join(command)}` failed:\n{done.stderr[-2000:]}")

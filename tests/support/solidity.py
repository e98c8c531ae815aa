"""Contracts whose authors published their source only: compiled with solc's own build for Node, both from npm."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from tests.support.kept import keep
from tests.support.npm import CACHE, Package, fetch

SOLC = Package(
    "solc",
    "0.8.24",
    "sha512-G5yUqjTUPc8Np74sCFwfsevhBPlUifUOfhYrgyu6CmYlC6feSw0YS6eZW47XDT23k3JYdKx5nJ+Q7whCEmNcoA==",
)

COMPILED = CACHE.parent / "solc"

RUN = """
const solc = require(process.argv[1] + "/soljson.js");
const compile = solc.cwrap("solidity_compile", "string", ["string", "number", "number"]);
process.stdout.write(compile(require("fs").readFileSync(0, "utf8"), 0, 0));
"""
"""Reads standard JSON and writes standard JSON; the package's own command line would need more packages."""

IMPORT = re.compile(r"^import\b[^;]*?[\"']([^\"']+)[\"'];", re.MULTILINE)


@cache
def compile_solidity(main: str, name: str, roots: tuple[tuple[str, Package], ...]) -> dict[str, Any]:
    """Return ``abi`` and ``bytecode`` of the contract `name` in the file `main`.

    Parameters
    ----------
    main : str
        Path that begins with one of the roots' names.
    roots : tuple of (str, Package)
        What an import's first folder stands for: the files of which package.

    Raises
    ------
    RuntimeError
        If the compiler refuses the source.
    """
    settings = {
        "evmVersion": "paris",
        "optimizer": {"enabled": True, "runs": 200},
        "outputSelection": {main: {name: ["abi", "evm.bytecode.object"]}},
    }
    task = json.dumps({"language": "Solidity", "sources": _collect(main, dict(roots)), "settings": settings})
    answer = keep(COMPILED, f"{SOLC.version}\n{task}", lambda: _compile(task))
    made = answer["contracts"][main][name]
    return {"abi": made["abi"], "bytecode": made["evm"]["bytecode"]["object"]}


def _compile(task: str) -> dict[str, Any]:
    node = shutil.which("node", path=str(Path(sys.executable).parent)) or shutil.which("node") or "node"
    command = [node, "-e", RUN, str(fetch(SOLC))]
    done = subprocess.run(command, input=task, capture_output=True, text=True, timeout=120, check=True)
    answer: dict[str, Any] = json.loads(done.stdout)
    errors = [each["formattedMessage"] for each in answer.get("errors", ()) if each["severity"] == "error"]
    if errors:
        raise RuntimeError("\n".join(errors))
    return answer


def _collect(main: str, roots: dict[str, Package]) -> dict[str, dict[str, str]]:
    """Return the file and all that it imports, by path."""
    sources: dict[str, dict[str, str]] = {}
    waiting = [main]
    while waiting:
        path = waiting.pop()
        if path in sources:
            continue
        root = next(root for root in roots if path.startswith(f"{root}/"))
        text = (fetch(roots[root]) / path.removeprefix(f"{root}/")).read_text()
        sources[path] = {"content": text}
        waiting += [_resolve(path, wanted) for wanted in IMPORT.findall(text)]
    return sources


def _resolve(path: str, wanted: str) -> str:
    if not wanted.startswith("."):
        return wanted
    parts: list[str] = []
    for part in (PurePosixPath(path).parent / wanted).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)

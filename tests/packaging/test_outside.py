"""How many places an addition touches, counted: a folder that is no part of the tree adds a bridge and an exchange."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHECKS = Path(__file__).with_name("outside") / "checks.py"
TEXT = (ROOT / "docs" / "adding-a-protocol.md").read_text()
ADAPTER, _, PAYABLE, FORK, _ = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
BRIDGE_LINE = ("routing_engine.bridges", "pony = pony:BRIDGE")
EXCHANGE_LINES = (
    ("routing_engine.protocols", "pony_swap = pony_swap:find_deployments"),
    ("routing_engine.payments", "pony_swap = pony_swap:make_builders"),
)


def install(folder: Path, name: str, source: str, *lines: tuple[str, str]) -> None:
    """Put a package of one module and its entry points into a folder of the path, as an installer would."""
    (folder / f"{name}.py").write_text(source)
    metadata = folder / f"{name}-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("".join("[{}]\n{}\n".format(*line) for line in lines))


def count_places(folder: Path, name: str) -> dict[str, int]:
    """Return the files of a package, and the lines of its metadata that make it known."""
    metadata = PathDistribution(folder / f"{name}-1.dist-info")
    return {"files": len(list(folder.glob(f"**/{name}.py"))), "lines": len(metadata.entry_points)}


def test_one_file_and_one_line_make_a_bridge_payable_and_two_an_exchange(tmp_path: Path) -> None:
    install(tmp_path, "pony", f"{ADAPTER}\n\n{PAYABLE}", BRIDGE_LINE)
    install(tmp_path, "pony_swap", FORK, *EXCHANGE_LINES)
    assert count_places(tmp_path, "pony") == {"files": 1, "lines": 1}
    assert count_places(tmp_path, "pony_swap") == {"files": 1, "lines": 2}
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CHECKS)]
    environment = kept | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    assert f"{CHECKS.read_text().count('def test_')} passed" in done.stdout


def test_the_lines_are_those_of_the_document() -> None:
    for group, line in (BRIDGE_LINE, *EXCHANGE_LINES):
        name, _, target = line.partition(" = ")
        assert re.search(rf"{re.escape(group)} =\n    {name} = my_package\.{re.escape(target)}\n", TEXT), group


def test_a_bridge_of_the_tree_has_one_line_too() -> None:
    """And no other group names anything of a bridge."""
    named = [
        entry
        for entry in distribution("crosschain-checkout").entry_points
        if entry.module.startswith("adapters.bridges")
    ]
    assert {entry.group for entry in named} == {"routing_engine.bridges"}
    folder = ROOT / "adapters" / "bridges"
    holding = {path for path in folder.rglob("*.py") if "\nBRIDGE = Bridge(" in path.read_text()}
    homes = {path.parent.name if path.name == "__init__.py" else path.stem for path in holding}
    assert sorted(entry.name for entry in named) == sorted(homes)
    assert homes >= {path.parent.name for path in folder.glob("*/__init__.py")}

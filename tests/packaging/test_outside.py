"""How many places an addition touches, counted: a folder that is no part of the tree adds a bridge and an exchange."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHECKS = Path(__file__).with_name("outside") / "checks.py"
TEXT = (ROOT / "docs" / "adding-a-protocol.md").read_text()
ADAPTER, _, PAYABLE, FORK = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
BRIDGE_LINES = {
    "routing_engine.adapters": "pony = pony:PonyAdapter",
    "routing_engine.payments": "pony = pony:payments",
    "routing_engine.bridge_events": "pony = pony:events",
}
EXCHANGE_LINES = {"routing_engine.protocols": "pony_swap = pony_swap:deployed"}


def install(folder: Path, name: str, source: str, lines: dict[str, str]) -> None:
    """Put a package of one module into a folder of the path, as an installer would."""
    (folder / f"{name}.py").write_text(source)
    metadata = folder / f"{name}-1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("".join(f"[{group}]\n{line}\n" for group, line in lines.items()))


def test_one_file_and_its_lines_make_a_bridge_payable_and_an_exchange_readable(tmp_path: Path) -> None:
    install(tmp_path, "pony", f"{ADAPTER}\n\n{PAYABLE}", BRIDGE_LINES)
    install(tmp_path, "pony_swap", FORK, EXCHANGE_LINES)
    assert sorted(path.name for path in tmp_path.glob("*.py")) == ["pony.py", "pony_swap.py"], "a file for each"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV_"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CHECKS)]
    environment = kept | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
    assert f"{CHECKS.read_text().count('def test_')} passed" in done.stdout


def test_the_lines_are_those_of_the_document() -> None:
    for group, line in (BRIDGE_LINES | EXCHANGE_LINES).items():
        name, _, target = line.partition(" = ")
        assert re.search(rf"{re.escape(group)} =\n    {name} = my_package\.{re.escape(target)}\n", TEXT), group

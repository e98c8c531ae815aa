"""Print rooms, floors, arrows and circles of every package, and what is longest and widest.

``python -m tests.architecture [FOLDER]``: this tree, or another one to compare with.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.architecture.rooms import draw_plans
from tests.architecture.sizes import list_functions, list_long_files
from tests.architecture.source import ROOT, read_modules

SHOWN = 5


def main(root: Path) -> None:
    """Print the figures of the tree under `root`."""
    print(f"{'package':<45} {'rooms':>5} {'floors':>6} {'arrows':>6}  circles")
    plans = draw_plans(root)
    for plan in plans:
        circles = "; ".join(" ↔ ".join(circle) for circle in plan.circles)
        print(f"{plan.package:<45} {plan.rooms:>5} {plan.floors:>6} {plan.arrows:>6}  {circles}".rstrip())
    lines = sum(module.text.count("\n") for module in read_modules(root).values())
    circles_found = sum(len(plan.circles) for plan in plans)
    print(f"\n{len(read_modules(root))} modules, {lines:,} lines, {circles_found} circles")
    functions = list_functions(root)
    show_largest("lines of the longest functions", {name: size[0] for name, size in functions.items()})
    show_largest("parameters of the widest functions", {name: size[1] for name, size in functions.items()})
    long_files = list_long_files(root)
    show_largest("lines of files that are too long", long_files, len(long_files))


def show_largest(title: str, sizes: Mapping[str, int], most: int = SHOWN) -> None:
    """Print the `most` largest of `sizes`."""
    print(f"\n{title}")
    for name, size in sorted(sizes.items(), key=lambda item: -item[1])[:most]:
        print(f"{size:>5}  {name}")


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)

"""Parts of kernels are compiled by themselves, once, and found again by every kernel that calls them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import numpy as np
from numba.core import event
from routing_engine.jit.decorators import inner, kernel, part
from routing_engine.kernels.arrays import Inflow as Pair


@part("Tuple((float64, int64))")
def weigh(pair, times):
    kept = np.zeros(2)
    for i in range(times):
        kept[i % 2] += pair.most[0] * pair.reached[0]
    return kept[0] + kept[1], times


@part("float64")
def weigh_twice(pair, times):
    return weigh(pair, times)[0] + weigh(Pair(pair.reached, pair.most), times)[0]


@inner
def add(pair):
    return pair.most[0] + pair.reached[0]


@kernel
def one(pair):
    return weigh_twice(pair, 3) + add(pair)


@kernel
def other(pair):
    return weigh(pair, 3)


def run(kernel):
    pair = Pair(np.full(1, 5.0), np.full(1, 7.0))
    with event.install_recorder("numba:compile") as compiled:
        print(kernel(pair))
    functions = [each.data["dispatcher"].py_func for _, each in compiled.buffer if each.is_start]
    print(sorted(each.__name__ for each in functions if each.__module__ == __name__))
"""


def run(folder: Path, program: str) -> list[str]:
    """Run a program on the kernels above, with a cache beside them; return the lines that it printed."""
    (folder / "tried.py").write_text(PROGRAM)
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(folder / "cache"),
        "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]),
    }
    program = f"from tried import *\n{program}"
    found = subprocess.run([sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True)
    return found.stdout.splitlines()


def test_a_part_is_compiled_once_for_all_its_callers(tmp_path: Path) -> None:
    compiled = ["222.0", "['add', 'one', 'weigh', 'weigh_twice']", "(105.0, 3)", "['other']"]
    assert run(tmp_path, "run(one); run(other)") == compiled
    assert run(tmp_path, "run(other); run(one)") == ["(105.0, 3)", "[]", "222.0", "[]"]


def test_a_kernel_is_compiled_where_its_parts_are_left_to_others(tmp_path: Path) -> None:
    pair = "(Pair(np.ones(1), np.ones(1)),)"
    first = f"compile_for(one, *{pair})"
    ahead = "from routing_engine.jit.ahead import compile_for"
    alone = "from routing_engine.jit.parts import leave_parts_to_others; leave_parts_to_others()"
    hurried = "from routing_engine.jit.quicker import hurry; hurry()"
    assert run(tmp_path, f"{ahead}; {alone}; {hurried}; {first}; print('done')") == ["done"]
    assert run(tmp_path, f"{ahead}; compile_for(weigh, *{pair}, 3)") == []
    assert run(tmp_path, "run(one)") == ["222.0", "['weigh_twice']"]

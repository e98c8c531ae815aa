"""Markets are read, stored and compared without the compiler; what a curve computes loads it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from routing_engine.curves.formulas import Formula

IS_LOADED = "; import sys; print('numba' in sys.modules)"
SANDBOX = "from routing_engine import Snapshot; snapshot = Snapshot.sandbox(); snapshot.id"


def printed_by(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.parametrize(
    "code",
    [
        "import routing_engine.markets",
        "import routing_engine.formats",
        "import routing_engine.snapshot.snapshot",
        SANDBOX,
    ],
)
def test_markets_are_read_and_compared_without_the_compiler(code: str) -> None:
    assert printed_by(code + IS_LOADED) == "False"


def test_a_router_loads_it() -> None:
    assert printed_by("import routing_engine.router" + IS_LOADED) == "True"


def test_a_formula_is_found_when_it_is_first_computed() -> None:
    missing = Formula("weighted", "there_is_no_such_formula")
    with pytest.raises(AttributeError, match="there_is_no_such_formula"):
        missing()

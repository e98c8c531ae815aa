"""Markets are read, stored and compared without the compiler; what a curve computes loads it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from routing_engine.curves.formulas import Formula

ROUTE = """
from routing_engine import Router, RouteRequest, Snapshot
request = RouteRequest(token_in="WETH@1", token_out="USDC@1", amount=10**18)
Router(Snapshot.sandbox()).find_routes(request).best()
"""
UNUSED = "numba.np.linalg", "numba.np.npyimpl", "numpy.ma"
REGISTRIES = f"import sys; print([name for name in {UNUSED} if name in sys.modules])"
LINK = """
import numba
import numpy as np
from numba.core import event
from routing_engine.kernels.split.flow_network import create_network
work = np.zeros(1, np.int64)
with event.install_recorder("numba:compile") as compiled:
    network = create_network(2, 3, work)
was_compiled = len(compiled.buffer)
linked = numba.njit(lambda work: create_network(2, 3, work))(work)
print(was_compiled, all((a == b).all() for a, b in zip(network, linked, strict=True)))
"""
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


def test_a_route_over_kernels_of_the_cache_does_not_prepare_the_compiler() -> None:
    assert printed_by(ROUTE + REGISTRIES) == "[]"


def test_a_kernel_of_the_cache_can_be_linked_with_another() -> None:
    assert printed_by(ROUTE + LINK) == "0 True"


def test_a_formula_is_found_when_it_is_first_computed() -> None:
    missing = Formula("weighted", "there_is_no_such_formula")
    with pytest.raises(AttributeError, match="there_is_no_such_formula"):
        missing()

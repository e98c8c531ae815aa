"""Tests that share something costly stay together: pytest and pytest-xdist must fit one another for that."""

from __future__ import annotations

import os

import pytest

from tests.support.distribution import name_unit

GROUP = "fit of pytest and xdist"


@pytest.mark.xdist_group(GROUP)
def test_groups_are_honoured(request: pytest.FixtureRequest) -> None:
    """A worker names the group in a node id; pytest 9.2 with pytest-xdist 3.8 drops it in silence."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert request.node.nodeid.endswith(f"@{GROUP}")
    else:
        assert "@" not in request.node.nodeid


@pytest.mark.parametrize(
    ("test", "unit"),
    [
        ("tests/a/test_b.py::test_c", "tests/a/test_b.py"),
        ("tests/a/test_b.py::test_c[WETH@1]", "tests/a/test_b.py"),
        ("tests/a/test_b.py::test_c[a::b]", "tests/a/test_b.py"),
        (f"tests/a/test_b.py::test_c@{GROUP}", GROUP),
        (f"tests/a/test_b.py::test_c[WETH@1]@{GROUP}", GROUP),
    ],
)
def test_a_group_or_a_module_goes_to_one_worker(test: str, unit: str) -> None:
    assert name_unit(test) == unit

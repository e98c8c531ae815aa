"""Tests that share something costly stay together: pytest and pytest-xdist must fit one another for that."""

from __future__ import annotations

import os

import pytest

GROUP = "fit of pytest and xdist"


@pytest.mark.xdist_group(GROUP)
def test_groups_are_honoured(request: pytest.FixtureRequest) -> None:
    """A worker names the group in a node id; pytest 9.2 with pytest-xdist 3.8 drops it in silence."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        assert request.node.nodeid.endswith(f"@{GROUP}")
    else:
        assert "@" not in request.node.nodeid

"""Which worker gets which tests: a group, or a module, goes to one worker as a whole.

Test by test, each worker would make the fixtures of each module: chains with their contracts, markets, answers that all
of its tests look at.
"""

from __future__ import annotations

from xdist.scheduler import LoadGroupScheduling


class ModuleScheduling(LoadGroupScheduling):
    """Distributes groups, and modules of what has no group."""

    def _split_scope(self, nodeid: str) -> str:
        return name_unit(nodeid)


def name_unit(nodeid: str) -> str:
    """Return a test's group, which pytest-xdist has written behind its id, or its module."""
    module, _, test = nodeid.partition("::")
    _, at, group = test.rpartition("]")[2].rpartition("@")
    return group if at else module

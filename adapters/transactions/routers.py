"""What payments share over pools whose factories have a router of their own on each chain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from adapters.chain.deployments import read_deployments
from adapters.transactions.base import CannotBuild, PaymentBuilder, PlannedHop
from adapters.transactions.paths import SwapPath, find_path
from routing_engine.reference.chains import CHAINS


class RouterPayments(PaymentBuilder):
    """Pays over the pools of one factory, on one chain.

    Parameters
    ----------
    protocol : str
        Whose pools.
    routers : mapping of int to str
        The factory's router by chain.
    """

    crosses_chains = False

    def __init__(self, protocol: str, routers: Mapping[int, str]) -> None:
        self.protocols = frozenset({protocol})
        self._routers = routers

    def find_swaps(self, hops: tuple[PlannedHop, ...]) -> SwapPath | None:
        """Return hops as a path over these pools on a chain with a router, or None where they are something else."""
        path = find_path(hops, self.protocols)
        return path if path is not None and path.token_in.chain_id in self._routers else None

    def expect_swaps(self, hops: tuple[PlannedHop, ...]) -> tuple[SwapPath, str]:
        """Return the path that a call of the router is to take, and the router.

        Raises
        ------
        CannotBuild
            If it takes no such hops.
        """
        path = self.find_swaps(hops)
        if path is None or not self.can_build(hops):
            raise CannotBuild("the router takes no such hops")
        return path, self._routers[path.token_in.chain_id]


def find_routers(protocol: str) -> Iterator[tuple[str, dict[int, str]]]:
    """Return a protocol and its forks with their routers by chain, where these are known."""
    routers: dict[str, dict[int, str]] = {}
    for chain_id in CHAINS:
        for facts in read_deployments(protocol, chain_id):
            if "router" in facts.record:
                routers.setdefault(facts.get_text("name"), {})[chain_id] = facts.get_address("router")
    yield from routers.items()

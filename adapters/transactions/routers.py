"""What payments share over pools whose factories have a router of their own on each chain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from adapters.chain.deployments import read_deployments
from adapters.rpc.abi import Function
from adapters.transactions.base import CannotBuild, PaymentBuilder, PlannedHop
from adapters.transactions.intermediaries import Intermediaries, PoolFactory, PoolInterface
from adapters.transactions.paths import SwapPath, find_path
from routing_engine.reference.chains import CHAINS


class RouterPayments(PaymentBuilder):
    """Pays over the pools of one factory, on one chain.

    Parameters
    ----------
    protocol : str
        Whose pools.
    routers : mapping of int to str
        The factory's router by chain. Where there is none, nobody is paid, but other people's calls pass the pools.
    factories : mapping of int to tuple of PoolFactory
        What makes the pools, by chain.
    """

    crosses_chains = False

    def __init__(
        self, protocol: str, routers: Mapping[int, str], factories: Mapping[int, tuple[PoolFactory, ...]]
    ) -> None:
        self.protocols = frozenset({protocol} if routers else ())
        self._routers, self._factories = routers, factories

    def find_intermediaries(self, chain_id: int) -> Intermediaries:
        """Return the factories; see `PaymentBuilder.find_intermediaries`."""
        return Intermediaries(factories=self._factories.get(chain_id, ()))

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


@dataclass(frozen=True, slots=True)
class Exchange:
    """A protocol or one of its forks, with its routers and factories by chain, as far as they are known."""

    name: str
    routers: dict[int, str] = field(default_factory=dict)
    factories: dict[int, tuple[PoolFactory, ...]] = field(default_factory=dict)


def find_exchanges(protocol: str, interface: PoolInterface, told: Mapping[Function, PoolInterface]) -> list[Exchange]:
    """Return a protocol and its forks.

    Parameters
    ----------
    protocol : str
        As deployments name it.
    interface : PoolInterface
        Of the factories' pools.
    told : mapping of Function to PoolInterface
        What a router is asked for the factories that it uses itself, and the interface of their pools.
    """
    found: dict[str, Exchange] = {}
    for chain_id in CHAINS:
        for facts in read_deployments(protocol, chain_id):
            exchange = found.setdefault(facts.get_text("name"), Exchange(facts.get_text("name")))
            factories = [PoolFactory(address=facts.get_address("factory"), interface=interface)]
            if "router" in facts.record:
                router = exchange.routers[chain_id] = facts.get_address("router")
                factories += (PoolFactory(address=ask(router), interface=of) for ask, of in told.items())
            exchange.factories[chain_id] = (*exchange.factories.get(chain_id, ()), *factories)
    return list(found.values())

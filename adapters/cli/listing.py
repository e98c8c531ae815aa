"""What is installed, and how it is doing when it is asked once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import entry_points

from adapters.base import UNAVAILABLE, AdapterError
from adapters.chain.protocol import ENTRY_POINTS as PROTOCOLS
from adapters.chain.protocol import load_protocols
from adapters.feed.connect import connect
from adapters.feed.feed import Feed
from adapters.feed.plan import Plan
from adapters.http.client import JsonClient
from adapters.installed import BRIDGES, load_adapters
from adapters.installed import ENTRY_POINTS as ADAPTERS
from adapters.rpc.endpoint_health import EndpointHealth
from adapters.rpc.endpoint_pool import RpcPool
from routing_engine.reference.chains import CHAINS

SERVICE, PROTOCOL = "adapter", "protocol"


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """One entry point.

    Parameters
    ----------
    name, where : str
        Its name, and what it names: ``module:attribute``.
    kind : str
        ``adapter``, or ``protocol`` for those that the adapter `chain` reads.
    chains : tuple of int
        Of a protocol: the described chains it is find_deployments on.
    """

    name: str
    where: str
    kind: str
    chains: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What one source gave, and left out by reason, when it was asked once.

    `trouble` and `reason` are empty where all is well.
    """

    name: str
    markets: int
    seconds: float
    trouble: str = ""
    reason: str = ""
    refused: Mapping[str, int] = field(default_factory=dict)


def list_installed() -> Iterator[Installed]:
    """Return every installed adapter, then every protocol; a bridge is what its lanes are read by."""
    where = _find_values(ADAPTERS)
    for name in load_adapters():
        yield Installed(name=name, where=where[name], kind=SERVICE)
    where = _find_values(PROTOCOLS)
    for name, find_deployments in load_protocols().items():
        chains = tuple(chain_id for chain_id in CHAINS if any(True for _ in find_deployments(chain_id)))
        yield Installed(name=name, where=where[name], kind=PROTOCOL, chains=chains)


def check_adapters(names: Iterable[str], urls: Mapping[int, Sequence[str]]) -> Iterator[Checked]:
    """Read adapters once, one after the other; those that lack endpoints or settings say so."""
    rpc_urls = {chain_id: tuple(each) for chain_id, each in urls.items()}
    client = JsonClient()
    for name in names:
        try:
            sources = connect(Plan(adapters=(name,), rpc_urls=rpc_urls), client)
        except (ValueError, AdapterError) as error:
            yield Checked(name=name, markets=0, seconds=0.0, trouble="not_connected", reason=str(error))
            continue
        feed = Feed(sources)
        state = feed.read_all()
        for report in state.sources:
            markets = sum(owner == report.name for owner in state.owners.values())
            yield Checked(
                name=report.name,
                markets=markets,
                seconds=report.seconds,
                trouble=report.trouble,
                reason=report.reason,
                refused={each: count for each, count in report.refused.items() if not each.endswith(UNAVAILABLE)},
            )
    client.close()


def ask_endpoints(urls: Mapping[int, Sequence[str]]) -> Iterator[tuple[int, EndpointHealth]]:
    """Ask every endpoint for its chain and newest block."""
    for chain_id, each in urls.items():
        rpc = RpcPool(chain_id, each)
        with suppress(AdapterError):  # what is wrong stands in each endpoint's health
            rpc.read_head()
        yield from ((chain_id, health) for health in rpc.list_health())
        rpc.close()


def _find_values(group: str) -> dict[str, str]:
    """Return what the entry points of bridges, and those of a group, name; by their own names."""
    return {entry.name: entry.value for each in (BRIDGES, group) for entry in entry_points(group=each)}

"""Capturing whole chains into one snapshot: side by side, resumable, complete or telling what is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event

from adapters.base import AdapterError, VenueUnavailable
from adapters.chain.adapter import MAX_GAP_S, OnChainAdapter
from adapters.chain.capture_log import PORTION, CaptureLog
from adapters.chain.gas import GasAdapter
from adapters.chain.price_feeds import PriceFeed, find_feeds
from adapters.chain.protocol import AnyProtocol
from adapters.chain.tokens import ChainTokens
from adapters.chain.warnings import describe_oddities
from adapters.http.client import JsonClient, Traffic
from adapters.rpc.endpoint import LacksBlock
from adapters.rpc.endpoint_health import EndpointHealth
from adapters.rpc.endpoint_pool import RPC_LIMITS, RpcPool
from routing_engine import Snapshot
from routing_engine.formats import Contents
from routing_engine.model import Token

Progress = Callable[[int, int, int], None]
"""Told the chain, how many calls were answered so far, and how many were asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainReport:
    """How one chain's capture went.

    Parameters
    ----------
    chain_id : int
        Which chain.
    fault : str
        Why there is nothing of it; empty where there is.
    faults : mapping of str to str
        Why a protocol, or the gas price, is missing.
    notes : tuple of str
        What was found wrong with tokens and prices.
    endpoints : tuple of EndpointHealth
        Those that were asked.
    traffic : Traffic
        What it took.
    """

    chain_id: int
    fault: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    endpoints: tuple[EndpointHealth, ...] = ()
    traffic: Traffic = field(default_factory=Traffic)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is missing."""
        return not self.fault and not self.faults


@dataclass(frozen=True, slots=True)
class Captured:
    """A snapshot, and a report on each chain."""

    snapshot: Snapshot
    reports: tuple[ChainReport, ...]


class Capture:
    """Captures chains.

    Parameters
    ----------
    urls : mapping of int to sequence of str
        Endpoints by chain.
    tokens : iterable of Token
        Pools of any others are not looked for.
    protocols : callable
        Gives a chain's protocols.
    log_beside : Path
        What is needed to go on after an interruption is kept in files whose names begin with this one.
    make_rpc : callable
        Makes the pool of a chain's endpoints.
    progress : callable
        Called from several threads.
    portion : int
        Calls of which the answers are kept at a time.
    feeds : callable
        Gives the price feeds of a chain.
    """

    def __init__(
        self,
        urls: Mapping[int, Sequence[str]],
        tokens: Iterable[Token],
        protocols: Callable[[int], Iterable[AnyProtocol]],
        log_beside: Path,
        *,
        make_rpc: Callable[[int, Sequence[str], JsonClient], RpcPool] = lambda chain_id, urls, client: RpcPool(
            chain_id, urls, client=client
        ),
        progress: Progress = lambda chain_id, done, asked: None,
        portion: int = PORTION,
        feeds: Callable[[int], Sequence[PriceFeed]] = find_feeds,
    ) -> None:
        self._urls, self._protocols = urls, protocols
        self._tokens = tuple(tokens)
        self._make_rpc, self._progress = make_rpc, progress
        self._is_stopped, self._feeds = Event(), feeds
        self._logs = {
            chain_id: CaptureLog(
                log_beside.with_name(f"{log_beside.name}.chain-{chain_id}.part"),
                self._make_progress(chain_id),
                portion=portion,
            )
            for chain_id in urls
        }

    def run(self) -> Captured:
        """Capture all chains at once; one that fails is reported, and can be tried again."""
        with ThreadPoolExecutor(len(self._urls)) as threads:
            try:
                found = list(threads.map(self._capture_chain, self._urls))
            except BaseException:  # Ctrl-C too: the other threads are to stop as well
                self._is_stopped.set()
                raise
        snapshot = Snapshot(())
        refused: Counter[str] = Counter()
        for contents, _ in found:
            refused.update(contents.refused)
            snapshot = snapshot.apply(
                contents.markets,
                gas_prices=contents.gas_prices,
                blocks=contents.blocks,
                taken_at=max(snapshot.taken_at, contents.taken_at),
            )
        whole = Snapshot(
            snapshot.markets.values(),
            gas_prices=snapshot.gas_prices,
            blocks=snapshot.blocks,
            taken_at=snapshot.taken_at,
            refused=refused,
        )
        return Captured(whole, tuple(report for _, report in found))

    def finish(self) -> None:
        """Forget what was kept for going on."""
        for log in self._logs.values():
            log.remove()

    def _capture_chain(self, chain_id: int) -> tuple[Contents, ChainReport]:
        client = JsonClient(limits=RPC_LIMITS)
        rpc = self._make_rpc(chain_id, self._urls[chain_id], client)
        log = self._logs[chain_id]
        tokens = ChainTokens.from_tokens(self._tokens, chain_id)
        feeds = self._feeds(chain_id)
        adapter = OnChainAdapter(rpc, self._protocols(chain_id), tokens, wrap=log.wrap, feeds=feeds)
        try:
            contents, fault = _attempt(lambda: read_whole(adapter, rpc, log))
            gas, gas_fault = _attempt(lambda: _read_gas(rpc))
        finally:
            log.close()
            rpc.close()
            client.close()
        memory = adapter.memory
        faults, odd = (dict(memory.faults), describe_oddities(memory, chain_id)) if memory else ({}, {})
        report = ChainReport(
            chain_id=chain_id,
            fault=fault,
            faults={**faults, "gas": gas_fault} if gas_fault else faults,
            notes=tuple(odd.values()),
            endpoints=rpc.list_health(),
            traffic=client.traffic,
        )
        return replace(contents, gas_prices=gas.gas_prices), report

    def _make_progress(self, chain_id: int) -> Callable[[int, int], None]:
        def tell(done: int, asked: int) -> None:
            if self._is_stopped.is_set():
                raise VenueUnavailable("the capture was interrupted")
            self._progress(chain_id, done, asked)

        return tell


def _attempt(read: Callable[[], Contents]) -> tuple[Contents, str]:
    """Return what was read, or nothing and why."""
    try:
        return read(), ""
    except AdapterError as error:
        return Contents(markets=()), str(error)


def read_whole(adapter: OnChainAdapter, rpc: RpcPool, log: CaptureLog) -> Contents:
    """Go on with a capture, and then up to the newest block; or begin one."""
    head, begun = rpc.read_head(), log.read_block()
    if begun is not None and head.timestamp - begun.timestamp <= MAX_GAP_S and rpc.read_block(begun.number) == begun:
        try:
            adapter.read(begun)
            log.seal()
            return adapter.parse(adapter.fetch())
        except LacksBlock:
            # Nodes keep the state of recent blocks only: too late to go on.
            log.remove()
    return adapter.parse(adapter.read(head))


def _read_gas(rpc: RpcPool) -> Contents:
    gas = GasAdapter(rpc)
    return gas.parse(gas.fetch())

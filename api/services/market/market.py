"""The market that this process routes on: made before it is needed, replaced as a whole."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, NoReturn, Protocol

import structlog

from api.domain.clock import Clock
from api.domain.errors import ServiceUnavailable

if TYPE_CHECKING:
    from adapters.feed.state import SourceReport, State
    from routing_engine import Router, Snapshot, Token

RETRY_S = 30
LOOK_S, FIRST_LOOK_S = 1.0, 0.1
"""How often a market that changes by itself is looked at, and before there is any."""

log = structlog.get_logger(__name__)


class Supply(Protocol):
    """Where states of the market come from."""

    @property
    def is_live(self) -> bool:
        """Whether the state changes by itself; otherwise only when it is read again."""
        ...

    def read(self) -> State:
        """Read everything anew, however long it takes, and return it."""
        ...

    def latest(self) -> State:
        """Return the newest state at once; of a supply that is live only."""
        ...

    def close(self) -> None:
        """Read nothing more."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """A router, when its snapshot came, and what is known of the sources."""

    router: Router
    sources: tuple[SourceReport, ...]
    at: datetime


class MarketService:
    """Gives the present router to any thread.

    Nothing is loaded, and no compiler imported, until the first use: many processes never route. A new router is made
    beside the present one, which serves until it is ready.

    Parameters
    ----------
    open_supply : callable
        Opens the supply, at the first use.
    clock : Clock
        Dates what was loaded.
    """

    def __init__(self, open_supply: Callable[[], Supply], clock: Clock) -> None:
        self._open_supply = open_supply
        self._clock = clock
        self._lock = threading.Lock()
        self._supply: Supply | None = None
        self._loaded: _Loaded | None = None
        self._follower: threading.Thread | None = None
        self._closing = threading.Event()
        self._complaint = ""

    @property
    def router(self) -> Router:
        """Router on the present snapshot.

        Raises
        ------
        ServiceUnavailable
            If no source has given a market yet.
        """
        return self._present().router

    def current(self) -> tuple[Router, tuple[SourceReport, ...]]:
        """Return the router and how the sources of its snapshot are doing; raises as `router` does."""
        while True:
            before = self._loaded
            router, sources = self.router, self.sources
            if self._loaded is before:
                return router, sources

    @property
    def snapshot(self) -> Snapshot:
        """Present snapshot; raises as `router` does."""
        return self.router.snapshot

    @property
    def sources(self) -> tuple[SourceReport, ...]:
        """How the sources are doing, as far as this process has looked; loads nothing."""
        loaded = self._loaded
        return loaded.sources if loaded else ()

    @property
    def degraded(self) -> bool:
        """Whether something is wrong with any source."""
        return any(source.trouble for source in self.sources)

    @property
    def updated_at(self) -> datetime:
        """When the present snapshot was loaded."""
        return self._present().at

    def token(self, chain_id: int, address: str) -> Token | None:
        """Return a token of the market or of the registry, or None; the zero address means the native coin."""
        from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS
        from routing_engine.reference import token_registry

        found = self.snapshot.tokens.at(chain_id, address)
        if found is not None:
            return found
        info = token_registry.info_of(chain_id, NATIVE_ADDRESS if address == ZERO_ADDRESS else address)
        return info.on(chain_id) if info else None

    def require_market(self) -> None:
        """Raise `NoMarket` where nothing can be read of a market that needs no network; compile nothing."""
        supply = self._opened()
        state = None if supply.is_live else supply.read()
        if state is not None and not state.snapshot.markets:
            self._complain(_list_reasons(state))

    def load(self) -> None:
        """Make the router and compile or load the kernels now, so that no request waits for it; raises as `router`."""
        self._present()

    def refresh(self) -> None:
        """Read every source again and replace the router; what a failing source gave before is kept."""
        with self._lock:
            self._replace(self._read())

    def follow(self) -> None:
        """Keep up with a market that changes by itself, in a thread of its own, until `close`."""
        with self._lock:
            if self._follower is None and self._opened().is_live:
                self._follower = threading.Thread(target=self._keep_up, name="market", daemon=True)
                self._follower.start()

    def close(self) -> None:
        """Follow nothing more."""
        self._closing.set()
        if self._follower is not None:
            self._follower.join()
        if self._supply is not None:
            self._supply.close()

    def _keep_up(self) -> None:
        while True:
            # What a request would be told, the log has been told already.
            with suppress(NoMarket):
                self.refresh()
            if self._closing.wait(LOOK_S if self._loaded else FIRST_LOOK_S):
                return

    def _present(self) -> _Loaded:
        loaded = self._loaded
        if loaded is None:
            with self._lock:
                loaded = self._loaded or self._replace(self._read())
        return loaded

    def _read(self) -> State:
        supply = self._opened()
        return supply.latest() if supply.is_live else supply.read()

    def _opened(self) -> Supply:
        if self._supply is None:
            self._supply = self._open_supply()
        return self._supply

    def _replace(self, state: State) -> _Loaded:
        """Make what requests will use of a state. Only the last step, a single assignment, is seen by them."""
        from routing_engine import Router
        from routing_engine.warm_up import warm_up

        if not state.snapshot.markets:
            self._loaded = None  # what was there has become too old to be used
            self._complain(_list_reasons(state))
        warm_up()
        last, snapshot_id = self._loaded, state.snapshot.id  # computed here, so that no request waits for it
        if last and last.router.snapshot.id == snapshot_id:
            loaded = replace(last, sources=state.sources)
        else:
            router = last.router.follow(state.snapshot) if last else Router(state.snapshot)
            _ = state.snapshot.tokens  # likewise
            loaded = _Loaded(router=router, sources=state.sources, at=self._clock.now())
        self._loaded, self._complaint = loaded, ""
        return loaded

    def _complain(self, reason: str) -> NoReturn:
        if reason != self._complaint:
            log.error("no_market", reason=reason)
            self._complaint = reason
        raise NoMarket(reason)


class NoMarket(ServiceUnavailable):
    """No source has given a market.

    Parameters
    ----------
    reason : str
        For the operator; callers of the API are not told paths of files.
    """

    def __init__(self, reason: str) -> None:
        super().__init__("There are no market data at the moment; try again later", retry_after_s=RETRY_S)
        self.reason = reason


def _list_reasons(state: State) -> str:
    return "; ".join(source.reason for source in state.missing) or "no source has given anything yet"

"""The market that this process routes on: loaded once, replaced as a whole."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import structlog

from api.domain.clock import Clock
from api.domain.errors import Unavailable

if TYPE_CHECKING:
    from adapters.base import Adapter
    from routing_engine import Router, Snapshot, Token

RETRY_S = 30

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """A router, when it was made, and which sources it lacks."""

    router: Router
    failures: Mapping[str, str]
    at: datetime


class MarketService:
    """Gives the present router to any thread.

    Nothing is loaded, and no compiler imported, until the first use: many processes never route.

    Parameters
    ----------
    market_file : Path or None
        Market to route on; the built-in sandbox market without it.
    clock : Clock
        Dates what was loaded.
    """

    def __init__(self, market_file: Path | None, clock: Clock) -> None:
        self._market_file = market_file
        self._clock = clock
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    @property
    def router(self) -> Router:
        """Router on the present snapshot.

        Raises
        ------
        Unavailable
            If no source has given a market yet.
        """
        return self._present().router

    @property
    def snapshot(self) -> Snapshot:
        """Present snapshot; raises as `router` does."""
        return self.router.snapshot

    @property
    def degraded(self) -> bool:
        """Whether a source was missing from the last refresh."""
        return bool(self._present().failures)

    @property
    def updated_at(self) -> datetime:
        """When the present snapshot was loaded."""
        return self._present().at

    def token(self, chain_id: int, address: str) -> Token | None:
        """Return a token of the market or of the registry, or None; the zero address means the native coin."""
        from routing_engine import registry
        from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS

        found = self.snapshot.tokens.at(chain_id, address)
        if found is not None:
            return found
        info = registry.info_of(chain_id, NATIVE_ADDRESS if address == ZERO_ADDRESS else address)
        return info.on(chain_id) if info else None

    def load(self) -> None:
        """Make the router and compile or load the kernels now, so that no request waits for it; raises as `router`."""
        self._present()

    def refresh(self) -> None:
        """Ask every source again and replace the router; what a failing source gave before is kept."""
        with self._lock:
            self._loaded = self._refreshed(self._loaded)

    def _present(self) -> _Loaded:
        loaded = self._loaded
        if loaded is None:
            with self._lock:
                loaded = self._loaded = self._loaded or self._refreshed(None)
        return loaded

    def _refreshed(self, last: _Loaded | None) -> _Loaded:
        from adapters.feed import refresh
        from routing_engine import Router
        from routing_engine.warm import warm_up

        result = refresh(self._sources(), last.router.snapshot if last else None)
        if not result.snapshot.markets:
            log.error("no_market", failures=dict(result.failures))
            reasons = "; ".join(result.failures.values()) or "the source is empty"
            raise NoMarket(reasons)
        warm_up()
        router = last.router if last and last.router.snapshot.id == result.snapshot.id else Router(result.snapshot)
        return _Loaded(router=router, failures=result.failures, at=self._clock.now())

    def _sources(self) -> list[Adapter[Any]]:
        from adapters.offline import MarketFileAdapter, SandboxAdapter

        return [MarketFileAdapter(self._market_file)] if self._market_file else [SandboxAdapter()]


class NoMarket(Unavailable):
    """No source has given a market.

    Parameters
    ----------
    reason : str
        For the operator; callers of the API are not told paths of files.
    """

    def __init__(self, reason: str) -> None:
        super().__init__("There are no market data at the moment; try again later", retry_after_s=RETRY_S)
        self.reason = reason

"""Where a process has its market from: files or the sandbox, sources of its own, or what the worker publishes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import structlog

from api.domain.clock import Clock

if TYPE_CHECKING:
    from adapters.feed.board import Board
    from adapters.feed.feed import Feed
    from adapters.feed.state import State
    from api.config import Config
    from api.services.market.market import Supply

BOARD = "published_market"
"""The published market as a source of its own, which may be in trouble like any other."""

log = structlog.get_logger(__name__)


class OfflineSupply:
    """A market that changes only when it is read again.

    Parameters
    ----------
    feed : Feed
        Of sources that answer at once.
    """

    is_live = False

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def read(self) -> State:
        """Read all sources again."""
        return self._feed.read_all()

    def latest(self) -> State:
        """Return what was read last."""
        return self._feed.get_state()

    def close(self) -> None:
        """Do nothing: nothing is going on."""


class FeedSupply:
    """A feed in this process, which goes on reading as long as somebody asks for its state.

    Parameters
    ----------
    feed : Feed
        Of live sources.
    """

    is_live = True

    def __init__(self, feed: Feed) -> None:
        self._feed = feed

    def read(self) -> State:
        """Read all sources now, one after the other."""
        return self._feed.read_all()

    def latest(self) -> State:
        """Start reading what is due, and return what is there."""
        self._feed.start_due()
        return self._feed.get_state()

    def close(self) -> None:
        """Start nothing more."""
        self._feed.close()


class BoardSupply:
    """What another process publishes; while that cannot be read, what is known is used until it is stale.

    Parameters
    ----------
    board : Board
        Where it is published.
    clock : Clock
        Says what is stale.
    """

    is_live = True

    def __init__(self, board: Board, clock: Clock) -> None:
        from adapters.feed.state import Freshness, State

        self._board, self._clock = board, clock
        self._fresh = Freshness()
        self._known = State()
        self._trouble_since = 0.0

    def read(self) -> State:
        """Return what is published now."""
        return self.latest()

    def latest(self) -> State:
        """Return what is published, less what is stale."""
        from adapters.base import AdapterError
        from adapters.feed.state import SourceReport

        now = self._clock.now().timestamp()
        state = self._known
        try:
            state = self._known = self._board.read_latest()
            self._trouble_since = 0.0
        except AdapterError as error:
            if not self._trouble_since:
                log.warning("market_not_read", reason=str(error))
                self._trouble_since = now
            report = SourceReport(name=BOARD, trouble=error.code, reason=str(error), since=self._trouble_since)
            state = replace(state, sources=(*state.sources, report))
        return self._fresh(state, now)

    def close(self) -> None:
        """Do nothing: nothing is going on."""


def load_offline(market_file: Path | None) -> Callable[[], Supply]:
    """Return what opens the supply of a market file, or of the built-in sandbox without one."""

    def open_supply() -> Supply:
        from math import inf

        from adapters.base import Source
        from adapters.feed.feed import Feed
        from adapters.feed.offline import MarketFileAdapter, SandboxAdapter

        adapter = MarketFileAdapter(market_file) if market_file else SandboxAdapter()
        return OfflineSupply(Feed([Source(adapter=adapter, interval_s=inf, max_age_s=inf)]))

    return open_supply


def choose_supply(config: Config, clock: Clock) -> Callable[[], Supply]:
    """Return what opens the supply that the settings ask for."""

    def open_supply() -> Supply:
        if not config.market.adapters:
            return load_offline(config.market_file)()
        if config.redis_url:
            return BoardSupply(open_board(config.redis_url), clock)
        return FeedSupply(open_feed(config, clock))

    return open_supply


def open_feed(config: Config, clock: Clock) -> Feed:
    """Connect the adapters that the settings name, and make their feed.

    Raises
    ------
    ConfigError
        Naming the setting that does not fit what is installed.
    """
    from adapters.base import AdapterError
    from adapters.feed.connect import Misfit, connect
    from adapters.feed.feed import Feed
    from adapters.http.client import JsonClient
    from api.config import ConfigError
    from api.market_settings import SETTING_OF

    try:
        sources = connect(config.market, JsonClient())
    except Misfit as error:
        raise ConfigError(f"{SETTING_OF[error.part]}: {error}") from error
    except (AdapterError, ValueError) as error:
        raise ConfigError(f"ADAPTERS: {error}") from error
    return Feed(sources, clock=lambda: clock.now().timestamp())


def open_board(redis_url: str) -> Board:
    """Return the board that the worker writes and the other processes read."""
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    from adapters.feed.board import RedisBoard

    client = Redis.from_url(
        redis_url.removeprefix("redis+"),  # how the rate limits spell a socket's address
        socket_timeout=5,
        socket_connect_timeout=2,
        retry=Retry(NoBackoff(), 0),
        decode_responses=False,
    )
    return RedisBoard(client, "checkout:market")

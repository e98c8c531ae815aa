"""Reads the live market's sources for all processes, and publishes what they give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from api.services.market.supply import open_board, open_feed
from api.services.resources import Resources

if TYPE_CHECKING:
    from adapters.feed.board import Board
    from adapters.feed.feed import Feed

log = structlog.get_logger(__name__)


class SourceReader:
    """The worker's job for the live market; without adapters, or without Redis to publish to, there is nothing to do.

    `run` starts what is due and returns; sources that hang hold nothing up. Readings that end after `end` are dropped,
    so two workers never both publish.
    """

    def __init__(self) -> None:
        self._feed: Feed | None = None
        self._board: Board | None = None
        self._is_away = False

    def open(self, resources: Resources) -> None:
        """Connect the adapters; raises `ConfigError` if the settings do not fit them."""
        config = resources.config
        if self._feed is None and config.market.adapters and config.redis_url:
            self._feed, self._board = open_feed(config, resources.clock), open_board(config.redis_url)

    def run(self, resources: Resources) -> None:
        """Start reading what is due, and publish what is there.

        Raises
        ------
        LeaseLost
            If somebody else publishes now.
        """
        from adapters.base import VenueUnavailable

        self.open(resources)
        if self._feed is None or self._board is None:
            return
        self._feed.start_due()
        resources.database.require_lease()
        try:
            self._board.publish(self._feed.get_state())
            self._is_away = False
        except VenueUnavailable as error:
            if not self._is_away:
                log.warning("market_not_published", reason=str(error))
            self._is_away = True

    def end(self) -> None:
        """Read and publish nothing more."""
        if self._feed is not None:
            self._feed.close()
        self._feed = self._board = None

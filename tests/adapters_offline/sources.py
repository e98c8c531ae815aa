"""Sources that do as a test tells them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from adapters.base import Source
from routing_engine.formats import Contents
from tests.support.markets import market_of


class Clock:
    """Seconds since 1970 that pass only when told."""

    def __init__(self) -> None:
        self.now = 1_772_366_400.0

    def __call__(self) -> float:
        return self.now


class Told:
    """An adapter that gives the markets of a text, or does what a callable does."""

    def __init__(self, name: str, gives: str | Callable[[], str] = "", gas: Mapping[int, int] | None = None) -> None:
        self.name = name
        self.gives = gives
        self.gas = gas or {}
        self.refused: Mapping[str, int] = {}
        self.fetched = 0

    def fetch(self) -> str:
        self.fetched += 1
        return self.gives if isinstance(self.gives, str) else self.gives()

    def parse(self, payload: str) -> Contents:
        return Contents(markets=tuple(market_of(payload)), gas_prices=self.gas, refused=self.refused)

    def source(self, interval_s: float = 10, max_age_s: float = 60) -> Source:
        return Source(adapter=self, interval_s=interval_s, max_age_s=max_age_s)


class Gate:
    """A payload that comes only when the gate is opened."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.reached.set()
        assert self.opened.wait(60)
        return self.text


def failing(error: Exception) -> Callable[[], str]:
    """Return what raises this error instead of giving a payload."""

    def fail() -> str:
        raise error

    return fail

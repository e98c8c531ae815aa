"""Adapters and the feed that folds them into a snapshot."""

from __future__ import annotations

from pathlib import Path

from adapters.base import BadPayload, VenueUnavailable, installed_adapters
from adapters.feed import refresh
from adapters.offline import MarketFileAdapter, SandboxAdapter
from routing_engine import Snapshot
from routing_engine.formats import Contents
from tests.support.markets import market_of


class Source:
    """An adapter that gives what it is told, or fails."""

    def __init__(self, name: str, text: str = "", error: Exception | None = None) -> None:
        self.name = name
        self.text = text
        self.error = error

    def fetch(self) -> str:
        if isinstance(self.error, VenueUnavailable):
            raise self.error
        return self.text

    def parse(self, payload: str) -> Contents:
        if self.error:
            raise self.error
        return Contents(markets=tuple(market_of(payload)), gas_prices={1: 7})


def test_offline_adapters_are_installed() -> None:
    found = installed_adapters()
    assert found["sandbox"] is SandboxAdapter
    assert found["market_file"] is MarketFileAdapter


def test_the_sandbox_adapter_gives_the_sandbox() -> None:
    assert refresh([SandboxAdapter()]).snapshot.id == Snapshot.sandbox().id


def test_a_failing_source_does_not_stop_the_others_and_keeps_its_last_good_state() -> None:
    first = refresh([Source("a", "x: A B 1 1 0bps"), Source("b", "y: A B 2 2 0bps")])
    assert not first.degraded
    broken = Source("b", error=BadPayload("reserve is negative"))
    away = Source("c", error=VenueUnavailable("timed out"))
    second = refresh([away, broken, Source("a", "x: A B 5 5 0bps")], first.snapshot)
    assert second.failures == {"b": "reserve is negative", "c": "timed out"}
    assert second.snapshot.markets["y"] == first.snapshot.markets["y"]
    assert second.snapshot.markets["x"] == market_of("x: A B 5 5 0bps")[0]


def test_a_market_file_is_a_source_and_its_damage_a_named_failure(tmp_path: Path) -> None:
    path = tmp_path / "market.json"
    Snapshot(market_of("x: A B 1 1 0bps")).save(path)
    assert list(refresh([MarketFileAdapter(path)]).snapshot.markets) == ["x"]
    path.write_text(path.read_text()[:-20])
    (reason,) = refresh([MarketFileAdapter(path)]).failures.values()
    assert "market.json" in reason

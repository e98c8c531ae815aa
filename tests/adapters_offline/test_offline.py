"""Sources without a network, and the installed adapters."""

from __future__ import annotations

from pathlib import Path

from adapters.base import Venues
from adapters.feed.feed import refresh
from adapters.feed.offline import MarketFileAdapter, SandboxAdapter
from adapters.installed import load_adapters
from adapters.testing import ReplayClient
from routing_engine import Snapshot
from tests.support.markets import market_of


def test_our_adapters_are_installed() -> None:
    found = load_adapters()
    assert found["sandbox"] is SandboxAdapter
    assert found["market_file"] is MarketFileAdapter
    assert {"across", "canonical", "cctp", "debridge", "hop"} <= found.keys()


def test_the_sandbox_adapter_gives_the_sandbox() -> None:
    (source,) = SandboxAdapter.connect(Venues(http=ReplayClient({}), tokens=()))
    assert refresh([source.adapter]).snapshot.id == Snapshot.sandbox().id


def test_a_market_file_is_a_source_and_its_damage_a_named_failure(tmp_path: Path) -> None:
    path = tmp_path / "market.json"
    Snapshot(market_of("x: A B 1 1 0bps")).save(path)
    (source,) = MarketFileAdapter.connect(Venues(http=ReplayClient({}), tokens=(), options={"path": str(path)}))
    assert list(refresh([source.adapter]).snapshot.markets) == ["x"]
    path.write_text(path.read_text()[:-20])
    (report,) = refresh([source.adapter]).missing
    assert report.trouble == "bad_payload"
    assert "market.json" in report.reason


def test_without_a_path_there_is_no_market_file() -> None:
    assert MarketFileAdapter.connect(Venues(http=ReplayClient({}), tokens=())) == ()

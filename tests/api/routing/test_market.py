"""The market of a process: loaded late, once, and kept when its source fails."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from threading import Barrier, Thread
from typing import Any

import pytest

from api.config import Config, ConfigError
from api.services.market.market import MarketService, NoMarket
from api.services.market.supply import load_offline
from api.serving.asgi import Application
from routing_engine import NATIVE_ADDRESS, Router, Snapshot
from tests.api.conftest import START
from tests.support.clock import SettableClock
from tests.support.markets import market_of

POOLS = "ab: A B 1000 1000 30bps"


@pytest.fixture
def market_file(tmp_path: Path) -> Path:
    """A market file with one pool."""
    path = tmp_path / "market.json"
    Snapshot(market_of(POOLS)).save(path)
    return path


def test_a_file_is_routed_on(market_file: Path, clock: SettableClock) -> None:
    market = MarketService(load_offline(market_file), clock)
    assert list(market.snapshot.markets) == ["ab"]
    assert market.updated_at == START
    assert not market.degraded


def test_threads_share_one_router(market_file: Path, clock: SettableClock) -> None:
    market, routers, barrier = MarketService(load_offline(market_file), clock), list[Router](), Barrier(4)

    def ask() -> None:
        barrier.wait()
        routers.append(market.router)

    threads = [Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(routers) == 4
    assert len(set(map(id, routers))) == 1


def test_a_refresh_replaces_the_router_when_the_market_changed(market_file: Path, clock: SettableClock) -> None:
    market = MarketService(load_offline(market_file), clock)
    first = market.router
    market.refresh()
    assert market.router is first
    Snapshot(market_of(POOLS.replace("1000", "2000"))).save(market_file)
    clock.advance(minutes=1)
    market.refresh()
    assert market.snapshot.id != first.snapshot.id
    assert market.updated_at > START


def test_a_source_that_breaks_later_leaves_what_it_gave(market_file: Path, clock: SettableClock) -> None:
    market = MarketService(load_offline(market_file), clock)
    before = market.snapshot
    market_file.write_text("{")
    market.refresh()
    assert market.degraded
    assert market.snapshot.id == before.id


def test_without_any_market_the_reason_names_the_file(tmp_path: Path, clock: SettableClock) -> None:
    market = MarketService(load_offline(tmp_path / "none.json"), clock)
    with pytest.raises(NoMarket) as caught:
        market.load()
    assert "none.json" in caught.value.reason
    assert "none.json" not in caught.value.message
    assert caught.value.retry_after_s


def test_tokens_are_found_in_the_market_and_in_the_registry(market_file: Path, clock: SettableClock) -> None:
    market = MarketService(load_offline(market_file), clock)
    a = next(iter(market.snapshot.tokens))
    assert market.token(a.chain_id, a.address.upper().replace("0X", "0x")) == a
    ether = market.token(1, "0x" + "0" * 40)
    assert ether is not None
    assert ether.address == NATIVE_ADDRESS
    assert market.token(1, "0x" + "12" * 20) is None


def test_a_process_that_never_routes_imports_no_compiler() -> None:
    code = "import sys, api.serving.asgi, api.app, api.worker.process; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_damaged_market_file_stops_the_start(
    market_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    market_file.write_text('{"format": "routing-engine"')
    for name, value in (("DATA_DIR", tmp_path), ("DATABASE_URL", ""), ("MARKET_FILE", market_file)):
        monkeypatch.setenv(name, str(value))
    with pytest.raises(ConfigError, match=r"MARKET_FILE: .*market\.json"):
        Application(Config.from_env()).load(all_of_it=False)


def test_a_market_file_is_read_before_the_first_request(
    market_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("DATA_DIR", tmp_path), ("DATABASE_URL", ""), ("MARKET_FILE", market_file)):
        monkeypatch.setenv(name, str(value))
    application = Application(Config.from_env())
    application.load(all_of_it=False)
    market_file.unlink()
    answers = asyncio.run(ask_tokens(application.compose()))
    assert answers[0]["status"] == 200
    assert b'"next_cursor"' in b"".join(part.get("body", b"") for part in answers[1:])


async def ask_tokens(app: Any) -> list[dict[str, Any]]:
    """Send `GET /v1/tokens` and return the events of the answer."""
    answers: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(event: dict[str, Any]) -> None:
        answers.append(event)

    scope = {"type": "http", "http_version": "1.1", "method": "GET", "path": "/v1/tokens", "query_string": b""}
    await app({**scope, "headers": [], "client": ("127.0.0.1", 1)}, receive, send)
    return answers

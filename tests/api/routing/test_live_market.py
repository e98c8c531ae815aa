"""A live market in the service: what callers are told is missing, and the worker that reads for everybody."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask.testing import FlaskClient

from adapters.base import BadPayload, Venues
from adapters.feed.feed import Feed
from adapters.feed.offline import SandboxAdapter
from adapters.feed.plan import Plan
from adapters.feed.state import State
from adapters.testing import ReplayClient
from api.app import build_app
from api.config import Config, ConfigError
from api.services.market.market import MarketService, NoMarket
from api.services.market.supply import FeedSupply, choose_supply, open_board
from api.services.resources import Resources
from api.worker.process import run_worker
from api.worker.sources import SourceReader
from routing_engine import Snapshot
from tests.adapters_offline.sources import Told, failing
from tests.support.clock import SettableClock
from tests.support.metrics import read_metrics
from tests.support.redis_server import redis_server
from tests.support.routes import BODY, asker

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
"""Nothing here depends on the database."""

WAIT_S = 60.0


@pytest.fixture
def bridges(clock: SettableClock) -> Told:
    """A source beside the sandbox."""
    return Told("across", "y: A B 5 5 0bps")


@pytest.fixture
def live(resources: Resources, clock: SettableClock, bridges: Told) -> Iterator[Resources]:
    """Resources that route on the sandbox and one more source."""
    (sandbox,) = SandboxAdapter.connect(Venues(http=ReplayClient({}), tokens=()))
    feed = Feed([sandbox, bridges.source(10, 60)], clock=lambda: clock.now().timestamp())
    feed.read_all()
    market = MarketService(lambda: FeedSupply(feed), clock)
    market.load()
    yield replace(resources, market=market)
    feed.close()


@pytest.fixture
def live_client(live: Resources) -> FlaskClient:
    return build_app(live).test_client()


def let_it_grow_stale(live: Resources, clock: SettableClock, source: Told) -> None:
    source.gives = failing(BadPayload("https://secret.test: lpFee must be an object"))
    clock.advance(seconds=61)
    live.market.refresh()  # starts a reading, which fails
    for _ in range(2):
        supply: Any = live.market._supply
        assert supply._feed.wait_idle(WAIT_S)
        live.market.refresh()


def test_an_answer_says_what_it_does_without_and_why(
    live: Resources, live_client: FlaskClient, clock: SettableClock, bridges: Told
) -> None:
    ask = asker(live_client)
    assert "unavailable" not in ask().get_json()
    let_it_grow_stale(live, clock, bridges)
    answer = ask()
    assert answer.status_code == 200
    told = answer.get_json()["unavailable"]
    assert told == [
        {"protocol": "across", "reason": "STALE: its answers cannot be trusted since 2026-03-01T12:01:01.000Z"}
    ]
    assert "secret.test" not in answer.text


@pytest.mark.rule("routes.39")
def test_so_does_the_refusal_where_there_is_no_route(
    live: Resources, live_client: FlaskClient, clock: SettableClock, bridges: Told
) -> None:
    let_it_grow_stale(live, clock, bridges)
    answer = asker(live_client)(inputAmount=str(10**60))
    assert answer.status_code == 404
    problems = {row["path"]: row["message"] for row in answer.get_json()["error"]}
    assert problems["across"].startswith("STALE: its answers cannot be trusted")


@pytest.mark.rule("stream.4")
def test_and_the_end_of_a_stream(
    live: Resources, live_client: FlaskClient, clock: SettableClock, bridges: Told
) -> None:
    def last_message() -> dict[str, Any]:
        text = live_client.post("/v1/routes/stream", json=BODY).text
        message: dict[str, Any] = json.loads(text.strip().split("\n\n")[-1].removeprefix("data:"))
        return message

    assert last_message()["unavailable"] == []
    let_it_grow_stale(live, clock, bridges)
    (told,) = last_message()["unavailable"]
    assert told["protocol"] == "across"


def test_protocols_that_a_chain_lacks_are_told_and_counted(
    live: Resources, live_client: FlaskClient, clock: SettableClock, bridges: Told
) -> None:
    bridges.refused = {"balancer_v2:unavailable": 1, "uniswap_v2:price_off": 3}
    clock.advance(seconds=11)
    live.market.refresh()
    supply: Any = live.market._supply
    assert supply._feed.wait_idle(WAIT_S)
    live.market.refresh()
    told = asker(live_client)().get_json()["unavailable"]
    assert told == [
        {"protocol": "balancer_v2", "reason": "UNAVAILABLE: it cannot be read since 2026-03-01T12:00:11.000Z"}
    ]
    text = read_metrics(live_client.application)
    assert 'checkout_source_up{source="across"} 0.0' in text
    assert 'checkout_source_refused_pools{reason="uniswap_v2:price_off",source="across"} 3.0' in text


def test_metrics_tell_how_each_source_is_doing(
    live: Resources, live_client: FlaskClient, clock: SettableClock, bridges: Told
) -> None:
    text = read_metrics(live_client.application)
    assert 'checkout_source_up{source="across"} 1.0' in text
    assert 'checkout_source_fresh_seconds{source="across"} 60.0' in text
    let_it_grow_stale(live, clock, bridges)
    text = read_metrics(live_client.application)
    assert 'checkout_source_up{source="across"} 0.0' in text
    assert 'checkout_source_up{source="sandbox"} 1.0' in text
    assert 'checkout_source_failures_total{source="across"} 1.0' in text


@pytest.fixture
def redis_url() -> Iterator[str]:
    with redis_server() as (url, _):
        yield url


def test_the_worker_publishes_and_the_others_route_on_it(resources: Resources, redis_url: str) -> None:
    config = replace(resources.config, market=Plan(adapters=("sandbox",)), redis_url=redis_url)
    market = MarketService(choose_supply(config, resources.clock), resources.clock)
    with pytest.raises(NoMarket, match="at the moment"):
        market.load()
    reader = SourceReader()
    shared = replace(resources, config=config)
    reader.run(shared)
    feed: Any = reader._feed
    assert feed.wait_idle(WAIT_S)
    reader.run(shared)
    market.refresh()
    assert market.snapshot.id == Snapshot.sandbox().id
    assert [source.name for source in market.sources] == ["sandbox"]
    reader.end()
    reader.run(shared)
    assert reader._feed is not feed, "a worker that leads again reads again"
    reader.end()


def test_the_worker_outlives_its_redis(resources: Resources) -> None:
    with redis_server() as (url, process):
        config = replace(resources.config, market=Plan(adapters=("sandbox",)), redis_url=url)
        reader = SourceReader()
        reader.run(replace(resources, config=config))
        process.kill()
        process.wait()
        reader.run(replace(resources, config=config))
        reader.run(replace(resources, config=config))
        assert reader._feed is not None, "it goes on reading"
        reader.end()


def test_without_redis_the_process_reads_for_itself(resources: Resources) -> None:
    config = replace(resources.config, market=Plan(adapters=("sandbox",)))
    reader = SourceReader()
    reader.run(replace(resources, config=config))
    assert reader._feed is None, "the worker has nobody to read for"
    supply = choose_supply(config, resources.clock)()
    assert isinstance(supply, FeedSupply)
    assert supply.read().snapshot.id == Snapshot.sandbox().id
    supply.close()


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (Plan(adapters=("acros",)), "ADAPTERS: adapter 'acros' is unknown; known are"),
        (Plan(adapters=("market_file",)), "ADAPTERS: adapter market_file has nothing to read"),
        (Plan(adapters=("sandbox",), options={"across": {}}), "ADAPTER_OPTIONS: option's adapter 'across' is unknown"),
        (
            Plan(adapters=("sandbox",), intervals_s={"across": 5.0}),
            "SOURCE_INTERVALS: interval's source 'across' is",
        ),
        (
            Plan(adapters=("sandbox",), max_ages_s={"across": 5.0}),
            "SOURCE_MAX_AGES: maximum age's source 'across' is",
        ),
        (
            Plan(adapters=("across",), options={"across": {"ur": "https://proxy.example"}}),
            "ADAPTER_OPTIONS: option of across 'ur' is unknown; known are url$",
        ),
        (
            Plan(adapters=("gas",), rpc_urls={1: ("http://127.0.0.1:1",)}, options={"gas": {"speed": "9"}}),
            "ADAPTER_OPTIONS: option of gas 'speed' is unknown; known are none$",
        ),
        (Plan(adapters=("canonical",), options={"canonical": {"l1_gas_gwei": "x"}}), "l1_gas_gwei must be a finite"),
    ],
)
def test_a_plan_that_fits_nothing_stops_the_worker(resources: Resources, config: Config, plan: Plan, said: str) -> None:
    wrong = replace(resources, config=replace(config, market=plan, redis_url="redis://127.0.0.1:1"))
    with pytest.raises(ConfigError, match=said):
        run_worker(wrong)


def test_an_address_of_a_socket_is_spelled_as_for_the_limits(database: object, redis_url: str) -> None:
    board = open_board(f"redis+{redis_url}")
    board.publish(State())
    assert board.read_latest().snapshot.id == State().snapshot.id

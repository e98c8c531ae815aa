"""The table of faults in docs/faults.md: what each leads to, over real connections, beside sources that are well."""

from __future__ import annotations

import gzip
import json
import re
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from adapters.base import Source
from adapters.bridges.cctp.adapter import CctpAdapter
from adapters.bridges.hop import HopAdapter
from adapters.chain.gas import GasAdapter
from adapters.feed.feed import Feed
from adapters.http.client import HttpLimits, JsonClient
from adapters.rpc.endpoint_pool import RpcPool
from routing_engine.reference import token_registry
from tests.adapters_offline.sources import Clock
from tests.support.nodes import NOW, Node
from tests.support.venues import Answer, drip, flood, hang, reply, venue

DOCUMENT = Path(__file__).parents[2] / "docs" / "faults.md"
WAIT_S = 60.0
USDC = tuple(token_registry.token("USDC", chain_id) for chain_id in (1, 10))
BRIDGED = tuple(token_registry.token("USDC.e", chain_id) for chain_id in (10, 42161))
BOTH = [{"finalityThreshold": 1000, "minimumFee": 1}, {"finalityThreshold": 2000, "minimumFee": 0}]
PATIENT = HttpLimits(read_s=30, total_s=30, max_bytes=2**20, tries=1)
IMPATIENT = HttpLimits(read_s=5, total_s=0.4, max_bytes=2**20, tries=1)
BOMB = gzip.compress(b" " * (30 * 2**20), 6)


def cctp(request: bytes) -> Answer:
    return reply({"allowance": 10**6} if b"/allowance" in request else BOTH)


def hop(request: bytes) -> Answer:
    amount = int(re.findall(rb"amount=(\d+)", request)[0])
    return reply({"amountIn": str(amount), "estimatedRecieved": str(amount * 99 // 100)})


def fees_of(answer: Any) -> Callable[[bytes], Answer]:
    """Answer like the bridge, but for the fees."""
    return lambda request: reply(answer) if b"/fees/" in request else cctp(request)


def always(answer: Answer) -> Callable[[bytes], Answer]:
    return lambda request: answer


def then_close(raw: bytes) -> Callable[[bytes], Answer]:
    return always(lambda connection: connection.sendall(raw))


BRIDGE_FAULTS: dict[str, tuple[HttpLimits, Callable[[bytes], Answer], str, str]] = {
    "says nothing": (IMPATIENT, always(hang), "venue_unavailable", "no complete answer within 0.4 s"),
    "drips byte by byte": (
        IMPATIENT, always(drip(b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\n\r\n", b" ")),
        "venue_unavailable", "no complete answer within 0.4 s",
    ),
    "closes the connection": (PATIENT, then_close(b""), "venue_unavailable", "the connection failed"),
    "speaks no HTTP": (PATIENT, then_close(b"\x00\xff\r\n\r\n"), "venue_unavailable", "the connection failed"),
    "breaks off": (
        PATIENT, then_close(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n[{"),
        "venue_unavailable", "the connection failed",
    ),
    "sends truncated JSON": (PATIENT, fees_of('[{"finalityThreshold": 10'), "bad_payload", "is not JSON"),
    "sends a web page": (PATIENT, fees_of("<html>Sorry</html>"), "bad_payload", "is not JSON"),
    "sends 200 MB": (PATIENT, always(flood(200)), "bad_payload", "longer than 1048576 bytes"),
    "sends interim answers, chunk extensions or trailers without end": (
        PATIENT, then_close(b"HTTP/1.1 100 Continue\r\n\r\n" * 9_000), "venue_unavailable", "the connection failed",
    ),
    "sends a compressed bomb": (
        PATIENT, always(reply(BOMB, Content_Encoding="gzip")), "bad_payload", "longer than 1048576 bytes",
    ),
    "is overloaded (429)": (
        PATIENT, always(reply("", "429 Slow down", Retry_After="120")), "venue_unavailable", "status 429",
    ),
    "is broken (5xx)": (PATIENT, always(reply("", "503 Oops")), "venue_unavailable", "status 503"),
    "refuses (4xx)": (PATIENT, always(reply("", "403 Forbidden")), "declined", "status 403"),
    "redirects": (PATIENT, always(reply("", "302 Found", Location="http://127.0.0.1:1/")), "declined", "status 302"),
    "changes a field's type": (
        PATIENT, fees_of([{"finalityThreshold": 1000, "minimumFee": "one"}]),
        "bad_payload", r"cctp 1-10 USDC\[0\]: minimumFee must be",
    ),
    "renames a field": (
        PATIENT, fees_of([{"threshold": 1000, "minimumFee": 1}]),
        "bad_payload", r"cctp 1-10 USDC\[0\]: finalityThreshold is missing",
    ),
    "gives an impossible number": (
        PATIENT, fees_of([{"finalityThreshold": 1000, "minimumFee": 99_999}]),
        "bad_payload", r"minimumFee must be from 0 to 1000",
    ),
}  # fmt: skip

CHAIN_FAULTS: dict[str, tuple[HttpLimits, Callable[[Node], None], str, str]] = {
    "is another chain": (PATIENT, lambda node: setattr(node, "chain_id", 5), "venue_unavailable", "is chain 5, not 1"),
    "stopped following its chain": (
        PATIENT, lambda node: setattr(node, "timestamp", NOW - 10_000), "venue_unavailable", "old",
    ),
    "answers nonsense": (PATIENT, lambda node: setattr(node, "garbage", {"jsonrpc": 7}), "venue_unavailable", "result"),
}  # fmt: skip


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


def well(stack: ExitStack) -> Source:
    """A bridge that is well."""
    there = stack.enter_context(venue(choose=hop))
    return Source(adapter=HopAdapter(JsonClient(), BRIDGED, there.url), interval_s=10, max_age_s=60)


def bridge(url: str, limits: HttpLimits) -> Source:
    return Source(adapter=CctpAdapter(JsonClient(limits=limits), USDC, url), interval_s=10, max_age_s=60)


def outcome(feed: Feed, clock: Clock) -> dict[str, tuple[str, str]]:
    """Read everything at once, as the worker does; return what is in trouble, and why."""
    feed.start_due()
    assert feed.wait_idle(WAIT_S)
    clock.now += 10
    return {source.name: (source.trouble, source.reason) for source in feed.get_state().missing}


@pytest.mark.parametrize("fault", BRIDGE_FAULTS)
def test_a_bridge_that_is_at_fault_is_left_out_and_the_others_go_on(stack: ExitStack, fault: str) -> None:
    limits, choose, trouble, reason = BRIDGE_FAULTS[fault]
    clock, is_bad = Clock(), False
    there = stack.enter_context(venue(choose=lambda request: choose(request) if is_bad else cctp(request)))
    feed = Feed([bridge(there.url, limits), well(stack)], clock=clock)
    if limits is PATIENT:
        assert outcome(feed, clock) == {}
        assert len(feed.get_state().snapshot.markets) == 4 + 2, "both are read while both are well"
    is_bad = True
    found = outcome(feed, clock)
    assert found.keys() == {"cctp"}
    assert found["cctp"][0] == trouble
    assert re.search(reason, found["cctp"][1])
    clock.now += 60
    outcome(feed, clock)
    protocols = {market.protocol for market in feed.get_state().snapshot.markets.values()}
    assert protocols == {"hop"}, "what is stale is left out"
    assert {source.name for source in feed.get_state().missing} == {"cctp"}


@pytest.mark.parametrize("fault", CHAIN_FAULTS)
def test_a_chain_that_is_at_fault_is_left_out_and_the_others_go_on(stack: ExitStack, fault: str) -> None:
    limits, spoil, trouble, reason = CHAIN_FAULTS[fault]
    node, clock = Node(), Clock()
    spoil(node)

    def answer(request: bytes) -> Answer:
        return reply(node.answer(json.loads(request.partition(b"\r\n\r\n")[2])))

    there = stack.enter_context(venue(choose=answer))
    rpc = RpcPool(1, [there.url], client=JsonClient(limits=limits), clock=lambda: NOW, sleep=lambda _: None)
    gas = Source(adapter=GasAdapter(rpc), interval_s=10, max_age_s=60)
    feed = Feed([gas, well(stack)], clock=clock)
    found = outcome(feed, clock)
    assert found.keys() == {"gas@1"}
    assert found["gas@1"][0] == trouble
    assert re.search(reason, found["gas@1"][1])
    assert len(feed.get_state().snapshot.markets) == 2
    assert feed.get_state().snapshot.gas_prices == {}


def test_a_bridge_that_is_not_there_is_left_out(stack: ExitStack) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    clock = Clock()
    feed = Feed([bridge(url, PATIENT), well(stack)], clock=clock)
    assert outcome(feed, clock)["cctp"][0] == "venue_unavailable"
    assert len(feed.get_state().snapshot.markets) == 2


def test_the_document_lists_these_faults_with_these_outcomes() -> None:
    rows = re.findall(r"^\| (.+?) \| `(\w+)` \|", DOCUMENT.read_text(), re.MULTILINE)
    tested = {**BRIDGE_FAULTS, **CHAIN_FAULTS}
    listed = dict(rows)
    assert {name: listed.get(name) for name in tested} == {name: case[2] for name, case in tested.items()}

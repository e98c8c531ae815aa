"""A chain behind one faulty and one good endpoint: every fault over real HTTP, and what comes of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from adapters.base import VenueUnavailable
from adapters.chain.adapter import OnChainAdapter
from adapters.chain.tokens import ChainTokens
from adapters.http.client import HttpLimits, JsonClient
from adapters.rpc.endpoint_pool import RpcPool
from tests.support.capture import Uniswap, running_uniswap
from tests.support.chain import running_chain

# One process, so that its chains run once, not once in each.
pytestmark = pytest.mark.xdist_group("capture faults")

LIMITS = HttpLimits(connect_s=5.0, read_s=10.0, total_s=20.0, max_bytes=2**20, tries=1)
IMPATIENT = HttpLimits(connect_s=5.0, read_s=0.7, total_s=2.0, max_bytes=2**20, tries=1)
"""For endpoints that hang; where the good one is too slow for it, it is asked again."""
HUGE = 200 * 2**20
OLD_S = 10_000


@pytest.fixture(scope="module")
def venue() -> Iterator[Uniswap]:
    with running_uniswap(1) as found:
        found.add_pair(0, 1, 10**24, 3 * 10**24)
        found.add_pool(0, 1, 3000).mint(-600, 1200, 10**20, 10**20)
        yield found


class Faulty:
    """An HTTP server that answers with a fault, after a number of answers that it has from the chain."""

    def __init__(self, server: HTTPServer, venue: Uniswap) -> None:
        self.url = server.url_for("/")
        self.venue = venue
        self.good_answers = 0
        self.fault: Callable[[Request], Response]
        self.released = threading.Event()
        server.expect_request("/").respond_with_handler(self._handle)

    def _handle(self, request: Request) -> Response:
        if self.good_answers:
            self.good_answers -= 1
            return Response(json.dumps(self.honest(request.get_json())), content_type="application/json")
        return self.fault(request)

    def honest(self, body: Any) -> Any:
        """Answer as the chain would."""
        if isinstance(body, list):
            return [self.honest(each) for each in body]
        return {"jsonrpc": "2.0", "id": body["id"], "result": self.venue.chain.rpc(body["method"], *body["params"])}

    def hangs(self, _: Request) -> Response:
        self.released.wait()
        return Response("")

    def floods(self, _: Request) -> Response:
        chunk = b" " * 65_536
        return Response((chunk for _ in range(HUGE // len(chunk))), content_type="application/json")

    def cuts_off(self, request: Request) -> Response:
        return Response(json.dumps(self.honest(request.get_json()))[:-9], content_type="application/json")

    def is_overloaded(self, _: Request) -> Response:
        return Response("", 429, headers={"Retry-After": "30"})

    def breaks_down(self, _: Request) -> Response:
        return Response("<html>", 502)

    def talks_nonsense(self, _: Request) -> Response:
        return Response('{"jsonrpc":"2.0","id":0,"result":[1,{}]}', content_type="application/json")

    def is_stale(self, request: Request) -> Response:
        answer = self.honest(request.get_json())
        if isinstance(answer["result"], dict):
            answer["result"]["timestamp"] = hex(int(answer["result"]["timestamp"], 16) - OLD_S)
        return Response(json.dumps(answer), content_type="application/json")

    def is_on_another_fork(self, request: Request) -> Response:
        answer = self.honest(request.get_json())
        if isinstance(answer["result"], dict):
            answer["result"]["hash"] = "0x" + "5" * 64
        return Response(json.dumps(answer), content_type="application/json")


@pytest.fixture
def faulty(httpserver: HTTPServer, venue: Uniswap) -> Iterator[Faulty]:
    found = Faulty(httpserver, venue)
    yield found
    found.released.set()


def adapter_on(venue: Uniswap, *urls: str, limits: HttpLimits = LIMITS) -> tuple[OnChainAdapter, RpcPool]:
    client = JsonClient(limits=limits)
    rpc = RpcPool(1, urls, client=client, clock=venue.chain.now, sleep=lambda _: None)
    return OnChainAdapter(rpc, venue.protocols(), ChainTokens(venue.tokens)), rpc


FAULTS = {
    "hangs": "no answer in time|no complete answer|failed too often",
    "floods": "longer than 1048576 bytes",
    "cuts_off": "not JSON",
    "is_overloaded": "status 429",
    "breaks_down": "status 502",
    "talks_nonsense": "hex quantity|must be",
    "is_stale": "10000 s old",
}


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("good_answers", [0, 4], ids=["at once", "midway"])
def test_the_good_endpoint_stands_in(venue, faulty, name, good_answers):
    faulty.good_answers, faulty.fault = good_answers, getattr(faulty, name)
    expected = adapter_on(venue, venue.chain.url)[0]
    limits = IMPATIENT if name == "hangs" else LIMITS
    adapter, rpc = adapter_on(venue, faulty.url, venue.chain.url, limits=limits)
    assert adapter.parse(adapter.fetch()).markets == expected.parse(expected.fetch()).markets
    bad, good = rpc.list_health()
    assert not good.fault or name == "hangs"
    if name != "hangs" and not (name == "is_stale" and good_answers):
        assert bad.fault or not bad.in_step


@pytest.mark.parametrize("name", FAULTS)
def test_alone_it_leads_to_one_error_that_says_why(venue, faulty, name):
    faulty.fault = getattr(faulty, name)
    adapter, _ = adapter_on(venue, faulty.url, limits=IMPATIENT if name == "hangs" else LIMITS)
    with pytest.raises(VenueUnavailable, match=FAULTS[name]):
        adapter.fetch()


def test_an_endpoint_of_another_chain_is_told(venue):
    with running_chain(5) as other:
        adapter, rpc = adapter_on(venue, other.url, venue.chain.url)
        assert len(adapter.parse(adapter.fetch()).markets) == 2
        assert "is chain 5, not 1" in rpc.list_health()[0].fault


def test_an_endpoint_on_another_fork_is_not_mixed_in(venue, faulty):
    """The head comes from the good endpoint, the faulty one is asked first for everything else."""
    faulty.fault = faulty.is_on_another_fork
    adapter, rpc = adapter_on(venue, venue.chain.url, faulty.url)
    assert len(adapter.parse(adapter.fetch()).markets) == 2
    assert rpc.list_health()[1].fault == ""

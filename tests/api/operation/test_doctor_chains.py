"""What `checkout doctor` finds wrong with the endpoints of chains and with the market."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from adapters.feed.plan import Plan
from api.services.operations.doctor.chains import check_chains
from api.services.operations.doctor.market import check_market
from api.services.resources import Resources
from tests.support.clock import SettableClock
from tests.support.doctor import HASH, list_bad
from tests.support.nodes import Node, NodeError


class Chain(Node):
    """A node that has a transaction in each block, and may trace it."""

    traces = True

    def __init__(self, chain_id: int = 8453, head: int = 100, fork: str = "a") -> None:
        super().__init__(chain_id, head, fork)
        self.timestamp = 0

    def _block(self, which: str) -> Any:
        block = super()._block(hex(max(0, self.head - 3)) if which == "finalized" else which)
        return block and {**block, "transactions": [HASH]}

    def _result(self, method: str, parameters: list[Any]) -> Any:
        if method == "debug_traceTransaction":
            if not self.traces:
                raise NodeError("the method debug_traceTransaction does not exist", -32601)
            return {"from": "0x" + "11" * 20, "type": "CALL"}
        return super()._result(method, parameters)


@pytest.fixture
def examine(resources: Resources, clock: SettableClock, httpserver: HTTPServer) -> Callable[..., dict[str, str]]:
    """Check a chain whose endpoints are these nodes."""

    def check(*nodes: Chain) -> dict[str, str]:
        urls = []
        for number, node in enumerate(nodes):
            node.timestamp = node.timestamp or int(clock.now().timestamp()) - 5

            def respond(request: Request, node: Chain = node) -> Response:
                return Response(json.dumps(node.answer(request.get_json())), mimetype="application/json")

            httpserver.expect_request(f"/{number}/SECRET").respond_with_handler(respond)
            host = "localhost" if number else "127.0.0.1"
            urls.append(f"http://{host}:{httpserver.port}/{number}/SECRET")
        plan = replace(resources.config.market, rpc_urls={8453: tuple(urls)})
        found = list(check_chains(replace(resources, config=replace(resources.config, market=plan))))
        httpserver.clear()
        assert "SECRET" not in str(found)
        assert found
        return list_bad(found)

    return check


@pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
def test_each_endpoint_of_a_chain_is_judged(examine: Callable[..., dict[str, str]], clock: SettableClock) -> None:
    assert examine(Chain(8453), Chain(8453)) == {}
    bad = examine(Chain(8453), Chain(1))
    assert list(bad) == ["wrong chain 8453 (live)"]
    assert "localhost" in bad["wrong chain 8453 (live)"]
    assert bad["wrong chain 8453 (live)"].count("8453") == bad["wrong chain 8453 (live)"].count("localhost") == 1
    assert " 1" in bad["wrong chain 8453 (live)"]
    (behind,) = examine(Chain(8453, head=200), Chain(8453, head=150)).values()
    assert "is 50 blocks behind the others" in behind
    blind = Chain(8453)
    blind.traces = False
    assert examine(blind, Chain(8453)) == {}
    (dark,) = examine(blind).values()
    assert dark.startswith("no endpoint traces transactions")
    (apart,) = examine(Chain(8453), Chain(8453, fork="b")).values()
    assert "different blocks 97, which is to be final" in apart
    clock.advance(seconds=-35)
    slow = Chain(8453)
    slow.timestamp = int(clock.now().timestamp()) + 30
    (future,) = examine(slow).values()
    assert "30 s in the future: this machine's clock is slow" in future
    broken = Chain(8453)
    broken.garbage = {"what": "?"}
    (garbage,) = examine(broken).values()
    assert garbage.startswith("127.0.0.1:")


def test_a_market_that_can_not_be_read_is_said(resources: Resources, tmp_path: Path) -> None:
    assert list_bad(check_market(resources)) == {}
    (tmp_path / "market.json").write_text("{")
    config = replace(resources.config, market_file=tmp_path / "market.json")
    bad = [each for each in check_market(replace(resources, config=config)) if each.level != "ok"]
    assert {each.level for each in bad} == {"wrong"}
    assert "no source gives any market" in bad[-1].message
    adapters = replace(resources.config, market=Plan(adapters=("nothing",)))
    (finding,) = check_market(replace(resources, config=adapters))
    assert (finding.level, finding.remedy) == ("wrong", "correct ADAPTERS")

"""The document's code is run: the adapter, its tests, and the fork."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from adapters.base import FirmQuotes
from adapters.bridges.firm_quotes import FirmQuoter
from adapters.feed.connect import connect
from adapters.feed.feed import Feed
from adapters.feed.plan import Plan
from adapters.testing import ReplayClient

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "adding-a-protocol.md").read_text()
ADAPTER, TESTS, PAYABLE, FORK = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """Everything that adapter and tests define."""
    found: dict[str, Any] = {"__name__": "pony"}
    exec(compile(ADAPTER, "adding-a-protocol.md", "exec"), found)
    exec(compile(TESTS, "adding-a-protocol.md", "exec"), found)
    return found


def test_its_tests_pass(names: dict[str, Any]) -> None:
    tests = [name for name in names if name.startswith("test_")]
    assert tests == ["test_it_conforms", "test_a_firm_quote"]
    for name in tests:
        names[name]()


def test_one_line_makes_it_run(names: dict[str, Any]) -> None:
    url = "https://staging.pony.example"
    client = ReplayClient({f"{url}/fees": [names["ROW"]]})
    plan = Plan(adapters=("pony",), options={"pony": {"url": url}}, intervals_s={"pony": 5.0})
    (source,) = connect(plan, client, installed={"pony": names["BRIDGE"].adapter})
    assert source.interval_s == 5
    state = Feed([source]).read_all()
    assert not state.degraded
    assert len(state.snapshot.markets) == 1
    assert isinstance(source.adapter, FirmQuotes)
    assert FirmQuoter([source.adapter])


def test_the_message_in_the_text_is_the_real_one(names: dict[str, Any]) -> None:
    rows = [names["ROW"]] * 3 + [names["ROW"] | {"feeBps": "99999"}]
    adapter = names["make"](ReplayClient({}))
    (shown,) = re.findall(r"`(pony\[3\]: .*?)`", TEXT)
    with pytest.raises(Exception, match=re.escape(shown)):
        adapter.parse(rows)


def test_the_fork_is_a_protocol() -> None:
    found: dict[str, Any] = {}
    exec(compile(FORK, "adding-a-protocol.md", "exec"), found)
    (protocol,) = found["find_deployments"](8453)
    assert protocol.name == "pony_swap"
    assert list(found["find_deployments"](1)) == []


def test_what_it_points_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / "docs" / target).exists(), target
    for path in re.findall(r"`((?:adapters|tests)/[\w/]+\.py)`", TEXT):
        assert (ROOT / path).exists(), path

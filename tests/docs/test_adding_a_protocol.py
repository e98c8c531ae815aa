"""The document's code is run: the adapter, its tests, and the fork."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from eth_abi import encode

from adapters.base import FirmQuotes
from adapters.bridges.firm_quotes import FirmQuoter
from adapters.feed.connect import connect
from adapters.feed.feed import Feed
from adapters.feed.plan import Plan
from adapters.rpc.abi import Log
from adapters.testing import NotConforming, ReplayClient, check_events, check_payments, check_protocol
from adapters.transactions.base import PlannedHop, Terms
from adapters.transactions.intermediaries import Intermediaries
from routing_engine.model import Hop
from routing_engine.reference import token_registry

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "adding-a-protocol.md").read_text()
ADAPTER, TESTS, PAYABLE, FORK, FORK_TEST = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)


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


def test_the_test_of_the_fork_passes() -> None:
    found: dict[str, Any] = {}
    exec(compile(FORK + FORK_TEST, "adding-a-protocol.md", "exec"), found)
    found["test_it_conforms"]()
    (protocol,) = found["find_deployments"](8453)
    with pytest.raises(NotConforming, match="pony_swap: finds no pool"):
        check_protocol(protocol, {}, (found["WETH"], found["USDC"]))


def test_what_it_points_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / "docs" / target).exists(), target
    for path in re.findall(r"`((?:adapters|tests)/[\w/]+\.py)`", TEXT):
        assert (ROOT / path).exists(), path


def test_what_the_document_pays_and_reads_conforms(names: dict[str, Any]) -> None:
    fork, payable = {"__name__": "fork"}, {**names}
    exec(compile(FORK, "adding-a-protocol.md", "exec"), fork)
    exec(compile(PAYABLE, "adding-a-protocol.md", "exec"), payable)
    tokens = [token_registry.token(symbol, 8453) for symbol in ("USDC", "WETH")]
    there = token_registry.token("USDC", 10)
    payer, shop, terms = "0x" + "34" * 20, "0x" + "12" * 20, {"ticket": "0xabcd"}
    asked = Terms(payer=payer, recipient=shop, amount_in_max=9, amount_out=5, deadline=2**40, firm=terms)
    ((swapping,), (crossing,)) = fork["make_builders"](), payable["make_builders"]()
    for builder, end in ((swapping, tokens[1]), (crossing, there)):
        (protocol,) = builder.protocols
        hop = Hop(market_id="x", protocol=protocol, token_in=tokens[0], token_out=end, amount_in=9, amount_out=5)
        call = check_payments(builder, (PlannedHop(hop=hop),), asked)
        assert call.chain_id == 8453
    (reader,) = payable["find_readers"](8453)
    check_events(reader, make_log(reader.SENT, SENT), reader, make_log(reader.DELIVERED, DELIVERED))
    with pytest.raises(NotConforming, match="must be read, not Delivery"):
        check_events(reader, make_log(reader.DELIVERED, DELIVERED), reader, make_log(reader.DELIVERED, DELIVERED))


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("find_intermediaries", lambda *_: Intermediaries(), "it is not offered"),
        ("find_call_readers", lambda *_: {"0x" + "cd" * 20: lambda *_: None}, "is not read back"),
        ("find_call_readers", lambda *_: {"0x" + "ce" * 20: None}, "does not name the contract"),
    ],
)
def test_what_would_not_be_credited_does_not_conform(
    monkeypatch: pytest.MonkeyPatch, name: str, value: Any, said: str
) -> None:
    fork: dict[str, Any] = {}
    exec(compile(FORK, "adding-a-protocol.md", "exec"), fork)
    (builder,) = fork["make_builders"]()
    monkeypatch.setattr(type(builder), name, value)
    tokens = [token_registry.token(symbol, 8453) for symbol in ("USDC", "WETH")]
    hop = Hop(market_id="x", protocol="pony_swap", token_in=tokens[0], token_out=tokens[1], amount_in=9, amount_out=5)
    terms = Terms(payer="0x" + "34" * 20, recipient="0x" + "12" * 20, amount_in_max=9, amount_out=5, deadline=2**40)
    with pytest.raises(NotConforming, match=said):
        check_payments(builder, (PlannedHop(hop=hop),), terms)


ADDRESS = "0x" + "12" * 20
SENT = encode(["address", "uint256", "address", "uint256", "address", "uint256"], [ADDRESS, 9, ADDRESS, 10, ADDRESS, 5])
DELIVERED = encode(["address", "address", "uint256"], [ADDRESS, ADDRESS, 5])


def make_log(topic: str, data: bytes) -> Log:
    return Log(
        address="0x" + "90" * 20, topics=(topic, "0x" + "77" * 32), data=data, block_number=1,
        block_hash="0x" + "00" * 32, index=0,
    )  # fmt: skip

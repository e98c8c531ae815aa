"""Entry points: what packages install, and a line that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint

import pytest

from adapters import installed
from adapters.bridges import across, stargate
from adapters.bridges.base import Bridge
from adapters.bridges.events import find_event_readers
from adapters.chain.adapter import OnChainAdapter
from adapters.chain.protocol import find_protocols
from adapters.chain.tokens import ChainTokens
from adapters.cli import listing
from adapters.dexes.uniswap_v2 import UniswapV2
from adapters.feed.connect import connect
from adapters.feed.feed import Feed
from adapters.feed.plan import Plan
from adapters.rpc.endpoint_pool import RpcPool
from adapters.testing import ReplayClient
from adapters.transactions.payment_builders import PaymentBuilders

Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put lines in the place of those of installed packages."""

    monkeypatch.setattr(installed, "_broken", {})

    def put(*lines: tuple[str, str, str]) -> None:
        found = [EntryPoint(group=group, name=name, value=value) for group, name, value in lines]
        monkeypatch.setattr(
            installed, "_find_entries", lambda group, _: [entry for entry in found if entry.group == group]
        )

    return put


def test_a_part_is_found_whether_or_not_a_bridge_has_it(install: Install) -> None:
    install(
        ("routing_engine.bridges", "stargate", "adapters.bridges.stargate:BRIDGE"),
        ("routing_engine.bridges", "across", "adapters.bridges.across:BRIDGE"),
        ("routing_engine.payments", "b", "adapters.transactions.uniswap_v2:make_builders"),
    )
    assert installed.load_installed("adapter", "routing_engine.adapters") == {"across": across.BRIDGE.adapter}
    assert installed.load_installed("firm_quotes") == {"stargate": stargate.BRIDGE.firm_quotes}
    assert list(installed.load_installed("payments", "routing_engine.payments")) == ["across", "b", "stargate"]


BROKEN = {
    "not_there": ("routing_engine.adapters", "nowhere.pony:Adapter", "ModuleNotFoundError: No module named 'nowhere'"),
    "no_name": ("routing_engine.bridges", "adapters.bridges.across:NOTHING", "has no attribute 'NOTHING'"),
    "no_bridge": ("routing_engine.bridges", "adapters.bridges.across.adapter:AcrossAdapter", "must name a Bridge"),
    "no_connect": ("routing_engine.adapters", "adapters.bridges.across:make_builders", "no attribute 'connect'"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_named_and_takes_nothing_else_down(
    install: Install, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    group, value, reason = BROKEN[name]
    install((group, name, value), ("routing_engine.adapters", "sandbox", "adapters.feed.offline:SandboxAdapter"))
    state = Feed(connect(Plan(adapters=("sandbox", name)), ReplayClient({}))).read_all()
    assert state.snapshot.markets
    (missing,) = state.missing
    assert missing.name == name
    assert reason in missing.reason
    assert name in caplog.text
    assert reason in caplog.text
    checked = {each.name: each for each in listing.check_adapters([name, "sandbox"], {})}
    assert (checked["sandbox"].trouble, checked[name].trouble) == ("", "venue_unavailable")
    if name != "no_connect":
        (broken,) = installed.list_broken()
        assert broken.describe() in missing.reason
        assert f"entry point {name!r} in {group}, of the package unknown" in broken.describe()


def test_a_chain_is_not_read_while_an_installed_bridge_cannot_be(install: Install) -> None:
    install(
        ("routing_engine.bridges", "across", "adapters.bridges.across:BRIDGE"),
        ("routing_engine.bridges", "pony", "nowhere.pony:BRIDGE"),
    )
    with pytest.raises(installed.CannotLoad, match=r"'pony' in routing_engine\.bridges.*mend or remove the package"):
        find_event_readers(1)
    install(("routing_engine.bridges", "across", "adapters.bridges.across:BRIDGE"))
    assert len(find_event_readers(1)) == 1


def find_none(chain_id: int) -> None:
    raise KeyError(chain_id)


def find_foal(chain_id: int) -> list[UniswapV2]:
    return [UniswapV2("uniswap_v2", chain_id, "0x" + "ab" * 20, 3000)]


def test_a_protocol_whose_code_fails_takes_no_other_down(install: Install, caplog: pytest.LogCaptureFixture) -> None:
    install(
        ("routing_engine.protocols", "foal", f"{__name__}:find_foal"),
        ("routing_engine.protocols", "pony", f"{__name__}:find_none"),
        ("routing_engine.payments", "pony", f"{__name__}:find_none"),
        ("routing_engine.payments", "uniswap_v2", "adapters.transactions.uniswap_v2:make_builders"),
    )
    assert [each.name for each in find_protocols(8453)] == ["uniswap_v2"]
    assert {"uniswap_v2"} in PaymentBuilders.load().list_families(8453, crosses_chains=False)
    assert "entry point pony, a protocol, fails on chain 8453" in caplog.text
    assert "payments of the entry point pony cannot be built" in caplog.text


def test_two_protocols_of_one_name_are_refused(install: Install) -> None:
    install(
        ("routing_engine.protocols", "foal", f"{__name__}:find_foal"),
        ("routing_engine.protocols", "uniswap_v2", "adapters.dexes.uniswap_v2:find_deployments"),
    )
    with pytest.raises(ValueError, match=r"chain 1 has two protocols 'uniswap_v2', .* 'foal' and 'uniswap_v2': rename"):
        find_protocols(1)
    with pytest.raises(ValueError, match=r"two protocols are named 'uniswap_v2': .*UniswapV2.* and .*UniswapV2"):
        OnChainAdapter(RpcPool(1, ["https://node/"]), [*find_foal(1), *find_foal(1)], ChainTokens(()))


@pytest.mark.parametrize("group", ["routing_engine.bridges", "routing_engine.adapters"])
def test_the_same_name_twice_is_refused(install: Install, group: str) -> None:
    value = "adapters.bridges.hop:BRIDGE" if group == "routing_engine.bridges" else "adapters.bridges.hop:HopAdapter"
    install(("routing_engine.bridges", "across", "adapters.bridges.across:BRIDGE"), (group, "across", value))
    with pytest.raises(ValueError, match="two entry points 'across' that offer the same: adapter"):
        installed.load_adapters()


def test_who_pays_across_chains_must_be_a_bridge(install: Install, caplog: pytest.LogCaptureFixture) -> None:
    """Only a bridge's events credit what was paid over it."""
    install(("routing_engine.payments", "pony", "adapters.bridges.across:make_builders"))
    assert PaymentBuilders.load().list_families(1, crosses_chains=True) == ()
    assert "'pony' in routing_engine.payments pays across chains" in caplog.text
    with pytest.raises(ValueError, match="must have `events`"):
        Bridge(adapter=across.BRIDGE.adapter, payments=across.make_builders)


def test_a_bridge_is_listed_by_what_reads_its_lanes() -> None:
    found = {(each.name, each.kind): each for each in listing.list_installed()}
    assert found["across", listing.SERVICE].where == "adapters.bridges.across:BRIDGE"
    assert found["stargate", listing.PROTOCOL].where == "adapters.bridges.stargate:BRIDGE"
    assert set(found["stargate", listing.PROTOCOL].chains) >= {1, 8453}
    assert found["sandbox", listing.SERVICE].where == "adapters.feed.offline:SandboxAdapter"
    assert ("across", listing.PROTOCOL) not in found
    assert ("stargate", listing.SERVICE) not in found

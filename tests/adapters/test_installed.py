"""Entry points: what packages install, and a line that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint

import pytest

from adapters import base
from adapters.bridges import across, stargate
from adapters.bridges.base import Bridge
from adapters.cli import listing
from adapters.transactions.payment_builders import PaymentBuilders

Install = Callable[..., None]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put lines in the place of those of installed packages."""

    def put(*lines: tuple[str, str, str]) -> None:
        found = [EntryPoint(group=group, name=name, value=value) for group, name, value in lines]
        monkeypatch.setattr(base, "entry_points", lambda group: [entry for entry in found if entry.group == group])

    return put


def test_a_part_is_found_whether_or_not_a_bridge_has_it(install: Install) -> None:
    install(
        ("routing_engine.bridges", "stargate", "adapters.bridges.stargate:BRIDGE"),
        ("routing_engine.bridges", "across", "adapters.bridges.across:BRIDGE"),
        ("routing_engine.payments", "b", "adapters.transactions.uniswap_v2:make_builders"),
    )
    assert base.load_installed("adapter", "routing_engine.adapters") == {"across": across.BRIDGE.adapter}
    assert base.load_installed("firm_quotes") == {"stargate": stargate.BRIDGE.firm_quotes}
    assert list(base.load_installed("payments", "routing_engine.payments")) == ["across", "b", "stargate"]


def test_what_is_no_bridge_is_refused_by_name(install: Install) -> None:
    install(("routing_engine.bridges", "pony", "adapters.bridges.across.adapter:AcrossAdapter"))
    with pytest.raises(ValueError, match=r"entry point 'pony' in routing_engine\.bridges must name a Bridge"):
        base.load_adapters()


@pytest.mark.parametrize("group", ["routing_engine.bridges", "routing_engine.adapters"])
def test_the_same_name_twice_is_refused(install: Install, group: str) -> None:
    value = "adapters.bridges.hop:BRIDGE" if group == "routing_engine.bridges" else "adapters.bridges.hop:HopAdapter"
    install(("routing_engine.bridges", "across", "adapters.bridges.across:BRIDGE"), (group, "across", value))
    with pytest.raises(ValueError, match="two entry points 'across' that offer the same: adapter"):
        base.load_adapters()


def test_who_pays_across_chains_must_be_a_bridge(install: Install) -> None:
    """Only a bridge's events credit what was paid over it."""
    install(("routing_engine.payments", "pony", "adapters.bridges.across:make_builders"))
    with pytest.raises(ValueError, match=r"'pony' in routing_engine\.payments pays across chains"):
        PaymentBuilders.load()
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

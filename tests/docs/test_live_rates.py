"""What the document says of settings and adapters is so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adapters.chain.protocol import load_protocols
from adapters.installed import load_adapters
from api.config import Config

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "live-rates.md").read_text()


def test_the_settings_are_read_and_their_examples_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| `(.+?)` \|", TEXT, re.MULTILINE)
    for name, example in rows:
        monkeypatch.setenv(name, example.replace("…", "node.test"))
    config = Config.from_env()
    assert config.market.adapters == ("chain", "gas", "across", "cctp")
    assert config.market.rpc_urls == {1: ("https://anode.test", "https://bnode.test"), 10: ("https://node.test",)}
    assert config.market.options["canonical"] == {"l1_gas_gwei": "3"}
    assert config.market.intervals_s == {"across": 30.0, "chain@1": 12.0}
    assert config.market.max_ages_s == {"across": 120.0}
    assert set(config.market.adapters) <= load_adapters().keys()


def test_the_adapters_of_the_table_are_installed() -> None:
    table = re.findall(r"^\| `(\w+)`(?: with `(\w+)`)? \| (?!names)", TEXT, re.MULTILINE)
    named = [(adapter, protocol) for adapter, protocol in table if adapter.islower()]
    assert {adapter for adapter, _ in named} == {"across", "cctp", "hop", "debridge", "canonical", "chain"}
    assert {adapter for adapter, _ in named} <= load_adapters().keys()
    assert {protocol for _, protocol in named if protocol} <= load_protocols().keys()


def test_what_it_points_to_is_there() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert (ROOT / "docs" / target).exists(), target
    for path in re.findall(r"`((?:adapters|tests)/[\w/]+\.py)`", TEXT):
        assert (ROOT / path).exists(), path

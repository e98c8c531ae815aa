"""The file of deployments: facts that are well formed, and of chains that the engine describes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

import adapters
from adapters.chain.protocol import load_protocols
from adapters.dexes.balancer_pools import KINDS as BALANCER_KINDS
from adapters.dexes.curve_pools import KINDS as CURVE_KINDS
from routing_engine.reference.chains import CHAINS

RECORDS = json.loads((Path(adapters.__file__).parent / "data" / "deployments.json").read_text())
ROWS = [(protocol, row) for protocol, rows in RECORDS.items() for row in rows]
IDENTITY = {"balancer_v2": "factory", "curve": "registry", "price_feeds": "feed"}


def test_every_fact_names_its_source_and_a_described_chain():
    for protocol, row in ROWS:
        assert row["chain_id"] in CHAINS, protocol
        assert row["source"], row


def test_addresses_are_whole_and_in_lower_case():
    for _, row in ROWS:
        for value in row.values():
            if isinstance(value, str) and value.startswith("0x"):
                assert len(value) == 42
                assert int(value, 16)
                assert value == value.lower()


@pytest.mark.parametrize("protocol", ["uniswap_v2", "uniswap_v3", "uniswap_v4", "slipstream", *IDENTITY])
def test_nothing_is_listed_twice(protocol):
    field = IDENTITY.get(protocol, "name")
    assert max(Counter((row["chain_id"], row[field]) for row in RECORDS[protocol]).values()) == 1


def test_kinds_are_known():
    assert {row["kind"] for row in RECORDS["balancer_v2"]} <= set(BALANCER_KINDS)
    assert {row["kind"] for row in RECORDS["curve"]} <= set(CURVE_KINDS)


def test_every_protocol_is_somewhere_and_nowhere_on_an_unknown_chain():
    for name, find_deployments in load_protocols().items():
        assert any(list(find_deployments(chain_id)) for chain_id in CHAINS), name
        assert list(find_deployments(999_999)) == []

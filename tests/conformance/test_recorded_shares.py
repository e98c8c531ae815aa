"""How many recorded pools load: floors that may rise, never fall."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.parts.market_shares import REASONS, Why, market_files, share_of

pytestmark = pytest.mark.shared_data

FLOORS = {
    "degenbot_fixtures": (23, 1.0),
    "eth_balancer_v2_14717479": (217, 1.0),
    "eth_bancor_v21_19337522": (269, 1.0),
    "eth_cow_auction_7400681": (787, 1.0),
    "eth_fastlane_2023_07": (745, 1.0),
    "eth_fynd_24693611": (1420, 1.0),
    "eth_fynd_24699608": (1413, 1.0),
    "eth_fynd_24721174": (1360, 1.0),
    "eth_univ2_all_2020_10": (10_636, 1.0),
    "multi_kyber_fixtures": (65, 0.39),
    "optimism_velodrome_v1_2023_07": (0, None),
    "polygon_2025_11": (65, 1.0),
}
"""Pools that load by default, and the share of those with complete state that can be loaded."""


def test_every_recorded_market_has_a_floor(shared_data: Path) -> None:
    assert [path.name.split(".")[0] for path in market_files(shared_data / "markets")] == list(FLOORS)


@pytest.mark.parametrize("name", FLOORS)
def test_no_pool_is_lost(shared_data: Path, name: str) -> None:
    (path,) = (path for path in market_files(shared_data / "markets") if path.name.startswith(name))
    found, (loaded, share) = share_of(path), FLOORS[name]
    assert found.loaded >= loaded
    assert share is None or found.share >= share
    assert {reason.split(":")[0] for reason in found.reasons} <= set(REASONS)
    if share is None:
        assert found.complete == found.loaded
    if share == 1.0:
        assert found.count(Why.UNSUPPORTED) == 0

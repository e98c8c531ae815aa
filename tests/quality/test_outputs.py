"""No output may fall below what an earlier version gave; ``python -m tests.quality.record`` keeps better ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.quality.cases import GENERATED, Market, load, lost, outputs, recorded_markets

ROUNDING = 1e-8
"""What may be missing, relatively: a unit of a coarse token on the way, such as WBTC, is worth that much, and the last
bits of a float win or lose it."""


def _assert_nothing_fell(name: str, markets: Mapping[str, Market]) -> None:
    known = load(name)
    assert set(known) == set(markets)
    fallen = []
    for market, how in markets.items():
        now = outputs(how)
        assert set(now) == set(known[market]), f"{market}: routes are missing, or not recorded yet"
        for request, before in known[market].items():
            part = lost(request, before, now[request])
            fallen += [f"{1e4 * part:.3g} bps: {market}: {request}"] if part > ROUNDING else []
    assert not fallen, "\n".join([f"{len(fallen)} outputs fell by", *fallen])


def test_outputs_on_generated_markets() -> None:
    _assert_nothing_fell("generated", GENERATED)


@pytest.mark.shared_data
def test_outputs_on_recorded_markets(shared_data: Path) -> None:
    _assert_nothing_fell("recorded", recorded_markets(shared_data))

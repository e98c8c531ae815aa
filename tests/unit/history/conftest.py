"""A market and its recording, made once."""

from __future__ import annotations

from pathlib import Path

import pytest

from routing_engine import Snapshot
from tests.support.recordings import make_market, record


@pytest.fixture(scope="session")
def market() -> list[Snapshot]:
    return make_market(120)


@pytest.fixture(scope="session")
def recorded(market: list[Snapshot], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("history") / "pools.recording", market)

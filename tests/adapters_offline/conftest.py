"""Recorded answers of bridges, and the tokens that adapters look for."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from routing_engine.model import Token
from routing_engine.reference import token_registry

Samples = Callable[[str], list[dict[str, Any]]]


@pytest.fixture(scope="session")
def samples(shared_data: Path) -> Samples:
    """Return the recorded samples of one bridge."""

    def read(bridge: str) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = json.loads((shared_data / "bridge_responses" / f"{bridge}.json").read_text())[
            "samples"
        ]
        return rows

    return read


@pytest.fixture(scope="session")
def tokens() -> tuple[Token, ...]:
    """Every listed token on every chain."""
    return tuple(info.on(chain_id) for info in token_registry.tokens() for chain_id in info.chain_ids)

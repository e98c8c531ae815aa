"""The chains of the sandbox, and what it invents on each: venues, depths, gas prices, prices of coins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routing_engine.reference.chains import CHAINS, Chain


def sandbox_chains() -> tuple[Chain, ...]:
    """Return the described chains that the sandbox invents something for."""
    return tuple(chain for chain in CHAINS.values() if chain.sandbox is not None)


def sandbox_facts(chain_id: int) -> Mapping[str, Any]:
    """Return what the sandbox invents on one of its chains; see `Chain.sandbox`."""
    return CHAINS[chain_id].sandbox or {}


def find_chains_of(bridge: str) -> tuple[int, ...]:
    """Return the sandbox's chains that a bridge serves."""
    return tuple(chain.chain_id for chain in sandbox_chains() if bridge in chain.bridges)

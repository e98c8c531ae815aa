"""Every kind of market the engine knows, and the registry that records are read by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from routing_engine.errors import InvalidMarket
from routing_engine.markets.balancer.linear import BalancerLinearPool
from routing_engine.markets.balancer.stable import BalancerStablePool
from routing_engine.markets.balancer.v1 import BalancerV1Pool
from routing_engine.markets.balancer.weighted import WeightedPool
from routing_engine.markets.bancor import BancorPool
from routing_engine.markets.bridges.lane import BridgeLane, LaneFee
from routing_engine.markets.common.record import read_text
from routing_engine.markets.concentrated.pool import ConcentratedPool
from routing_engine.markets.constant_product import ConstantProductPool
from routing_engine.markets.cryptoswap.pool import CryptoSwapPool
from routing_engine.markets.ekubo.pool import EkuboPool
from routing_engine.markets.fluid.pool import FluidPool
from routing_engine.markets.ladder import LadderMarket, Level
from routing_engine.markets.lanes import StargateLane
from routing_engine.markets.solidly.direction import Fork
from routing_engine.markets.solidly.pool import SolidlyPool
from routing_engine.markets.stableswap.pool import StableSwapPool
from routing_engine.markets.vault import Vault
from routing_engine.markets.wrap import NativeWrap
from routing_engine.model import Market, Token

KINDS: dict[str, type[Market]] = {
    kind.kind: kind
    for kind in (
        BalancerLinearPool,
        BalancerStablePool,
        BalancerV1Pool,
        BancorPool,
        BridgeLane,
        ConcentratedPool,
        ConstantProductPool,
        CryptoSwapPool,
        EkuboPool,
        FluidPool,
        LadderMarket,
        NativeWrap,
        SolidlyPool,
        StableSwapPool,
        StargateLane,
        Vault,
        WeightedPool,
    )
}
"""From a record's ``kind`` to the class that reads it; a new kind of market adds itself here."""


def market_from_record(record: Mapping[str, Any], tokens: Mapping[str, Token]) -> Market:
    """Return the market that `record` describes.

    Parameters
    ----------
    record : mapping
        As `Market.to_record` gives it.
    tokens : mapping of str to Token
        From `Token.key` to tokens.

    Raises
    ------
    InvalidMarket
        If a field is missing or impossible, or the kind is unknown.
    """
    kind = read_text(record, "kind")
    if kind not in KINDS:
        raise InvalidMarket("kind", f"{kind!r} is unknown; known are {', '.join(sorted(KINDS))}")
    return KINDS[kind].from_record(record, tokens)


__all__ = [
    "KINDS",
    "BalancerLinearPool",
    "BalancerStablePool",
    "BalancerV1Pool",
    "BancorPool",
    "BridgeLane",
    "ConcentratedPool",
    "ConstantProductPool",
    "CryptoSwapPool",
    "EkuboPool",
    "FluidPool",
    "Fork",
    "LadderMarket",
    "LaneFee",
    "Level",
    "NativeWrap",
    "SolidlyPool",
    "StableSwapPool",
    "StargateLane",
    "Vault",
    "WeightedPool",
    "market_from_record",
]

"""The kinds of markets that this library knows, by class, and what reads a market of any kind that is installed.

May import `amm`, `curves`, `errors`, `extensions`, `fixed_point`, `model`, `reference` and `token_fields`.
Begin with `constant_product.py`.
"""

from __future__ import annotations

from routing_engine.markets.balancer.linear import BalancerLinearPool
from routing_engine.markets.balancer.stable import BalancerStablePool
from routing_engine.markets.balancer.v1 import BalancerV1Pool
from routing_engine.markets.balancer.weighted import WeightedPool
from routing_engine.markets.bancor import BancorPool
from routing_engine.markets.bridges.lane import BridgeLane, LaneFee
from routing_engine.markets.bridges.stargate import StargateLane
from routing_engine.markets.concentrated.pool import ConcentratedPool
from routing_engine.markets.constant_product import ConstantProductPool
from routing_engine.markets.cryptoswap.pool import CryptoSwapPool
from routing_engine.markets.ekubo.pool import EkuboPool
from routing_engine.markets.fluid.pool import FluidPool
from routing_engine.markets.kinds import (
    describe_kind,
    installed_kinds,
    kinds_by_type,
    market_from_record,
    pool_readers,
)
from routing_engine.markets.ladder import LadderMarket, Level
from routing_engine.markets.solidly.direction import Fork
from routing_engine.markets.solidly.pool import SolidlyPool
from routing_engine.markets.stableswap.pool import StableSwapPool
from routing_engine.markets.vault import Vault
from routing_engine.markets.wrap import NativeWrap

__all__ = [
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
    "describe_kind",
    "installed_kinds",
    "kinds_by_type",
    "market_from_record",
    "pool_readers",
]

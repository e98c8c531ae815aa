"""The kinds of markets that this library knows, by class, and what reads a market of any kind that is installed.

May import `amm`, `curves`, `errors`, `extensions`, `fixed_point`, `market`, `model`, `reference` and `token_fields`.
Begin with `constant_product.py`.

Names are imported on first use: a snapshot loads the kinds that it has.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from routing_engine.amm.balancer.stable import Invariant
    from routing_engine.amm.cryptoswap.exchange import Method, Profit
    from routing_engine.amm.stableswap import Product
    from routing_engine.amm.stargate_fee import FeeTerms
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
    from routing_engine.markets.stableswap.pool import Accounting, StableSwapPool
    from routing_engine.markets.vault import Vault
    from routing_engine.markets.wrap import NativeWrap

_HOMES = {
    "amm.balancer.stable": ("Invariant",),
    "amm.cryptoswap.exchange": ("Method", "Profit"),
    "amm.stableswap": ("Product",),
    "amm.stargate_fee": ("FeeTerms",),
    "markets.balancer.linear": ("BalancerLinearPool",),
    "markets.balancer.stable": ("BalancerStablePool",),
    "markets.balancer.v1": ("BalancerV1Pool",),
    "markets.balancer.weighted": ("WeightedPool",),
    "markets.bancor": ("BancorPool",),
    "markets.bridges.lane": ("BridgeLane", "LaneFee"),
    "markets.bridges.stargate": ("StargateLane",),
    "markets.concentrated.pool": ("ConcentratedPool",),
    "markets.constant_product": ("ConstantProductPool",),
    "markets.cryptoswap.pool": ("CryptoSwapPool",),
    "markets.ekubo.pool": ("EkuboPool",),
    "markets.fluid.pool": ("FluidPool",),
    "markets.kinds": ("describe_kind", "installed_kinds", "kinds_by_type", "market_from_record", "pool_readers"),
    "markets.ladder": ("LadderMarket", "Level"),
    "markets.solidly.direction": ("Fork",),
    "markets.solidly.pool": ("SolidlyPool",),
    "markets.stableswap.pool": ("Accounting", "StableSwapPool"),
    "markets.vault": ("Vault",),
    "markets.wrap": ("NativeWrap",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Accounting",
    "BalancerLinearPool",
    "BalancerStablePool",
    "BalancerV1Pool",
    "BancorPool",
    "BridgeLane",
    "ConcentratedPool",
    "ConstantProductPool",
    "CryptoSwapPool",
    "EkuboPool",
    "FeeTerms",
    "FluidPool",
    "Fork",
    "Invariant",
    "LadderMarket",
    "LaneFee",
    "Level",
    "Method",
    "NativeWrap",
    "Product",
    "Profit",
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


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"routing_engine.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

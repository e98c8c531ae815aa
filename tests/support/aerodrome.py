"""Aerodrome's pools, compiled from their source, with what they ask of a factory and of tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from routing_engine.markets import Fork, SolidlyPool
from tests.support.evm import ACTOR, Contract, Evm
from tests.support.npm import Package
from tests.support.solidity import compile_solidity
from tests.support.strategies import make_token
from tests.support.vyper_source import compiled

AERODROME = Package(
    "sphere-mezo-solidity-files",
    "1.2.0",
    "sha512-slDQvcqBgUQKzVLo5uHVKH3E367t07TPXNcHzxuSXaH/1iVWWDPnmXD6Z+BlvcI+QPcOTq/6PSpqS+zu4krT/g==",
)
"""Its ``Pool.sol`` is that of aerodrome-finance/contracts, line by line in what a swap runs, for a newer compiler."""

OPEN_ZEPPELIN = Package(
    "@openzeppelin/contracts",
    "5.4.0",
    "sha512-eCYgWnLg6WO+X52I16TZt8uEjbtdkgLC0SUX/xnAksjjrQI4Xfn4iBRoI5j55dmlOhDv1Y7BoR3cU7e3WWhC6A==",
)

FEE_UNITS = 100
"""Pips in a unit of the contract's fee: a basis point."""


def _pool_code() -> dict[str, Any]:
    roots = (("aerodrome", AERODROME), ("@openzeppelin/contracts", OPEN_ZEPPELIN))
    return compile_solidity("aerodrome/domains/aerodrome/contracts/Pool.sol", "Pool", roots)


@dataclass(frozen=True)
class Pools:
    """Stable and volatile pools of tokens with these decimals, whose reserves can be set at will."""

    factory: Contract
    contract: Contract
    tokens: tuple[Contract, Contract]
    decimals: tuple[int, int]
    stable: bool

    @classmethod
    def deploy(cls, evm: Evm, decimals: tuple[int, int], *, stable: bool) -> Pools:
        """Deploy a pool and mint its first shares."""
        factory = evm.deploy(compiled("solidly_factory"))
        tokens = tuple(evm.deploy(compiled("settable_token"), each) for each in decimals)
        contract = evm.deploy(_pool_code())
        factory("create", contract.address, tokens[0].address, tokens[1].address, stable)
        pools = cls(factory, contract, tokens, decimals, stable)
        for token, each in zip(tokens, decimals, strict=True):
            token("set_balance", contract.address, 10 ** (each + 3))
        contract("mint", ACTOR)
        return pools

    def set(self, reserves: tuple[int, int], fee_bps: int) -> SolidlyPool:
        """Give the pool these reserves and this fee, and return the engine's pool in that state."""
        for token, reserve in zip(self.tokens, reserves, strict=True):
            token("set_balance", self.contract.address, reserve)
        self.contract("sync")
        self.factory("set_fee", fee_bps)
        return SolidlyPool(
            id="1:0xaerodrome",
            protocol="aerodrome",
            token0=make_token(1, self.decimals[0]),
            token1=make_token(2, self.decimals[1]),
            reserve0=reserves[0],
            reserve1=reserves[1],
            stable=self.stable,
            fork=Fork.VELODROME_V2,
            fee0_pips=fee_bps * FEE_UNITS,
            fee1_pips=fee_bps * FEE_UNITS,
        )

    def quote(self, sold: int, amount_in: int) -> int:
        """Return ``getAmountOut`` for coin `sold` (0 or 1)."""
        return self.contract("getAmountOut", amount_in, self.tokens[sold].address)

    def swap(self, sold: int, amount_in: int, amount_out: int) -> tuple[int, int]:
        """Swap as a router does, and return the reserves afterwards."""
        before = self.contract("getReserves")[sold]
        self.tokens[sold]("set_balance", self.contract.address, before + amount_in)
        self.contract("swap", *((0, amount_out) if sold == 0 else (amount_out, 0)), ACTOR, b"")
        return self.contract("getReserves")[:2]

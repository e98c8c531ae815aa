"""Connext's StableSwap, Saddle's contract with its mathematics in a library, as its authors compiled it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from routing_engine.markets.stableswap.pool import StableSwapPool
from tests.support.evm import ACTOR, FOREVER, Contract, Evm
from tests.support.npm import CONNEXT, artifact
from tests.support.uniswap import described, token


def _core(path: str, name: str) -> dict[str, Any]:
    return artifact(CONNEXT, f"artifacts/contracts/core/connext/{path}/{name}.sol/{name}.json")


def linked(compiled: dict[str, Any], libraries: dict[str, str]) -> dict[str, Any]:
    """Return the contract with its placeholders replaced by the addresses of deployed libraries."""
    code = compiled["bytecode"].removeprefix("0x")
    for names in compiled["linkReferences"].values():
        for name, places in names.items():
            for place in places:
                start, end = 2 * place["start"], 2 * (place["start"] + place["length"])
                code = code[:start] + libraries[name].removeprefix("0x").lower() + code[end:]
    return {**compiled, "bytecode": code}


@dataclass(frozen=True)
class StableSwaps:
    """What every pool needs: the compiled pool, linked to its library, and the token that pools clone."""

    evm: Evm
    pool: dict[str, Any]
    lp_token: Contract

    @classmethod
    def deploy(cls, evm: Evm) -> StableSwaps:
        library = evm.deploy(_core("libraries", "SwapUtilsExternal"))
        pool = linked(_core("helpers", "StableSwap"), {"SwapUtilsExternal": library.address})
        return cls(evm, pool, evm.deploy(_core("helpers", "LPToken")))

    def create(self, decimals: list[int], balances: list[int], amp: int, fee: int, admin_fee: int) -> StableSwap:
        """Deploy a pool of fresh tokens and deposit its first balances."""
        tokens = [token(self.evm) for _ in decimals]
        contract = self.evm.deploy(self.pool)
        addresses = [each.address for each in tokens]
        names = ("Pool", "LP")
        contract("initialize", addresses, decimals, *names, amp, fee, admin_fee, self.lp_token.address)
        for each in tokens:
            each("approve", contract.address, 2**256 - 1)
        contract("addLiquidity", balances, 0, FOREVER)
        return StableSwap(contract, tuple(tokens), tuple(decimals))


@dataclass(frozen=True)
class StableSwap:
    """One deployed pool and its tokens."""

    contract: Contract
    tokens: tuple[Contract, ...]
    decimals: tuple[int, ...]

    def read(self) -> StableSwapPool:
        """Return the engine's pool in the contract's present state."""
        contract = self.contract
        storage = contract("swapStorage")
        return StableSwapPool(
            id=f"1:{contract.address}",
            protocol="connext",
            tokens=tuple(map(described, self.tokens, self.decimals)),
            balances=tuple(contract("getTokenBalance", index) for index in range(len(self.tokens))),
            rates=tuple(10 ** (36 - decimals) for decimals in self.decimals),
            amp=contract("getAPrecise"),
            fee_e10=storage[4],
            admin_fee_e10=storage[5],
        )

    def quote(self, i: int, j: int, amount_in: int) -> int:
        """Return the contract's own answer."""
        return self.contract("calculateSwap", i, j, amount_in)

    def swap(self, i: int, j: int, amount_in: int) -> int:
        """Exchange for real; return what the actor received."""
        before = self.tokens[j]("balanceOf", ACTOR)
        self.contract("swap", i, j, amount_in, 0, FOREVER)
        return self.tokens[j]("balanceOf", ACTOR) - before

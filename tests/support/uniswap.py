"""Uniswap v2 and v3 as their authors compiled them, deployed with test tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from routing_engine.markets import ConcentratedPool, ConstantProductPool
from routing_engine.model import Token
from tests.support.evm import ACTOR, FOREVER, Contract, Evm
from tests.support.npm import V2_CORE, V2_PERIPHERY, V3_CORE, V3_PERIPHERY, artifact


def _v2_core(name: str) -> dict[str, Any]:
    return artifact(V2_CORE, f"build/{name}.json")


def _v2_periphery(name: str) -> dict[str, Any]:
    return artifact(V2_PERIPHERY, f"build/{name}.json")


def _v3_core(name: str) -> dict[str, Any]:
    return artifact(V3_CORE, f"artifacts/contracts/{name}.sol/{name}.json")


def _v3_periphery(name: str, folder: str = "") -> dict[str, Any]:
    return artifact(V3_PERIPHERY, f"artifacts/contracts/{folder}{name}.sol/{name}.json")


def token(evm: Evm) -> Contract:
    """Deploy a token whose whole supply the actor holds."""
    return evm.deploy(_v2_periphery("ERC20"), 2**250)


def two_tokens(evm: Evm) -> tuple[Contract, Contract]:
    """Deploy two tokens, in the order in which pools sort them."""
    first, second = sorted((token(evm), token(evm)), key=lambda contract: int(contract.address, 16))
    return first, second


def described(contract: Contract, decimals: int = 18) -> Token:
    """Return the engine's token for a deployed one."""
    return Token(chain_id=1, address=contract.address.lower(), symbol=contract.address[2:6], decimals=decimals)


@dataclass(frozen=True)
class V2:
    """Factory, router and wrapped native coin."""

    evm: Evm
    factory: Contract
    router: Contract
    weth: Contract

    @classmethod
    def deploy(cls, evm: Evm) -> V2:
        factory = evm.deploy(_v2_core("UniswapV2Factory"), ACTOR)
        weth = evm.deploy(_v2_periphery("WETH9"))
        router = evm.deploy(_v2_periphery("UniswapV2Router02"), factory.address, weth.address)
        return cls(evm, factory, router, weth)

    def pair(self, token0: Contract, token1: Contract, reserve0: int, reserve1: int) -> Contract:
        """Create a pair and give it its reserves."""
        self.factory("createPair", token0.address, token1.address)
        pair = self.evm.at(self.factory("getPair", token0.address, token1.address), _v2_core("UniswapV2Pair")["abi"])
        token0("transfer", pair.address, reserve0)
        token1("transfer", pair.address, reserve1)
        pair("mint", ACTOR)
        return pair


def read_pair(pair: Contract, token0: Contract, token1: Contract) -> ConstantProductPool:
    """Return the engine's pool with the pair's reserves."""
    reserve0, reserve1, _ = pair("getReserves")
    return ConstantProductPool(
        id=f"1:{pair.address}",
        protocol="uniswap_v2",
        token0=described(token0),
        token1=described(token1),
        reserve0=reserve0,
        reserve1=reserve1,
        fee_pips=3000,
    )


@dataclass(frozen=True)
class V3:
    """Factory, position manager, router and quoter."""

    evm: Evm
    factory: Contract
    positions: Contract
    router: Contract
    quoter: Contract

    @classmethod
    def deploy(cls, evm: Evm) -> V3:
        factory = evm.deploy(_v3_core("UniswapV3Factory"))
        weth = evm.deploy(_v2_periphery("WETH9")).address
        return cls(
            evm,
            factory,
            evm.deploy(_v3_periphery("NonfungiblePositionManager"), factory.address, weth, ACTOR),
            evm.deploy(_v3_periphery("SwapRouter"), factory.address, weth),
            evm.deploy(_v3_periphery("QuoterV2", "lens/"), factory.address, weth),
        )

    def create(self, fee_pips: int, tick_spacing: int, sqrt_price_x96: int) -> V3Pool:
        """Create an empty pool of two fresh tokens at a price."""
        if self.factory("feeAmountTickSpacing", fee_pips) == 0:
            self.factory("enableFeeAmount", fee_pips, tick_spacing)
        token0, token1 = two_tokens(self.evm)
        for contract in (token0, token1):
            contract("approve", self.positions.address, 2**256 - 1)
            contract("approve", self.router.address, 2**256 - 1)
        pair = (token0.address, token1.address, fee_pips)
        address = self.positions("createAndInitializePoolIfNecessary", *pair, sqrt_price_x96)
        return V3Pool(self, self.evm.at(address, _v3_core("UniswapV3Pool")["abi"]), token0, token1, fee_pips, set())


@dataclass(frozen=True)
class V3Pool:
    """One deployed pool, with the ticks that its positions have initialised."""

    v3: V3
    contract: Contract
    token0: Contract
    token1: Contract
    fee_pips: int
    indices: set[int]

    def mint(self, lower: int, upper: int, amount0: int, amount1: int) -> None:
        """Provide up to these amounts between two ticks."""
        pair = (self.token0.address, self.token1.address, self.fee_pips)
        self.v3.positions("mint", (*pair, lower, upper, amount0, amount1, 0, 0, ACTOR, FOREVER))
        self.indices.update((lower, upper))

    def read(self) -> ConcentratedPool:
        """Return the engine's pool in the contract's present state."""
        sqrt_price_x96, tick = self.contract("slot0")[:2]
        pool = ConcentratedPool(
            id=f"1:{self.contract.address}",
            protocol="uniswap_v3",
            token0=described(self.token0),
            token1=described(self.token1),
            fee_pips=self.fee_pips,
            tick_spacing=self.contract("tickSpacing"),
            sqrt_price_x96=sqrt_price_x96,
            tick=tick,
            liquidity=self.contract("liquidity"),
            ticks=tuple((index, self.contract("ticks", index)[1]) for index in sorted(self.indices)),
        )
        pool.validate()
        return pool

    def ordered(self, zero_for_one: bool) -> tuple[str, str]:
        """Return the addresses of the token sold and the token bought."""
        pair = (self.token0.address, self.token1.address)
        return pair if zero_for_one else pair[::-1]

    def quote(self, zero_for_one: bool, amount: int, *, exact_in: bool) -> tuple[int, int, int]:
        """Return the quoter's other amount, ``sqrtPriceX96After`` and the number of initialised ticks crossed."""
        name = "quoteExactInputSingle" if exact_in else "quoteExactOutputSingle"
        return self.v3.quoter(name, (*self.ordered(zero_for_one), amount, self.fee_pips, 0))[:3]

    def trade(self, zero_for_one: bool, amount: int, *, exact_in: bool, limit: int = 0) -> int:
        """Swap for real through the router, up to a price if given; return the other amount."""
        name = "exactInputSingle" if exact_in else "exactOutputSingle"
        bound = 0 if exact_in else 2**256 - 1
        order = (*self.ordered(zero_for_one), self.fee_pips, ACTOR, FOREVER, amount, bound, limit)
        return self.v3.router(name, order)

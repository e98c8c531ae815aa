"""Uniswap v4 as its authors compiled it, deployed with test tokens and the native coin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from routing_engine.amm.concentrated.swap_loop import MAX_AMOUNT_V4
from routing_engine.amm.concentrated.tick_math import MAX_SQRT_RATIO, MIN_SQRT_RATIO
from routing_engine.markets import ConcentratedPool
from routing_engine.markets.concentrated.pool_key import pool_id
from routing_engine.model import NATIVE_ADDRESS, ZERO_ADDRESS, Token
from tests.support.evm import ACTOR, Contract, Evm
from tests.support.npm import V4_CORE, V4_PERIPHERY, artifact

PLENTY = 2**125
SETTLE_IN_TOKENS = (False, False)


def _compiled(package: Any, folder: str, name: str, *, shortest: str = "") -> dict[str, Any]:
    """Return abi and bytecode; of the overloads of `shortest` only that with the fewest inputs."""
    found = artifact(package, f"{folder}/{name}.sol/{name}.json")
    overloads = [entry for entry in found["abi"] if entry.get("name") == shortest]
    least = min((len(entry["inputs"]) for entry in overloads), default=0)
    abi = [entry for entry in found["abi"] if entry not in overloads or len(entry["inputs"]) == least]
    return {"abi": abi, "bytecode": found["bytecode"]["object"]}


def manager_code() -> dict[str, Any]:
    """Return the manager's abi and bytecode; it is constructed with its owner."""
    return _compiled(V4_CORE, "out", "PoolManager")


@dataclass(frozen=True)
class V4:
    """Pool manager, test routers, quoter and lens."""

    evm: Evm
    manager: Contract
    liquidity_router: Contract
    swap_router: Contract
    quoter: Contract
    view: Contract

    @classmethod
    def deploy(cls, evm: Evm) -> V4:
        return cls.around(evm.deploy(manager_code(), ACTOR))

    @classmethod
    def around(cls, manager: Contract) -> V4:
        """Deploy what belongs to a manager of the actor's."""
        evm = manager.evm
        manager("setProtocolFeeController", ACTOR)
        modify = _compiled(V4_CORE, "out", "PoolModifyLiquidityTest", shortest="modifyLiquidity")
        return cls(
            evm,
            manager,
            evm.deploy(modify, manager.address),
            evm.deploy(_compiled(V4_CORE, "out", "PoolSwapTest"), manager.address),
            evm.deploy(_compiled(V4_PERIPHERY, "foundry-out", "V4Quoter"), manager.address),
            evm.deploy(_compiled(V4_PERIPHERY, "foundry-out", "StateView"), manager.address),
        )

    def token(self, decimals: int) -> Contract:
        """Deploy a token, give the actor plenty of it, and let the routers spend it."""
        contract = self.evm.deploy(_compiled(V4_PERIPHERY, "foundry-out", "MockERC20"), "Test", "T", decimals)
        contract("mint", ACTOR, PLENTY)
        for router in (self.liquidity_router, self.swap_router):
            contract("approve", router.address, 2**256 - 1)
        return contract

    def create(
        self, fee_pips: int, spacing: int, sqrt_price_x96: int, *, native: bool, protocol_fees: tuple[int, int]
    ) -> V4Pool:
        """Create an empty pool of two fresh tokens, or of the native coin and one, at a price."""
        addresses = [self.token(18).address for _ in range(1 if native else 2)] + [ZERO_ADDRESS] * native
        addresses.sort(key=lambda address: int(address, 16))
        key = (*addresses, fee_pips, spacing, ZERO_ADDRESS)
        self.manager("initialize", key, sqrt_price_x96)
        self.manager("setProtocolFee", key, protocol_fees[0] | protocol_fees[1] << 12)
        return V4Pool(self, key, protocol_fees, set())


@dataclass(frozen=True)
class V4Pool:
    """One pool of the manager, with the ticks that its positions have initialised."""

    v4: V4
    key: tuple[Any, ...]
    protocol_fees: tuple[int, int]
    indices: set[int]

    @property
    def tokens(self) -> tuple[Token, Token]:
        """The engine's tokens."""
        first, second = (
            Token(
                chain_id=1,
                address=NATIVE_ADDRESS if address == ZERO_ADDRESS else address.lower(),
                symbol=address[2:6],
                decimals=18,
            )
            for address in self.key[:2]
        )
        return first, second

    def provide(self, lower: int, upper: int, liquidity: int) -> None:
        """Add liquidity between two ticks."""
        value = PLENTY if self.tokens[0].is_native else 0
        self.v4.liquidity_router("modifyLiquidity", self.key, (lower, upper, liquidity, bytes(32)), b"", value=value)
        self.indices.update((lower, upper))

    def read(self) -> ConcentratedPool:
        """Return the engine's pool in the manager's present state, which is asked for by the id computed here."""
        fee_pips, spacing = self.key[2:4]
        identifier = pool_id(self.tokens, fee_pips, spacing)
        asked = bytes.fromhex(identifier[2:])
        sqrt_price_x96, tick, packed, lp_fee = self.v4.view("getSlot0", asked)
        assert (packed & 0xFFF, packed >> 12, lp_fee) == (*self.protocol_fees, fee_pips)
        pool = ConcentratedPool(
            id=f"1:{identifier}",
            protocol="uniswap_v4",
            token0=self.tokens[0],
            token1=self.tokens[1],
            fee_pips=fee_pips,
            tick_spacing=spacing,
            sqrt_price_x96=sqrt_price_x96,
            tick=tick,
            liquidity=self.v4.view("getLiquidity", asked),
            ticks=tuple((index, self.v4.view("getTickLiquidity", asked, index)[1]) for index in sorted(self.indices)),
            protocol_fee0_pips=packed & 0xFFF,
            protocol_fee1_pips=packed >> 12,
            largest_amount=MAX_AMOUNT_V4,
        )
        pool.validate()
        return pool

    def quote(self, zero_for_one: bool, amount: int, *, exact_in: bool) -> int:
        """Return the quoter's other amount; it reverts where the liquidity ends."""
        name = "quoteExactInputSingle" if exact_in else "quoteExactOutputSingle"
        other, _ = self.v4.quoter(name, (self.key, zero_for_one, amount, b""))
        return other

    def trade(self, zero_for_one: bool, amount: int, *, exact_in: bool) -> tuple[int, int]:
        """Swap for real; return what was paid and what was received."""
        limit = MIN_SQRT_RATIO + 1 if zero_for_one else MAX_SQRT_RATIO - 1
        value = amount if zero_for_one and self.tokens[0].is_native else 0
        order = (zero_for_one, -amount if exact_in else amount, limit)
        delta = self.v4.swap_router("swap", self.key, order, SETTLE_IN_TOKENS, b"", value=value)
        deltas = delta >> 128, ((delta & (2**128 - 1)) ^ 2**127) - 2**127
        paid, received = deltas if zero_for_one else deltas[::-1]
        return -paid, received

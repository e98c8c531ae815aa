"""A local chain with the contracts of a main net at the addresses that they have there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isqrt
from typing import Any

from eth_abi import encode
from eth_utils.abi import collapse_if_tuple

from adapters.chain.adapter import OnChainAdapter
from adapters.chain.deployments import read_deployments
from adapters.chain.tokens import ChainTokens
from adapters.dexes.uniswap_v2 import UniswapV2
from adapters.dexes.uniswap_v3 import UniswapV3
from adapters.http.client import JsonClient
from adapters.rpc.endpoint_pool import RPC_LIMITS, RpcPool
from routing_engine.market import Market
from routing_engine.markets import NativeWrap
from routing_engine.model import Token
from routing_engine.reference import token_registry
from routing_engine.reference.chains import CHAINS
from tests.support.chain import Chain, running_chain
from tests.support.evm import ACTOR, FOREVER, Contract
from tests.support.npm import ACROSS, SWAP_ROUTER, V4_PERIPHERY, artifact
from tests.support.uniswap import _v2_core, _v2_periphery, _v3_core, _v3_periphery

HOUR = 3600
SPACINGS = {500: 10, 3000: 60, 10_000: 200}
MINTED = 10**30
UNCACHED = 2**256 - 1
"""What SwapRouter02's constructor stores: nothing is cached."""


def _mock_token() -> dict[str, Any]:
    found = artifact(V4_PERIPHERY, "foundry-out/MockERC20.sol/MockERC20.json")
    return {"abi": found["abi"], "bytecode": found["bytecode"]["object"]}


@dataclass(frozen=True)
class MainNet:
    """One chain with Uniswap v2 and v3, Across, the wrapped coin and a few tokens.

    `tokens` are contracts by symbol; the actor holds much of each.
    """

    chain: Chain
    v2_factory: Contract
    v2_router: Contract
    v3_factory: Contract
    positions: Contract
    spoke_pool: Contract
    tokens: dict[str, Contract]

    @classmethod
    def deploy(cls, chain: Chain, symbols: tuple[str, ...] = ("USDC", "USDT", "DAI")) -> MainNet:
        weth_at = CHAINS[chain.chain_id].wrapped_native
        weth = placed(chain, weth_at, _v2_periphery("WETH9"))
        chain.rpc("anvil_setStorageAt", weth_at, "0x2", _word(18))
        v2_factory, v3_factory = (
            chain.deploy(_v2_core("UniswapV2Factory"), ACTOR),
            chain.deploy(_v3_core("UniswapV3Factory")),
        )
        positions = chain.deploy(_v3_periphery("NonfungiblePositionManager"), v3_factory.address, weth_at, ACTOR)
        routers = {each: fact(each, chain.chain_id, "router") for each in ("uniswap_v2", "uniswap_v3")}
        compiled = artifact(SWAP_ROUTER, "artifacts/contracts/SwapRouter02.sol/SwapRouter02.json")
        uniswap = (v2_factory.address, v3_factory.address, positions.address, weth_at)
        placed(chain, routers["uniswap_v3"], compiled, *uniswap)
        chain.rpc("anvil_setStorageAt", routers["uniswap_v3"], "0x0", _word(UNCACHED))
        v2_router = placed(chain, routers["uniswap_v2"], _v2_periphery("UniswapV2Router02"), uniswap[0], weth_at)
        spoke_pool = placed(
            chain,
            fact("across", chain.chain_id, "spoke_pool"),
            artifact(ACROSS, "dist/evm/artifacts/Ethereum_SpokePool.sol/Ethereum_SpokePool.json"),
            weth_at, HOUR, 9 * HOUR, ACTOR,
        )  # fmt: skip
        made = cls(chain, v2_factory, v2_router, v3_factory, positions, spoke_pool, {"WETH": weth})
        for symbol in symbols:
            made.tokens[symbol] = made._token(symbol)
        weth("deposit", value=MINTED)
        for contract in made.tokens.values():
            for spender in (positions, v2_router, spoke_pool):
                contract("approve", spender.address, 2**256 - 1)
        return made

    def token(self, symbol: str) -> Token:
        """Return the engine's token."""
        return token_registry.token(symbol, self.chain.chain_id)

    def pair(self, first: str, amount: int, second: str, other: int) -> None:
        """Make a v2 pair with these reserves."""
        ends = self.tokens[first].address, self.tokens[second].address
        self.v2_router("addLiquidity", *ends, amount, other, 0, 0, ACTOR, FOREVER)

    def pool(self, first: str, amount: int, second: str, other: int, fee_pips: int) -> None:
        """Make a v3 pool with these amounts over all prices."""
        rows = sorted(((self.tokens[first].address, amount), (self.tokens[second].address, other)), key=_by_address)
        (token0, amount0), (token1, amount1) = rows
        price = isqrt_x96(amount0, amount1)
        self.positions("createAndInitializePoolIfNecessary", token0, token1, fee_pips, price)
        edge = 887_272 // SPACINGS[fee_pips] * SPACINGS[fee_pips]
        order = (token0, token1, fee_pips, -edge, edge, amount0, amount1, 0, 0, ACTOR, FOREVER)
        self.positions("mint", order)

    def markets(self) -> tuple[Market, ...]:
        """Read every pool over the chain's RPC; the wrapped coin among them."""
        chain_id = self.chain.chain_id
        protocols = [
            UniswapV2("uniswap_v2", chain_id, self.v2_factory.address.lower(), 3000),
            UniswapV3("uniswap_v3", chain_id, self.v3_factory.address.lower()),
        ]
        adapter = OnChainAdapter(self.rpc(), protocols, ChainTokens(map(self.token, self.tokens)))
        return (NativeWrap.of(CHAINS[chain_id]), *adapter.parse(adapter.fetch()).markets)

    def rpc(self) -> RpcPool:
        """Return endpoints with this chain as the only one."""
        client = JsonClient(limits=RPC_LIMITS)
        return RpcPool(self.chain.chain_id, [self.chain.url], client=client, finality_blocks=750, clock=self.chain.now)

    def fund(self, holder: str, symbol: str, amount: int) -> None:
        """Give somebody a token, or the coin."""
        if symbol == "ETH":
            self.chain.rpc("anvil_setBalance", holder, hex(amount))
        else:
            self.tokens[symbol]("transfer", holder, amount)

    def balance(self, holder: str, symbol: str) -> int:
        """Return what somebody has."""
        if symbol == "ETH":
            return int(self.chain.rpc("eth_getBalance", holder, "latest"), 16)
        return int(self.tokens[symbol]("balanceOf", holder))

    def _token(self, symbol: str) -> Contract:
        known = token_registry.token(symbol, self.chain.chain_id)
        contract = placed(self.chain, known.address, _mock_token(), symbol, symbol, known.decimals)
        contract("mint", ACTOR, MINTED)
        return contract


def isqrt_x96(amount0: int, amount1: int) -> int:
    """Return the square root of the price at which two amounts are worth the same, times 2**96."""
    return isqrt((amount1 << 192) // amount0)


def _word(number: int) -> str:
    return f"0x{number:064x}"


def _by_address(row: tuple[str, int]) -> int:
    return int(row[0], 16)


def fact(protocol: str, chain_id: int, field: str) -> str:
    """Return an address of a protocol's own deployment on a main net."""
    return next(
        facts.get_address(field) for facts in read_deployments(protocol, chain_id) if facts.get_text("name") == protocol
    )


def placed(chain: Chain, address: str, compiled: dict[str, Any], *arguments: Any) -> Contract:
    """Deploy a contract and put its code, its immutable values with it, at another address: as behind a proxy."""
    made = chain.deploy(compiled, *arguments)
    chain.set_code(address, chain.code(made.address))
    return chain.at(address, compiled["abi"])


def constructed(chain: Chain, address: str, compiled: dict[str, Any], *arguments: Any) -> Contract:
    """Construct a contract at an address, with its storage and whatever its constructor makes."""
    inputs = next((entry["inputs"] for entry in compiled["abi"] if entry["type"] == "constructor"), [])
    data = encode([collapse_if_tuple(item) for item in inputs], arguments)
    chain.set_code(address, bytes.fromhex(compiled["bytecode"].removeprefix("0x")) + data)
    chain.set_code(address, chain.send(address, b""))
    return chain.at(address, compiled["abi"])


@contextmanager
def running_main_net(chain_id: int) -> Iterator[MainNet]:
    """Run a chain with everything on it."""
    with running_chain(chain_id) as chain:
        yield MainNet.deploy(chain)

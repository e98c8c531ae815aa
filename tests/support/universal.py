"""The Universal Router with Permit2, and Across's periphery, which swaps through it; as their authors compiled."""

from __future__ import annotations

import re

from eth_utils import keccak

from adapters.chain.deployments import read_deployments
from adapters.rpc.multicall import MULTICALL3
from routing_engine.model import ZERO_ADDRESS
from routing_engine.reference.chains import CHAINS
from tests.support.evm import Contract
from tests.support.main_net import MainNet, constructed, fact, placed
from tests.support.npm import ACROSS, UNIVERSAL_ROUTER, V4_PERIPHERY, artifact
from tests.support.uniswap import _v2_core, _v3_core

PERMIT2 = re.compile("6040608081526004.*64736f6c6343000811000a")
"""Its runtime code, inside that of a script which puts it in place: up to its compiler's version."""


def deploy_router(net: MainNet, manager: str = ZERO_ADDRESS) -> Contract:
    """Put Permit2 and the router where they are on the main net; `manager` is Uniswap v4's."""
    chain = net.chain
    permit2 = fact("uniswap_v4", chain.chain_id, "permit2")
    script = artifact(V4_PERIPHERY, "foundry-out/DeployPermit2.sol/DeployPermit2.json")["bytecode"]["object"]
    (code,) = PERMIT2.findall(script)
    chain.set_code(permit2, bytes.fromhex(code))
    compiled = artifact(UNIVERSAL_ROUTER, "artifacts/contracts/UniversalRouter.sol/UniversalRouter.json")
    made_of = (_v2_core("UniswapV2Pair"), _v3_core("UniswapV3Pool"))
    pair, pool = (keccak(bytes.fromhex(each["bytecode"].removeprefix("0x"))) for each in made_of)
    factories = net.v2_factory.address, net.v3_factory.address
    weth, positions = CHAINS[chain.chain_id].wrapped_native, net.positions.address
    parameters = (permit2, weth, *factories, pair, pool, manager, positions, ZERO_ADDRESS)
    return placed(chain, fact("uniswap_v4", chain.chain_id, "router"), compiled, parameters)


def deploy_periphery(net: MainNet) -> Contract:
    """Put Across's periphery where it is on the main net; its own swap proxy comes with it."""
    (facts,) = read_deployments("across", net.chain.chain_id)
    compiled = artifact(ACROSS, "dist/evm/artifacts/SpokePoolPeriphery.sol/SpokePoolPeriphery.json")
    permit2 = fact("uniswap_v4", net.chain.chain_id, "permit2")
    return constructed(net.chain, facts.get_address("periphery"), compiled, permit2, MULTICALL3)

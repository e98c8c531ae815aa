"""web3 over a pool of endpoints: its contracts give what the adapter reads, errors and all."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from adapters.base import Declined, VenueUnavailable
from adapters.http.client import HttpLimits, JsonClient
from adapters.rpc.endpoint_pool import RpcPool
from adapters.rpc.web3_provider import PoolProvider
from tests.support.capture import Uniswap, adapter_of, running_uniswap
from tests.support.evm import ACTOR
from tests.support.uniswap import _v2_core

# Behind adapters.rpc.web3_provider, which keeps Python's recursion limit where it is.
from web3 import Web3  # isort: skip
from web3.exceptions import ContractLogicError  # isort: skip

NOBODY = "http://127.0.0.1:9/"


@pytest.fixture(scope="module")
def venue() -> Iterator[Uniswap]:
    with running_uniswap(1) as found:
        found.add_pair(0, 1, 10**24, 3 * 10**24)
        yield found


@pytest.fixture
def w3(venue: Uniswap) -> Web3:
    client = JsonClient(limits=HttpLimits(tries=1))
    return Web3(PoolProvider(RpcPool(1, [NOBODY, venue.chain.url], client=client, clock=venue.chain.now)))


def test_contracts_give_what_the_adapter_reads(venue, w3):
    adapter = adapter_of(venue)
    (market,) = adapter.parse(adapter.fetch()).markets
    address = Web3.to_checksum_address(market.id.partition(":")[2])
    pair = w3.eth.contract(address=address, abi=_v2_core("UniswapV2Pair")["abi"])
    assert pair.functions.getReserves().call()[:2] == [market.reserve0, market.reserve1]
    assert w3.eth.chain_id == 1
    assert w3.eth.block_number == venue.chain.number
    assert w3.is_connected()


def test_a_revert_is_web3s_own_error(venue, w3):
    router = w3.eth.contract(
        address=Web3.to_checksum_address(venue.v2.router.address),
        abi=[
            {
                "type": "function",
                "name": "getAmountsOut",
                "stateMutability": "view",
                "inputs": [{"name": "amountIn", "type": "uint256"}, {"name": "path", "type": "address[]"}],
                "outputs": [{"name": "amounts", "type": "uint256[]"}],
            }
        ],
    )
    path = [Web3.to_checksum_address(contract.address) for contract in venue.contracts[:2]]
    with pytest.raises(ContractLogicError, match="INSUFFICIENT_INPUT_AMOUNT"):
        router.functions.getAmountsOut(0, path).call()
    assert router.functions.getAmountsOut(10**6, path).call()[1] > 0


def test_what_does_more_than_read_is_declined(w3):
    with pytest.raises(Declined, match="eth_sendTransaction may not be put more than once"):
        w3.provider.make_request("eth_sendTransaction", [{"from": ACTOR, "to": ACTOR}])


def test_without_an_endpoint_there_is_no_connection():
    provider = PoolProvider(RpcPool(1, [NOBODY], client=JsonClient(limits=HttpLimits(tries=1)), sleep=lambda _: None))
    assert not provider.is_connected()
    with pytest.raises(VenueUnavailable):
        provider.is_connected(show_traceback=True)


def test_importing_it_leaves_pythons_recursion_limit_alone():
    limit = "import sys; print(sys.getrecursionlimit())"
    code = f"{limit}; import adapters.rpc.web3_provider; {limit}"
    before, after = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split()
    assert before == after

"""What decoding a log and a result costs: as chains are read here, and through web3; see docs/adr/0018."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from eth_abi import encode
from hexbytes import HexBytes
from pytest_benchmark.fixture import BenchmarkFixture

from adapters.rpc.abi import Event, Function, Log, Outcome
from adapters.rpc.recursion import keep_recursion_limit

with keep_recursion_limit():
    from web3 import Web3
    from web3.datastructures import AttributeDict

POOL = Web3.to_checksum_address("0x" + "11" * 20)
TYPES = ("int256", "int256", "uint160", "uint128", "int24")
NAMES = ("amount0", "amount1", "price", "liquidity", "tick")
VALUES = (10**18, -(10**9), 2**96, 10**20, -100)
SWAP = Event("Swap(address indexed,address indexed,int256,int256,uint160,uint128,int24)")
LOG = Log(
    address=POOL.lower(),
    topics=(SWAP.topic, "0x" + "22".rjust(64, "0"), "0x" + "33".rjust(64, "0")),
    data=encode(TYPES, VALUES),
    block_number=1,
    block_hash="0x" + "aa" * 32,
    index=0,
)
RESERVES = Function("getReserves()", "uint112", "uint112", "uint32")
CODEC = Web3().codec
ANSWER = encode(RESERVES.outputs, (10**20, 10**21, 10**9))


def swap_of_web3() -> Callable[[], tuple[int, ...]]:
    people = [{"name": name, "type": "address", "indexed": True} for name in ("sender", "recipient")]
    amounts = [{"name": name, "type": type_, "indexed": False} for name, type_ in zip(NAMES, TYPES, strict=True)]
    abi = {"type": "event", "name": "Swap", "anonymous": False, "inputs": [*people, *amounts]}
    event = Web3().eth.contract(address=POOL, abi=[abi]).events.Swap()
    record = AttributeDict(
        {
            "address": POOL,
            "topics": [HexBytes(topic) for topic in LOG.topics],
            "data": HexBytes(LOG.data),
            "blockNumber": 1,
            "blockHash": HexBytes(LOG.block_hash),
            "logIndex": 0,
            "transactionIndex": 0,
            "transactionHash": HexBytes(bytes(32)),
        }
    )

    def decode() -> tuple[int, ...]:
        values = event.process_log(record)["args"]
        return tuple(values[name] for name in NAMES)

    return decode


DECODERS = {
    "log, here": lambda: SWAP.decode(LOG)[1],
    "log, web3": swap_of_web3(),
    "result, here": lambda: RESERVES.decode(Outcome(ANSWER), POOL),
    "result, web3": lambda: tuple(CODEC.decode(RESERVES.outputs, ANSWER)),
}


@pytest.mark.parametrize("way", DECODERS)
def test_decoding(benchmark: BenchmarkFixture, way: str) -> None:
    found = benchmark(DECODERS[way])
    assert found == (VALUES if way.startswith("log") else (10**20, 10**21, 10**9))

"""Gas prices from recent fees, with what rollups charge for data."""

from __future__ import annotations

from typing import Any

import pytest
from eth_abi import encode

from adapters.base import AdapterError, BadPayload
from adapters.chain.gas import (
    ARB_GAS_INFO,
    GAS_PRICE_ORACLE,
    TYPICAL_BYTES,
    GasAdapter,
    GasPayload,
    read_execution_price,
)
from adapters.rpc.endpoint_pool import RpcPool
from tests.support.nodes import NOW, Network, Node

GWEI = 10**9


def history(base: int = 20 * GWEI, tips: tuple[int, ...] = (1, 3, 2)) -> dict[str, Any]:
    return {"oldestBlock": "0x1", "baseFeePerGas": ["0x1", hex(base)], "reward": [[hex(tip * GWEI)] for tip in tips]}


def adapter_on(chain_id: int, answer: Any, contracts: dict[str, bytes] | None = None) -> GasAdapter:
    node = Node(chain_id)
    for address, data in (contracts or {}).items():
        node.contracts[address] = lambda _, data=data: data
    known = node._result
    node._result = lambda method, given: answer if method == "eth_feeHistory" else known(method, given)
    network = Network(node=node)
    return GasAdapter(RpcPool(chain_id, network.urls, client=network, clock=lambda: NOW))


def test_base_fee_of_the_next_block_and_median_tip():
    adapter = adapter_on(1, history())
    assert adapter.parse(adapter.fetch()).gas_prices == {1: 22 * GWEI}


def test_blocks_without_transactions_or_tips_have_a_price():
    assert read_execution_price(history(tips=())) == 20 * GWEI
    assert read_execution_price({"baseFeePerGas": ["0x5"], "reward": None}) == 5


@pytest.mark.parametrize("chain_id", [10, 8453])
def test_the_data_fee_of_an_op_stack_chain_is_spread_over_gas(chain_id):
    adapter = adapter_on(chain_id, history(GWEI, (0,)), {GAS_PRICE_ORACLE: encode(["uint256"], [10**12 + 1])})
    assert adapter.parse(adapter.fetch()).gas_prices == {chain_id: GWEI + 5_000_001}


def test_the_data_fee_of_arbitrum_is_paid_by_the_byte():
    prices = encode(["uint256"] * 6, [1, 10**9, 2, 3, 4, 5])
    adapter = adapter_on(42161, history(GWEI, (0,)), {ARB_GAS_INFO: prices})
    assert adapter.parse(adapter.fetch()).gas_prices == {42161: GWEI + 10**9 * TYPICAL_BYTES // 200_000}


WRONG = (
    None,
    [],
    {},
    {"baseFeePerGas": []},
    {"baseFeePerGas": ["0x1"], "reward": "0x1"},
    {"baseFeePerGas": ["1"]},
    {"baseFeePerGas": [None]},
    {"baseFeePerGas": ["0x" + "f" * 20]},
    {"baseFeePerGas": ["0x0"]},
    {"baseFeePerGas": [hex(10**15 + 1)]},
    {"baseFeePerGas": ["0x1"], "reward": [["-0x1"]]},
)


@pytest.mark.parametrize("answer", WRONG, ids=repr)
def test_impossible_fees_are_refused(answer):
    with pytest.raises(BadPayload):
        adapter_on(1, answer).parse(GasPayload(answer))


@pytest.mark.parametrize("data", [b"", b"\1" * 31, (10**19).to_bytes(32), b"\xff" * 32])
def test_impossible_data_fees_are_refused(data):
    adapter = adapter_on(10, history(), {GAS_PRICE_ORACLE: data})
    with pytest.raises(AdapterError):
        adapter.parse(adapter.fetch())


def test_a_chain_without_the_oracle_is_not_given_a_free_ride():
    adapter = adapter_on(10, history())
    with pytest.raises(AdapterError):
        adapter.parse(adapter.fetch())

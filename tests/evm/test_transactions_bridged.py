"""A deposit that pays a merchant on another chain, a relayer who fills it; and nodes that can't simulate batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from adapters.http.client import JsonClient
from adapters.rpc.endpoint_pool import RPC_LIMITS, RpcPool
from adapters.transactions.base import PlannedHop, Purpose, Terms, Transaction
from adapters.transactions.payment_builders import PaymentBuilders, append_reference, list_transactions
from adapters.transactions.simulation import PaymentChain, Simulation, WouldFail
from routing_engine.model import Hop
from routing_engine.reference import token_registry
from tests.support.across import fill
from tests.support.main_net import MainNet, running_main_net

PAYER, MERCHANT = "0x" + "aa" * 20, "0x" + "bb" * 20
REFERENCE = bytes(range(16))
NOBODY = "0x" + "00" * 20
PRICE, DEPOSITED = 42_500_000, 42_530_000


@pytest.fixture(scope="module")
def origin() -> Iterator[MainNet]:
    """Ethereum, where the payer has a little more than the deposit."""
    with running_main_net(1) as net:
        net.chain.rpc("anvil_impersonateAccount", PAYER)
        net.fund(PAYER, "ETH", 10**18)
        net.fund(PAYER, "USDC", DEPOSITED + 1)
        yield net


@pytest.fixture(scope="module")
def destination() -> Iterator[MainNet]:
    """Optimism, where the merchant receives."""
    with running_main_net(10) as net:
        yield net


class WithoutBatches(JsonClient):
    """A node that does not know ``eth_simulateV1``."""

    def post(self, url: str, body: object) -> Any:
        if isinstance(body, dict) and body["method"] == "eth_simulateV1":
            error = {"code": -32601, "message": "the method eth_simulateV1 does not exist/is not available"}
            return {"jsonrpc": "2.0", "id": body["id"], "error": error}
        return super().post(url, body)


def batch_of(net: MainNet, allowance: int) -> tuple[Transaction, ...]:
    """Build the deposit of an order."""
    now = int(net.chain.now())
    usdc = net.token("USDC")
    hop = Hop(
        market_id="lane", protocol="across", token_in=usdc, token_out=token_registry.token("USDC", 10),
        amount_in=DEPOSITED, amount_out=PRICE,
    )  # fmt: skip
    terms = Terms(
        payer=PAYER, recipient=MERCHANT, amount_in_max=DEPOSITED, amount_out=PRICE, deadline=now + 1200,
        firm={
            "spokePoolAddress": net.spoke_pool.address, "exclusiveRelayer": NOBODY, "timestamp": now,
            "fillDeadline": now + 20_000, "exclusivityDeadline": 0,
        },
    )  # fmt: skip
    call = PaymentBuilders.load().build((PlannedHop(hop=hop),), usdc, terms)
    return list_transactions(append_reference(call, REFERENCE), allowance)


def tried(net: MainNet, batch: tuple[Transaction, ...], *, client: JsonClient) -> Simulation:
    rpc = RpcPool(1, [net.chain.url], client=client, clock=net.chain.now, sleep=lambda _: None)
    return PaymentChain(rpc).simulate(batch, PAYER, MERCHANT)


def send(net: MainNet, transaction: Transaction) -> dict[str, Any]:
    body = {"from": PAYER, "to": transaction.to, "data": "0x" + transaction.data.hex(), "gas": hex(transaction.gas)}
    sent = net.chain.rpc("eth_sendTransaction", body)
    net.chain.mine()
    receipt: dict[str, Any] = net.chain.rpc("eth_getTransactionReceipt", sent)
    assert receipt["status"] == "0x1"
    return receipt


def test_the_merchant_has_just_the_price_once_a_relayer_fills(origin: MainNet, destination: MainNet) -> None:
    before = origin.chain.rpc("evm_snapshot")
    found = tried(origin, batch_of(origin, 0), client=JsonClient(limits=RPC_LIMITS))
    assert [each.purpose for each in found.transactions] == [Purpose.APPROVE, Purpose.PAY]
    held = origin.balance(PAYER, "USDC")
    _, deposit = (send(origin, each) for each in found.transactions)
    assert held - origin.balance(PAYER, "USDC") == DEPOSITED
    assert origin.tokens["USDC"]("allowance", PAYER, origin.spoke_pool.address) == 0
    data = bytes.fromhex(origin.chain.rpc("eth_getTransactionByHash", deposit["transactionHash"])["input"][2:])
    assert data.endswith(REFERENCE)
    fill(origin, destination, deposit["transactionHash"])
    assert destination.balance(MERCHANT, "USDC") == PRICE
    origin.chain.rpc("evm_revert", before)


def test_where_nodes_try_no_batches_the_payment_is_tried_after_the_permission(origin: MainNet) -> None:
    before = origin.chain.rpc("evm_snapshot")
    client = WithoutBatches(limits=RPC_LIMITS)
    found = tried(origin, batch_of(origin, 0), client=client)
    assert [each.gas is None for each in found.transactions] == [False, True]
    assert found.received is None
    send(origin, found.transactions[0])
    (payment,) = tried(origin, batch_of(origin, DEPOSITED), client=client).transactions
    send(origin, payment)
    assert origin.balance(PAYER, "USDC") == 1
    origin.chain.rpc("evm_revert", before)


@pytest.mark.parametrize("kind", [JsonClient, WithoutBatches])
def test_what_would_fail_is_refused_by_either_kind_of_node(origin: MainNet, kind: type[JsonClient]) -> None:
    (payment,) = batch_of(origin, DEPOSITED)
    with pytest.raises(WouldFail):
        tried(origin, (payment,), client=kind(limits=RPC_LIMITS))

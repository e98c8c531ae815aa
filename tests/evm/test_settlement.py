"""Orders paid on chains with the main nets' contracts: what becomes of each kind of payment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from eth_abi import encode

from adapters.rpc.multicall import MULTICALL3
from api.domain.clock import format_time
from api.domain.env import EnvMode
from api.services.ledger import reading
from api.services.ledger.chain_ledger import connect_ledger
from api.services.settlement.watching.reported_payments import report_payment
from api.services.settlement.watching.watcher import watch
from tests.support.databases import Databases
from tests.support.main_net import MainNet, _mock_token
from tests.support.npm import ACROSS, artifact
from tests.support.settlement import PRICE, ChainShop, chain_shop, transfer_data
from tests.support.shop import LINK

BASE, ETHEREUM = 8453, 1


@pytest.mark.rule("orders.5", "events.12", "events.13")
def test_a_transfer_with_the_reference_pays_the_order(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    tx_hash = shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"
    assert shop.balance(BASE) == PRICE
    assert shop.shop.order(order_id)["transaction_hash"] == tx_hash
    assert [event["data"]["transaction_hash"] for event in shop.shop.events(order_id)] == ["", tx_hash, tx_hash]


@pytest.mark.rule("confirmations.4")
def test_the_coin_itself_pays_an_order(shop: ChainShop) -> None:
    order_id, reference = shop.order(order_price={"currency": "ETH", "amount": 25, "decimals": 3})
    shop.customer(BASE).send(shop.address, reference, value=25 * 10**15)
    shop.look()
    assert shop.outcome(order_id) == "processing/"  # of unknown value in dollars: its chain's finality is waited for
    shop.finalise()
    assert shop.outcome(order_id) == "success/"
    assert shop.balance(BASE, "ETH") == 25 * 10**15


def test_a_swap_that_delivers_to_the_merchant_pays_the_order(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    net = shop.nets[BASE]
    net.pair("WETH", 10**21, "USDC", 4_000_000 * PRICE)
    path = [net.tokens[symbol].address for symbol in ("WETH", "USDC")]
    swap = net.v2_router.functions["swapETHForExactTokens"]
    data = swap.selector + encode(swap.inputs, (PRICE, path, shop.address, 2**255))
    customer = shop.customer(BASE)
    customer.send(net.v2_router.address, data + reference, value=10**16)
    shop.look()
    assert shop.outcome(order_id) == "success/"
    assert shop.balance(BASE) == PRICE
    assert shop.shop.payments()[0].sender == customer.address  # not the pool, to which nothing can be refunded


@pytest.mark.parametrize("can_trace", [True, False])
def test_a_swap_into_coin_pays_though_no_event_tells_of_it(
    shop: ChainShop, monkeypatch: pytest.MonkeyPatch, can_trace: bool
) -> None:
    order_id, reference = shop.order(order_price={"currency": "ETH", "amount": 1, "decimals": 4})
    net = shop.nets[BASE]
    net.pair("WETH", 10**20, "USDC", 400_000 * PRICE)
    customer = shop.customer(BASE)
    approve, swap = bytes.fromhex("095ea7b3"), net.v2_router.functions["swapTokensForExactETH"]
    customer.send(shop.token(BASE), approve + encode(["address", "uint256"], [net.v2_router.address, PRICE]))
    path = [net.tokens[symbol].address for symbol in ("USDC", "WETH")]
    data = swap.selector + encode(swap.inputs, (10**14, PRICE, path, shop.address, 2**255))
    customer.send(net.v2_router.address, data + reference)
    if not can_trace:
        monkeypatch.setattr(reading, "trace_question", lambda tx_hash: ("debug_no_such_method", []))
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "success/"
    assert shop.balance(BASE, "ETH") == 10**14
    assert [row.sender for row in shop.shop.payments()] == [customer.address]


AMOUNTS = {
    "short": (PRICE - 1, "processing/underpaid", 1),
    "in full": (PRICE, "success/", 0),
    "too much": (PRICE + 1, "success/overpaid", 0),
}


@pytest.mark.rule("orders.14", "states.5", "states.8", "states.24")
@pytest.mark.parametrize("name", AMOUNTS)
def test_what_arrived_decides(shop: ChainShop, name: str) -> None:
    amount, outcome, due = AMOUNTS[name]
    order_id, reference = shop.order()
    shop.customer(BASE).pay(shop.token(BASE), shop.address, amount, reference)
    shop.look()
    assert shop.outcome(order_id) == outcome
    assert shop.shop.order(order_id)["amount_due"] == str(due)


def test_an_order_paid_by_two_transactions(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    customer = shop.customer(BASE)
    customer.pay(shop.token(BASE), shop.address, PRICE // 4, reference)
    shop.look()
    assert shop.outcome(order_id) == "processing/underpaid"
    customer.pay(shop.token(BASE), shop.address, PRICE - PRICE // 4, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"
    assert len(shop.shop.order(order_id)["transactions"]) == 2


@pytest.mark.rule("evidence.14")
def test_one_transaction_counts_for_one_order_whoever_reports_it(shop: ChainShop) -> None:
    (first, reference), (second, _) = shop.order(), shop.order()
    customer = shop.customer(BASE)
    tx_hash = customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    report_payment(shop.shop.resources, second, chain_id=BASE, tx_hash=tx_hash)
    shop.look()
    assert (shop.outcome(first), shop.outcome(second)) == ("success/", "created/")
    assert shop.unmatched() == []


def test_a_batch_pays_two_orders_at_once(shop: ChainShop) -> None:
    """A wallet that sends calls in one transaction: each call has its own reference."""
    (first, one), (second, two) = shop.order(), shop.order(order_price={**LINK["order_price"], "amount": 3 * 10**18})
    customer = shop.customer(BASE)
    token, aggregate = shop.token(BASE), shop.nets[BASE].chain.at(MULTICALL3, _multicall_abi()).functions["aggregate3"]
    shop.nets[BASE].fund(MULTICALL3, "USDC", 4 * PRICE)
    calls = [
        (token, False, transfer_data(shop.address, amount) + reference)
        for amount, reference in ((PRICE, one), (3 * PRICE, two))
    ]
    customer.send(MULTICALL3, aggregate.selector + encode(aggregate.inputs, (calls,)))
    shop.look()
    assert (shop.outcome(first), shop.outcome(second)) == ("success/", "success/")


@pytest.mark.rule("evidence.9")
def test_a_report_of_somebody_elses_payment_is_no_payment(shop: ChainShop) -> None:
    order_id = shop.order()[0]
    shop.order()
    tx_hash = shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE)
    report_payment(shop.shop.resources, order_id, chain_id=BASE, tx_hash=tx_hash)
    shop.look()
    assert shop.outcome(order_id) == "created/"
    assert shop.unmatched() == [("no_order", "")]


def test_what_arrived_before_the_first_look_and_before_any_order_is_seen(shop: ChainShop) -> None:
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE)
    for _ in range(3):
        shop.nets[BASE].chain.mine()
    shop.look()
    assert shop.unmatched() == [("no_order", "")]


def test_a_clock_ahead_of_a_chain_does_not_hide_what_arrived_before_the_first_look(
    nets: Mapping[int, MainNet], tmp_path: Path, databases: Databases
) -> None:
    ethereum = nets[ETHEREUM].chain
    ethereum.rpc("evm_setNextBlockTimestamp", int(max(net.chain.now() for net in nets.values())) + 300)
    ethereum.mine()
    with chain_shop(nets, tmp_path, "a clock ahead", databases.lend("sqlite")) as shop:
        shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE)
        assert nets[BASE].chain.now() + 200 < shop.clock.now().timestamp(), "its block is older than the merchant"
        for _ in range(3):
            nets[BASE].chain.mine()
        shop.look()
        assert shop.unmatched() == [("no_order", "")]


@pytest.mark.rule("states.11")
def test_a_late_payment_is_taken_and_called_late(shop: ChainShop) -> None:
    order_id, reference = shop.order(expires_at=format_time(shop.clock.now() + timedelta(minutes=31)))
    shop.look()
    shop.pass_time(32 * 60)
    shop.look()
    assert shop.outcome(order_id) == "expired/expired"
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/paid_late"


@pytest.mark.rule("closed.2", "closed.5")
def test_a_payment_for_a_cancelled_order_is_credited_told_and_refunded(shop: ChainShop) -> None:
    """It was on its way when the vendor cancelled: the merchant has the money, and knows it."""
    order_id, reference = shop.order()
    customer = shop.customer(BASE, "too late")
    sent = customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    assert shop.shop.post(f"/api/v1/payment/{order_id}/cancel").status_code == 200
    shop.look()
    shop.finalise()
    order = shop.shop.order(order_id)
    assert shop.outcome(order_id) == "cancelled/paid_after_close"
    assert (order["amount_received"], order["transaction_hash"]) == (str(PRICE), sent)
    assert shop.shop.events(order_id)[-1]["data"]["transactions"][0]["hash"] == sent
    (asked,) = shop.shop.post(f"/api/v1/payment/{order_id}/refund").get_json()["refunds"]
    assert (asked["to"].lower(), asked["amount"]) == (customer.address, str(PRICE))
    assert shop.unmatched() == []


@pytest.mark.rule("states.20", "refunds.5", "refunds.14")
@pytest.mark.parametrize(("chain_id", "symbol", "amount"), [(BASE, "DAI", 10**18), (ETHEREUM, "USDC", PRICE)])
def test_another_token_or_chain_is_the_wrong_token_and_can_be_sent_back(
    shop: ChainShop, chain_id: int, symbol: str, amount: int
) -> None:
    order_id, reference = shop.order()
    customer = shop.customer(chain_id, **{symbol: amount})
    customer.pay(shop.token(chain_id, symbol), shop.address, amount, reference)
    shop.look(1)
    assert shop.outcome(order_id) == "processing/wrong_token"
    shop.finalise()
    assert shop.outcome(order_id) == "processing/wrong_token"
    (asked,) = shop.shop.post(f"/api/v1/payment/{order_id}/refund").get_json()["refunds"]
    assert (asked["chain_id"], asked["token"].lower()) == (chain_id, shop.token(chain_id, symbol))
    sent = asked["transaction"]
    shop.wallet(chain_id).send(sent["to"], bytes.fromhex(sent["data"][2:]))
    shop.finalise()
    assert shop.outcome(order_id) == "refunded/"


def test_a_listed_wrong_token_worth_nothing_changes_nothing(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    shop.customer(BASE, DAI=1).pay(shop.token(BASE, "DAI"), shop.address, 1, reference)
    shop.customer(BASE).send(shop.address, reference, value=1)
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "created/"
    assert len(shop.shop.order(order_id)["transfers"]) == 2


@pytest.mark.rule("states.21")
def test_coin_instead_of_the_token_is_the_wrong_token(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    shop.customer(BASE).send(shop.address, reference, value=10**15)
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "processing/wrong_token"
    shop.pass_time(25 * 3600)
    shop.look()
    assert shop.outcome(order_id) == "failed/wrong_token"


@pytest.mark.rule("states.18")
def test_tokens_that_mean_nothing_are_not_even_listed(shop: ChainShop) -> None:
    shop.order()
    spam = shop.nets[BASE].chain.deploy(_mock_token(), "Visit me", "USDC", 6)
    spam("mint", shop.address, 10**12)
    shop.nets[BASE].tokens["USDC"]("transfer", shop.address, 0)
    shop.look()
    assert shop.shop.payments() == []


def test_a_transaction_that_reverts_pays_nothing(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    customer = shop.customer(BASE)
    tx_hash = customer.pay(shop.token(BASE), shop.address, 2**200, reference)
    shop.look()
    assert shop.nets[BASE].chain.rpc("eth_getTransactionReceipt", tx_hash)["status"] == "0x0"
    assert (shop.outcome(order_id), shop.shop.payments()) == ("created/", [])


def test_a_replaced_transaction_is_found_under_its_new_hash(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    customer = shop.customer(BASE)
    nonce = shop.nets[BASE].chain.rpc("eth_getTransactionCount", customer.address, "latest")
    slow = customer.pay(shop.token(BASE), shop.address, PRICE, reference, mine=False, nonce=nonce, gasPrice="0x1")
    report_payment(shop.shop.resources, order_id, chain_id=BASE, tx_hash=slow)
    fast = customer.pay(shop.token(BASE), shop.address, PRICE, reference, nonce=nonce, gasPrice="0x10")
    shop.look()
    assert shop.nets[BASE].chain.rpc("eth_getTransactionReceipt", slow) is None
    assert shop.outcome(order_id) == "success/"
    assert shop.shop.order(order_id)["transaction_hash"] == fast


@pytest.mark.rule("states.4", "states.7")
def test_a_reorganisation_before_confirmation_takes_the_payment_back(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    customer = shop.customer(BASE)
    shop.pass_time(2, 6)  # what the customer has is older than what is taken back
    customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look(1)
    assert shop.outcome(order_id) == "processing/"
    shop.nets[BASE].chain.rpc("anvil_reorg", 4, [])
    shop.look()
    assert shop.outcome(order_id) == "created/reorged"
    customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"
    assert shop.balance(BASE) == PRICE


@pytest.mark.rule("confirmations.6")
def test_a_reorganisation_after_success_is_told_until_the_payment_is_back(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    customer = shop.customer(BASE)
    shop.pass_time(2, 6)  # what the customer has is older than what is taken back
    customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"
    shop.nets[BASE].chain.rpc("anvil_reorg", 6, [])
    shop.look()
    assert shop.outcome(order_id) == "success/reorged"
    assert shop.unmatched() == [("lost", order_id)]
    assert shop.shop.events(order_id)[-1]["type"] == "payment_failed"
    customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.outcome(order_id) == "success/"
    assert shop.shop.events(order_id)[-1]["type"] == "payment_success"


def test_after_finality_nothing_is_asked_about_a_payment(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    shop.finalise()
    assert shop.outcome(order_id) == "success/"
    assert [row.state for row in shop.shop.payments()] == ["final"]


@pytest.mark.rule("refunds.9", "refunds.11")
def test_a_refund_is_signed_by_the_merchant_and_found_on_the_chain(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    customer = shop.customer(BASE, "refunded")
    before = shop.nets[BASE].balance(customer.address, "USDC")
    customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    assert shop.shop.post(f"/api/v1/payment/{order_id}/refund").status_code == 409  # it could be lost still
    shop.finalise()
    answers = [shop.shop.post(f"/api/v1/payment/{order_id}/refund") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    (refund,) = answers[0].get_json()["refunds"]
    assert answers[1].get_json()["refunds"] == [refund]
    asked = refund["transaction"]
    addresses = asked["from"].lower(), refund["to"].lower()
    assert (asked["chain_id"], *addresses) == (BASE, shop.address, customer.address)
    shop.look()
    assert shop.outcome(order_id) == "success/"
    tx_hash = shop.wallet(BASE).send(asked["to"], bytes.fromhex(asked["data"][2:]), value=int(asked["value"], 16))
    shop.look()
    assert shop.outcome(order_id) == "refunded/"
    shop.finalise()
    order = shop.shop.order(order_id)
    assert shop.outcome(order_id) == "refunded/"
    (sent_back,) = order["refunds"]
    assert refund["timestamp"] is None
    block = shop.nets[BASE].chain.rpc("eth_getTransactionByHash", tx_hash)["blockNumber"]
    mined_at = int(shop.nets[BASE].chain.rpc("eth_getBlockByNumber", block, False)["timestamp"], 16)
    assert datetime.fromisoformat(sent_back["timestamp"]).timestamp() == mined_at
    done = {"hash": tx_hash, "timestamp": sent_back["timestamp"], "status": "final", "transaction": None}
    assert sent_back == {**refund, **done, "amount_sent": refund["amount"]}
    assert (shop.balance(BASE), shop.nets[BASE].balance(customer.address, "USDC")) == (0, before)
    assert shop.unmatched() == []


def test_an_unpaid_order_is_not_refunded(shop: ChainShop) -> None:
    assert shop.shop.post(f"/api/v1/payment/{shop.order()[0]}/refund").status_code == 409


def test_a_chain_that_does_not_answer_is_waited_for(shop: ChainShop, nets: Mapping[int, MainNet]) -> None:
    order_id, reference = shop.order()
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    urls = {BASE: (nets[BASE].chain.url,), ETHEREUM: ("http://127.0.0.1:9",)}
    half = replace(shop.shop.resources, ledgers={EnvMode.TEST: connect_ledger(urls, EnvMode.TEST, shop.clock)})
    shop.pass_time(2)
    watch(half)
    shop.pass_time(2)
    watch(half)
    assert shop.outcome(order_id) == "success/"


def test_an_order_on_a_chain_that_is_not_connected_says_so(shop: ChainShop) -> None:
    link = {**LINK, "order_price": {"currency": "USDT", "amount": 1, "decimals": 0}}
    assert shop.shop.post("/api/v1/payment_link", link).status_code == 400
    live = shop.shop.create_live()
    assert not shop.shop.order(live, env_mode="live")["payable"]


@pytest.mark.rule("simulation.3")
def test_nothing_is_simulated_on_real_chains(shop: ChainShop) -> None:
    assert shop.shop.act(shop.order()[0], "pay").status_code == 409


def _multicall_abi() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = artifact(ACROSS, "dist/evm/artifacts/Multicall3.sol/Multicall3.json")["abi"]
    return found

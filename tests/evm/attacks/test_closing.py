"""Orders that end while money is under way: a chain is away, or a block is not back yet."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from api.domain.ledger import ChainUnavailable, Head
from api.services.ledger.chain_ledger import ChainLedger
from api.services.orders.expiry import PATIENCE, expire_orders
from tests.support.attacks import BASE, ETHEREUM
from tests.support.settlement import PRICE, ChainShop, Wallet

pytestmark = pytest.mark.in_turns

LIFE = timedelta(minutes=31)


def send_again(shop: ChainShop, sent: dict[str, Any]) -> str:
    """Mine the very transaction again that a chain has taken back."""
    chain = shop.nets[BASE].chain
    fields = {name: sent[name] for name in ("nonce", "maxFeePerGas", "maxPriorityFeePerGas") if name in sent}
    return Wallet(chain, sent["from"]).send(sent["to"], bytes.fromhex(sent["input"][2:]), **fields)


def tell_of_closing(shop: ChainShop, order_id: str) -> list[dict[str, Any]]:
    """Return what was told of money that came after the end."""
    events = shop.shop.events(order_id)
    return [event for event in events if event["data"]["status_reason"] == "paid_after_close"]


def order_for_half_an_hour(shop: ChainShop, dollars: int = 1) -> tuple[str, bytes, datetime]:
    ends_at = shop.clock.now().replace(microsecond=0) + LIFE
    price = {"currency": "USDC", "amount": dollars, "decimals": 0}
    order_id, reference = shop.order(order_price=price, expires_at=ends_at.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return order_id, reference, ends_at


def pass_until(shop: ChainShop, moment: datetime) -> None:
    shop.pass_time((moment - shop.clock.now()).total_seconds())


def stay_away(shop: ChainShop, until: datetime) -> None:
    """Let no chain answer until a moment, while the rest of the worker goes on."""
    shop.clock.set(until)
    expire_orders(shop.shop.resources)


@pytest.mark.rule("closed.3", "closed.4")
@pytest.mark.parametrize("end", ["cancelled", "success"])
def test_a_payment_that_is_mined_again_after_the_end_is_told_once(shop: ChainShop, end: str) -> None:
    order_id, reference = shop.order()
    customer, other = shop.customer(BASE), shop.customer(BASE, "other")
    shop.pass_time(2, 6)  # what the customers have is older than what is taken back
    tx_hash = customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    sent = shop.nets[BASE].chain.rpc("eth_getTransactionByHash", tx_hash)
    shop.look(1)
    shop.nets[BASE].chain.rpc("anvil_reorg", 4, [])
    shop.look()
    assert shop.outcome(order_id) == "created/reorged"
    if end == "cancelled":
        assert shop.shop.post(f"/api/v1/payment/{order_id}/cancel").status_code == 200
    else:
        other.pay(shop.token(BASE), shop.address, PRICE, reference)
        shop.look()
    assert send_again(shop, sent) == tx_hash
    shop.look(4)
    shop.finalise()
    assert shop.outcome(order_id) == f"{end}/paid_after_close"
    (event,) = tell_of_closing(shop, order_id)
    assert (event["type"], event["data"]["transaction_hash"]) == ("payment_failed", tx_hash)
    transfer = next(row for row in shop.shop.order(order_id)["transfers"] if row["hash"] == tx_hash)
    answer = shop.shop.post(f"/api/v1/payment/{order_id}/refund", {"transfer": transfer["id"]})
    assert answer.status_code == 200, answer.get_json()


def test_what_was_told_after_the_end_is_not_told_again_where_its_chain_loses_it_for_a_while(shop: ChainShop) -> None:
    order_id, reference = shop.order()
    customer = shop.customer(BASE)
    shop.pass_time(2, 6)
    assert shop.shop.post(f"/api/v1/payment/{order_id}/cancel").status_code == 200
    tx_hash = customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    sent = shop.nets[BASE].chain.rpc("eth_getTransactionByHash", tx_hash)
    shop.look()
    assert len(tell_of_closing(shop, order_id)) == 1
    shop.nets[BASE].chain.rpc("anvil_reorg", 6, [])
    shop.look()
    assert [row.state for row in shop.shop.payments()] == ["lost"]
    send_again(shop, sent)
    shop.look(3)
    assert [row.state for row in shop.shop.payments()] == ["confirmed"]
    assert len(tell_of_closing(shop, order_id)) == 1


def test_a_payment_that_only_changes_its_block_stays_what_it_was(shop: ChainShop) -> None:
    """Between two looks it is taken back and mined again; it had paid its order, and has paid it still."""
    order_id, reference = shop.order()
    customer = shop.customer(BASE)
    shop.pass_time(2, 6)
    tx_hash = customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    sent = shop.nets[BASE].chain.rpc("eth_getTransactionByHash", tx_hash)
    shop.look()
    assert shop.outcome(order_id) == "success/"
    shop.nets[BASE].chain.rpc("anvil_reorg", 6, [])
    assert send_again(shop, sent) == tx_hash
    shop.look(3)
    shop.finalise()
    assert shop.outcome(order_id) == "success/"
    assert tell_of_closing(shop, order_id) == []


@pytest.mark.parametrize("away", [timedelta(seconds=61), timedelta(hours=3)])
def test_the_rest_of_a_price_that_came_in_time_counts_although_its_chain_was_away(
    shop: ChainShop, away: timedelta
) -> None:
    order_id, reference, ends_at = order_for_half_an_hour(shop, dollars=2)
    customer = shop.customer(BASE)
    customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    pass_until(shop, ends_at - timedelta(minutes=2))
    shop.look(1)
    customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    stay_away(shop, ends_at + away)
    assert shop.outcome(order_id) == "processing/underpaid"
    shop.look(3)
    assert shop.outcome(order_id) == "success/"
    assert shop.shop.events(order_id)[-1]["type"] == "payment_success"


def test_another_chain_that_is_away_is_waited_for_too(shop: ChainShop, monkeypatch: pytest.MonkeyPatch) -> None:
    """A deposit into a bridge may be on it, made in time."""
    order_id, reference, ends_at = order_for_half_an_hour(shop, dollars=2)
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    read_head = ChainLedger.read_head

    def read_base(ledger: ChainLedger, chain_id: int) -> Head:
        if chain_id == ETHEREUM:
            raise ChainUnavailable("away")
        return read_head(ledger, chain_id)

    with monkeypatch.context() as patch:
        patch.setattr(ChainLedger, "read_head", read_base)
        pass_until(shop, ends_at + timedelta(hours=1))
        shop.look()
        assert shop.outcome(order_id) == "processing/underpaid"
    shop.look()
    assert shop.outcome(order_id) == "failed/underpaid"


def test_an_order_waits_for_a_chain_that_stays_away_no_longer_than_it_would_take_money(shop: ChainShop) -> None:
    order_id, reference, ends_at = order_for_half_an_hour(shop, dollars=2)
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    stay_away(shop, ends_at + PATIENCE - timedelta(seconds=1))
    assert shop.outcome(order_id) == "processing/underpaid"
    stay_away(shop, ends_at + PATIENCE)
    assert shop.outcome(order_id) == "failed/underpaid"


@pytest.mark.rule("states.9")
def test_a_short_payment_fails_as_soon_as_every_chain_was_read_past_the_end(shop: ChainShop) -> None:
    order_id, reference, ends_at = order_for_half_an_hour(shop, dollars=2)
    shop.customer(BASE).pay(shop.token(BASE), shop.address, PRICE, reference)
    shop.look()
    pass_until(shop, ends_at)
    shop.look(1)
    assert shop.outcome(order_id) == "failed/underpaid"

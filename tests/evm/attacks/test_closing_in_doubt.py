"""Orders whose time ends while endpoints contradict each other, or one of them hides a payment that another one has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from adapters.rpc import heads
from tests.evm.attacks.test_hidden_coin import hide_coin
from tests.evm.attacks.test_told_once import changed, tell_amount
from tests.support.attacks import BASE
from tests.support.databases import DIALECTS, Databases
from tests.support.lying_rpc import LyingRpc, lying_rpc
from tests.support.main_net import MainNet
from tests.support.settlement import PRICE, ChainShop, Wallet, chain_shop

pytestmark = pytest.mark.in_turns

COIN = 10**15
SETTLED = 8
"""Looks until doubts have been settled."""
Opened = tuple[ChainShop, LyingRpc, LyingRpc]


@pytest.fixture(params=DIALECTS)
def opened(
    nets: Mapping[int, MainNet],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    databases: Databases,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Opened]:
    """Open a shop with two endpoints of Base, of which the first is the one in use."""
    monkeypatch.setattr(heads, "AGREE_S", 0)  # they agree on what is final every few seconds
    with ExitStack() as stack:
        liar, other = (stack.enter_context(lying_rpc(nets[BASE].chain.url)) for _ in range(2))
        urls, lent = {BASE: (liar.url, other.url)}, databases.lend(request.param)
        shop = stack.enter_context(chain_shop(nets, tmp_path, request.node.name, lent, endpoints=urls))
        shop.look()
        yield shop, liar, other


def order_for_half_an_hour(shop: ChainShop, price: Mapping[str, Any]) -> tuple[str, bytes, Wallet]:
    """Make an order; return its id, its reference, and who is to pay it."""
    ends_at = shop.clock.now().replace(microsecond=0) + timedelta(minutes=31)
    order_id, reference = shop.order(order_price=price, expires_at=ends_at.strftime("%Y-%m-%dT%H:%M:%SZ"))
    return order_id, reference, shop.customer(BASE)


def come_near_the_end(shop: ChainShop) -> None:
    shop.look()
    shop.pass_time(30 * 60)
    shop.look(1)


def pass_the_end(shop: ChainShop) -> None:
    shop.look(1)
    shop.pass_time(600)
    shop.look()


def find_out(shop: ChainShop) -> None:
    """Let the endpoints be asked again until nothing is in doubt."""
    for _ in range(SETTLED):
        shop.pass_time(300)
        shop.look(1)
    shop.finalise()


def test_an_order_does_not_fail_while_it_is_not_known_what_was_paid(opened: Opened) -> None:
    """Found: the rest of a price was hidden until the order had failed, and could only be sent back then."""
    shop, liar, other = opened
    price = {"amount": 2 * COIN, "decimals": 18, "currency": "ETH"}
    order_id, reference, customer = order_for_half_an_hour(shop, price)
    customer.send(shop.address, reference, value=COIN)
    come_near_the_end(shop)
    liar.lies.append(hide_coin(shop.address))
    other.refuses = True
    customer.send(shop.address, reference, value=COIN)
    pass_the_end(shop)
    assert shop.outcome(order_id) == "processing/underpaid"
    liar.lies.clear()
    other.refuses = False
    find_out(shop)
    assert shop.outcome(order_id) == "success/"
    assert "failed" not in " ".join(shop.shop.history(order_id))


def test_an_order_does_not_fail_while_its_payment_is_contradicted(opened: Opened) -> None:
    """Found: one endpoint that lied for a minute had the order fail for want of what it had got."""
    shop, liar, _ = opened
    order_id, reference, customer = order_for_half_an_hour(shop, {"amount": 2, "decimals": 0, "currency": "USDC"})
    customer.pay(shop.token(BASE), shop.address, PRICE, reference)
    come_near_the_end(shop)
    tx_hash = customer.pay(shop.token(BASE), shop.address, PRICE, bytes(16) + reference)
    liar.lies.append(changed(tx_hash, tell_amount(PRICE + 1)))
    shop.look(2)
    assert "disputed" in [row.state for row in shop.shop.payments()]
    pass_the_end(shop)
    assert shop.outcome(order_id) == "processing/underpaid"
    liar.lies.clear()
    find_out(shop)
    assert shop.outcome(order_id) == "success/"


def test_what_is_never_found_out_is_waited_for_a_day(opened: Opened) -> None:
    shop, liar, other = opened
    price = {"amount": 2 * COIN, "decimals": 18, "currency": "ETH"}
    order_id, reference, customer = order_for_half_an_hour(shop, price)
    customer.send(shop.address, reference, value=COIN)
    come_near_the_end(shop)
    liar.lies.append(hide_coin(shop.address))
    other.refuses = True
    customer.send(shop.address, reference, value=COIN)
    pass_the_end(shop)
    shop.pass_time(timedelta(hours=23).total_seconds())
    shop.look()
    assert shop.outcome(order_id) == "processing/underpaid"
    shop.pass_time(timedelta(hours=1).total_seconds())
    shop.look()
    assert shop.outcome(order_id) == "failed/underpaid"

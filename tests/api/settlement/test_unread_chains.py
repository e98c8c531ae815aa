"""A chain that nobody reads: nobody is sent there to pay, the API and the page say so, and it comes back by itself."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from api.context import attach_resources
from api.domain.env import EnvMode
from api.services.orders.chain_reads import UNSEEN_AFTER
from api.storage.tables import WatchCursor
from tests.support.shop import Shop, connected

BASE = 8453
TITLE = "This order can't be paid at the moment"


@pytest.fixture
def order_id(shop: Shop) -> str:
    """A live order, whose chain is connected."""
    order_id = shop.create_live()
    attach_resources(shop.client.application, connected(shop.resources))
    return order_id


def read_chain(shop: Shop, at: datetime, env_mode: EnvMode = EnvMode.LIVE, chain_id: int = BASE) -> None:
    """Let a worker have read a chain at a moment."""
    with shop.resources.database.write() as session:
        session.merge(
            WatchCursor(
                env_mode=env_mode,
                chain_id=chain_id,
                block_number=1,
                block_hash="0x1",
                final_number=1,
                head_number=1,
                mined_at=at,
                updated_at=at,
            )
        )


def payable(shop: Shop, order_id: str) -> tuple[bool, str]:
    order = shop.order(order_id, env_mode="live")
    listed = shop.get("/api/v1/payment", env_mode="live").get_json()["data"]
    assert [row["not_payable_reason"] for row in listed] == [order["not_payable_reason"]]
    return order["payable"], order["not_payable_reason"]


def status(shop: Shop, order_id: str) -> tuple[str, str, bool]:
    state = shop.client.get(f"/payment/{order_id}/status").get_json()
    return state["panel"], state["title"], state["is_paused"]


def test_an_order_whose_chain_is_not_read_takes_no_payment_until_it_is(shop: Shop, order_id: str) -> None:
    read_chain(shop, shop.clock.now())
    assert payable(shop, order_id) == (True, "")
    shop.clock.advance(seconds=UNSEEN_AFTER.total_seconds())
    assert payable(shop, order_id) == (True, "")
    shop.clock.advance(seconds=1)
    assert payable(shop, order_id) == (False, "chain_not_read")
    assert status(shop, order_id) == ("outcome", TITLE, True)
    page = shop.client.get(f"/payment/{order_id}").get_data(as_text=True)
    assert TITLE in page.replace("&#39;", "'")
    assert "on Base just now" in page
    assert '<meta http-equiv="refresh"' in page  # it comes back without scripts too
    assert shop.client.get(f"/payment/{order_id}/tokens").get_json() == {"chains": []}
    token = shop.order(order_id, env_mode="live")["settlement"]["token_address"]
    refused = shop.client.post(f"/payment/{order_id}/quote", json={"chainId": BASE, "token": token})
    assert (refused.status_code, refused.get_json()["reason"]) == (409, "order_not_payable")
    read_chain(shop, shop.clock.now())
    assert payable(shop, order_id) == (True, "")
    assert status(shop, order_id)[0::2] == ("pay", False)


def test_a_chain_that_was_never_read_counts_since_the_order_waits_for_it(shop: Shop, order_id: str) -> None:
    assert payable(shop, order_id) == (True, "")
    shop.clock.advance(seconds=UNSEEN_AFTER.total_seconds() + 1)
    assert payable(shop, order_id) == (False, "chain_not_read")


def test_another_environments_reading_does_not_count(shop: Shop, order_id: str) -> None:
    shop.clock.advance(seconds=UNSEEN_AFTER.total_seconds() + 1)
    read_chain(shop, shop.clock.now(), EnvMode.TEST)
    read_chain(shop, shop.clock.now(), chain_id=1)
    assert payable(shop, order_id) == (False, "chain_not_read")


def test_a_link_made_meanwhile_waits_for_the_chain(shop: Shop, order_id: str) -> None:
    read_chain(shop, shop.clock.now() - timedelta(hours=1))
    assert payable(shop, order_id) == (False, "chain_not_read")
    assert shop.post("/api/v1/payment_link", link(), env_mode="live").status_code == 200


def test_who_expired_meanwhile_is_asked_whether_he_has_paid(shop: Shop, order_id: str) -> None:
    read_chain(shop, shop.clock.now())
    shop.clock.advance(seconds=25 * 3600)
    state = shop.client.get(f"/payment/{order_id}/status").get_json()
    assert (state["payment_order_status"], bool(state["if_paid_text"]), state["is_paused"]) == ("expired", True, False)


def test_simulated_orders_wait_for_no_chain(shop: Shop) -> None:
    order_id = shop.create()
    shop.clock.advance(seconds=3600)
    assert shop.order(order_id)["payable"]
    assert shop.client.get(f"/payment/{order_id}/status").get_json()["panel"] == "pay"


def link() -> dict[str, object]:
    urls = {f"{name}_callback_url": "https://shop.example/" for name in ("success", "cancel", "failure")}
    price = {"currency": "USDC", "amount": 1, "decimals": 0}
    return {**urls, "line_items": [{"title": "Tea", "quantity": 1}], "order_price": price, "env_mode": "live"}

"""An order's metadata can be changed after it was made, whatever became of the order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from api.storage.tables import OrderMetadata
from tests.api.conftest import Merchant
from tests.support.refunds import paid
from tests.support.shop import Shop


def change(shop: Shop, order_id: str, body: object) -> Any:
    return shop.client.patch(f"/api/v1/payment/{order_id}", json=body, headers=shop.merchant.headers("test"))


def find(shop: Shop, key: str, value: str) -> list[str]:
    """Return which orders are found by an entry."""
    found = shop.get(f"/api/v1/payment?metadata[{key}]={value}").get_json()["data"]
    return [each["payment_order_id"] for each in found]


def test_metadata_is_replaced_whole_and_the_order_found_by_it(shop: Shop) -> None:
    order_id = shop.create(metadata={"cart": "7", "size": 1})
    shop.clock.advance(seconds=1)
    other = shop.create(metadata={"cart": "7"})
    before, told = shop.order(order_id), shop.events(order_id)
    shop.clock.advance(seconds=60)
    new = {"cart": "7", "invoice": "2026-0042", "nested": {"a": [1]}, "none": None}
    for _ in range(2):  # the same again changes nothing
        answer = change(shop, order_id, {"metadata": new})
        assert answer.status_code == 200, answer.get_json()
        assert answer.get_json() == {**before, "metadata": new} == shop.order(order_id)
        assert (find(shop, "invoice", "2026-0042"), find(shop, "none", "null")) == ([order_id], [order_id])
        assert (find(shop, "size", "1"), find(shop, "cart", "7")) == ([], [other, order_id])
    assert shop.events(order_id) == told, "nobody is told"
    change(shop, order_id, {"metadata": {}})
    assert (shop.order(order_id)["metadata"], find(shop, "invoice", "2026-0042")) == ({}, [])
    with shop.resources.database.read() as session:
        assert session.scalars(select(OrderMetadata.order_id)).all() == [other]


def test_metadata_of_a_closed_order_is_changed_too_and_told_from_then_on(shop: Shop) -> None:
    order_id = paid(shop)
    assert change(shop, order_id, {"metadata": {"late": "1"}}).get_json()["payment_order_status"] == "success"
    shop.post(f"/api/v1/payment/{order_id}/refund", {})
    shop.wait(20)
    told = [each["data"]["metadata"] for each in shop.events(order_id)]
    assert told[0] == {"cart": "7"}, "what was told stays as it was"
    assert told[-1] == {"late": "1"}


@pytest.mark.in_turns
@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "metadata"),
        ({"metadata": None}, "metadata"),
        ({"metadata": []}, "metadata"),
        ({"metadata": {str(number): 1 for number in range(51)}}, "metadata"),
        ({"metadata": {"a": "x" * 17_000}}, "metadata"),
        ({"metadata": {}, "env_mode": "test"}, "env_mode"),
    ],
    ids=["missing", "null", "list", "keys", "long", "more"],
)
def test_limits_are_those_of_new_links(shop: Shop, body: object, path: str) -> None:
    order_id = shop.create()
    answer = change(shop, order_id, body)
    assert answer.status_code == 400
    assert [each["path"] for each in answer.get_json()["error"]] == [path]
    assert shop.order(order_id)["metadata"] == {"cart": "7"}


def test_nobody_changes_an_order_of_others(
    shop: Shop, other_merchant: Merchant, assert_error: Callable[..., None]
) -> None:
    order_id = shop.create()
    for headers in (other_merchant.headers("test"), shop.merchant.headers("live")):
        path = f"/api/v1/payment/{order_id}"
        assert_error(shop.client.patch(path, json={"metadata": {}}, headers=headers), 404)
    assert shop.order(order_id)["metadata"] == {"cart": "7"}

"""Events as earlier versions stored them: they are told as they were, and hold to the document."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlalchemy import select

from api.domain.events import EventType
from api.storage.tables import WebhookEvent
from tests.support.refunds import FINAL_S, paid, refund
from tests.support.shop import Shop

LATER = ("id", "amount_sent")
"""What refunds have in events since versions that stored events without."""


def forget(shop: Shop, names: tuple[str, ...]) -> None:
    """Store what was told of a refund as a version did that knew less."""
    with shop.resources.database.write() as session:
        (row,) = session.scalars(select(WebhookEvent).where(WebhookEvent.type == EventType.REFUNDED))
        body: dict[str, Any] = json.loads(row.payload)
        for name in names:
            del body["event"]["data"]["refund"][name]
        row.payload = json.dumps(body)


@pytest.mark.parametrize("names", [(), *((each,) for each in LATER), LATER], ids=" ".join)
def test_an_event_that_was_stored_before_a_property_was_there_holds_to_the_document(
    shop: Shop, names: tuple[str, ...]
) -> None:
    """Found: an answer without `amount_sent`, which the document promised. Every answer here is held to it."""
    refund(shop, paid(shop))
    shop.wait(FINAL_S)
    forget(shop, names)
    answer = shop.get("/api/v1/events?type=payment_refunded")
    assert answer.status_code == 200
    (listed,) = answer.get_json()["data"]
    told = listed["event"]["data"]["refund"]
    assert set(LATER) - set(told) == set(names)
    assert shop.get(f"/api/v1/events/{listed['id']}").get_json()["event"] == listed["event"]

"""Lists: what can't be a cursor is named with whatever else is wrong, wherever there is one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask.testing import FlaskClient

from tests.api.conftest import Merchant
from tests.support.webhooks import SUBSCRIPTIONS, Desk

LISTS = {
    "/api/v1/payment": {"cursor": "Expected the next_cursor of an earlier page"},
    "/api/v1/refund": {"cursor": "Expected the next_cursor of an earlier page"},
    "/api/v1/unmatched_transfer": {"cursor": "Expected the next_cursor of an earlier page"},
    f"{SUBSCRIPTIONS}/{{subscription_id}}/deliveries": {"cursor": "Expected the next_cursor of an earlier page"},
    "/api/v1/events": dict.fromkeys(
        ("since", "cursor"), "Expected the id of an event, or a moment with a time zone such as 2026-03-01T12:00:00Z"
    ),
    "/v1/tokens": {"cursor": "Unknown; start again without it"},
}


def test_every_list_with_a_cursor_is_tried_here(client: FlaskClient) -> None:
    paths = client.get("/openapi.json").get_json()["paths"]
    found = {
        path
        for path, operations in paths.items()
        for parameter in operations.get("get", {}).get("parameters", ())
        if parameter["name"] == "cursor"
    }
    assert found == set(LISTS)


@pytest.mark.in_turns
@pytest.mark.rule("errors.4")
@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("text", ["none", "evt_1", "po_é", "2026-03-01", "0"])
def test_a_cursor_that_is_none_is_named_with_a_limit_that_is_none(
    desk: Desk, merchant: Merchant, assert_error: Callable[..., None], path: str, text: str
) -> None:
    address = path.format(subscription_id=desk.subscribe(merchant)["webhook_id"])
    query = {"limit": "0", **dict.fromkeys(LISTS[path], text)}
    answer = desk.client.get(address, query_string=query, headers=merchant.headers())
    assert_error(answer, 400)
    named = {row["path"]: row["message"] for row in answer.get_json()["error"]}
    assert named.pop("limit").startswith("Must be 1 to ")
    assert named == LISTS[path]

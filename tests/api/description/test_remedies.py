"""What a shop's engineer ran into: each request says what to do instead, or is taken as it was meant."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.shop import LINK, Shop

Check = Callable[..., None]


@pytest.mark.parametrize("around", [(" ", " "), ("", "\t"), ("\t ", " \t")])
def test_blanks_around_a_key_are_no_part_of_it(shop: Shop, around: tuple[str, str]) -> None:
    before, after = around
    key = shop.merchant.headers("test")["X-Api-Key"]
    answer = shop.client.get("/api/v1/payment", headers={"X-Api-Key": f"{before}{key}{after}"})
    assert answer.status_code == 200
    assert shop.client.get("/api/v1/payment", headers={"X-Api-Key": f"{key}x"}).status_code == 401


@pytest.mark.parametrize(("currency", "hint"), [("btc", "WBTC or cbBTC"), ("XBT", "WBTC or cbBTC"), ("eur", "EURC")])
def test_who_prices_in_what_no_chain_has_hears_of_the_token(shop: Shop, currency: str, hint: str) -> None:
    answer = shop.post("/api/v1/payment_link", {**LINK, "order_price": {**LINK["order_price"], "currency": currency}})
    (fault,) = answer.get_json()["error"]
    assert (answer.status_code, fault["path"], hint in fault["message"]) == (400, "order_price.currency", True)


@pytest.mark.parametrize("query", ["metadata[nested][k]=1", "metadata[cart]=7&metadata[a][b][c]=1"])
def test_nested_metadata_is_refused_and_not_found_empty(shop: Shop, assert_error: Check, query: str) -> None:
    message = "What is nested is not found; name an entry itself, as metadata[key]=value"
    assert_error(shop.get(f"/api/v1/payment?{query}"), 400, {"metadata": message})


@pytest.mark.parametrize("more", [{}, {"line_items": []}], ids=["http", "items"])
def test_a_link_of_the_other_environment_is_refused_as_such(
    shop: Shop, assert_error: Check, more: dict[str, object]
) -> None:
    """Its URLs over http are wrong in live mode only, and this key makes no live links at all."""
    answer = shop.post("/api/v1/payment_link", {**LINK, "env_mode": "live", **more})
    assert_error(answer, 403)
    assert [each["path"] for each in answer.get_json()["error"]] == ["env_mode"]
    assert_error(shop.get("/api/v1/payment?env_mode=live&limit=0"), 403)
    assert_error(shop.get("/api/v1/payment?env_mode=test&limit=0"), 400)


def test_who_cancels_an_expired_order_hears_that_nothing_needs_to_be_done(shop: Shop, assert_error: Check) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "expire")
    shop.wait(2)
    answer = shop.post(f"/api/v1/payment/{order_id}/cancel")
    assert_error(answer, 409)
    assert "nothing needs to be done: what comes within 24 hours" in answer.get_json()["message"]
    assert "new payment link" not in answer.get_json()["message"]

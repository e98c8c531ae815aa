"""Which actions of `simulate` the state of an order does not allow, and in which words they are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import delete

from api.checkout_page.status.simulation import list_actions
from api.domain.money import UINT256_MAX
from api.domain.simulation import Action
from api.services.orders.views import load_public_order
from api.storage.tables import SettlementAccount
from tests.api.conftest import Merchant
from tests.support.shop import LINK, Shop


@pytest.mark.rule("simulation.4")
@pytest.mark.parametrize(
    ("before", "refused"),
    [
        (["pay"], {"underpay", "overpay", "pay_late", "wrong_token", "reorg", "bridge_delay", "expire"}),
        (["expire"], {"pay", "underpay", "overpay", "wrong_token", "reorg", "bridge_fail", "expire"}),
        (["wrong_token"], {"pay_late", "bridge_delay", "bridge_fail"}),
        (["bridge_delay"], {"pay", "overpay", "bridge_fail", "pay_late"}),
    ],
)
def test_what_the_present_state_does_not_allow(
    shop: Shop, assert_error: Callable[..., None], before: list[str], refused: set[str]
) -> None:
    order_id = shop.create()
    for action in before:
        shop.simulate(order_id, action)
        shop.wait(2)
    known = shop.history(order_id)
    for action in sorted(refused):
        response = shop.act(order_id, action)
        assert_error(response, 409)
        assert response.get_json()["error"][0]["path"] == "action"
    assert shop.history(order_id) == known


def test_a_payment_on_its_way_holds_up_a_second_one(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    message = "Wait until the worker has seen it, and look at the order again"
    assert_error(shop.act(order_id, "pay"), 409, {"action": message})


def test_an_order_that_expired_long_ago_takes_nothing(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "expire")
    shop.clock.advance(hours=24, seconds=1)
    assert_error(shop.act(order_id, "pay_late"), 409)


def test_one_unit_can_not_be_underpaid(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create(order_price={**LINK["order_price"], "amount": 1})
    assert_error(shop.act(order_id, "underpay"), 409)


def test_the_largest_amount_can_not_be_overpaid(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create(order_price={"currency": "USDC", "amount": UINT256_MAX, "decimals": 6})
    assert_error(shop.act(order_id, "overpay"), 409)
    shop.simulate(order_id, "pay")
    shop.wait(5)
    assert shop.order(order_id)["amount_received"] == str(UINT256_MAX)


def test_what_is_paid_and_not_final_yet_is_not_paid_again(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait(1)
    refused = shop.act(order_id, "pay")
    assert_error(refused, 409)
    assert refused.get_json()["message"] == "The whole amount has been paid already"


def test_no_live_order_is_paid_by_a_simulation(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create_live()
    for body in ({"action": "pay"}, {"action": "pay", "without_reference": True}):
        assert_error(shop.post(f"/api/v1/payment/{order_id}/simulate", body, env_mode="live"), 409)
    assert shop.transfers() == []


def test_an_order_without_account_can_only_expire(shop: Shop, assert_error: Callable[..., None]) -> None:
    with shop.resources.database.write() as session:
        session.execute(delete(SettlementAccount))
    order_id = shop.create()
    assert list_actions(load_public_order(shop.resources, order_id)) == ()
    for action in set(Action) - {Action.EXPIRE}:
        assert_error(shop.act(order_id, action), 409)
    assert shop.simulate(order_id, "expire")["payment_order_status"] == "expired"


@pytest.mark.rule("simulation.1")
@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ({}, {"action": "Required"}),
        ({"action": "burn"}, {"action": f"Must be one of {', '.join(Action)}"}),
        ({"action": 7}, {"action": "Expected string, received number"}),
        ({"action": "pay", "quote_id": 7}, {"quote_id": "Expected string, received number"}),
    ],
)
def test_a_bad_action_is_named(
    shop: Shop, assert_error: Callable[..., None], body: dict[str, object], problems: dict[str, str]
) -> None:
    response = shop.post(f"/api/v1/payment/{shop.create()}/simulate", body)
    assert_error(response, 400, problems)


def test_the_page_is_told_what_can_happen(shop: Shop, merchant: Merchant) -> None:
    order_id = shop.create()
    assert set(list_actions(load_public_order(shop.resources, order_id))) == set(Action)
    shop.simulate(order_id, "pay")
    shop.wait(2)
    assert list_actions(load_public_order(shop.resources, order_id)) == ()
    for action in set(Action) - {Action.PAY}:
        assert shop.act(order_id, action).status_code == 409


def test_what_is_refused_says_what_is_taken(shop: Shop, assert_error: Callable[..., None]) -> None:
    expired, paid = shop.create(), shop.create()
    shop.simulate(expired, "expire")
    remedy = {"action": "Send pay_late, which pays an order after its time"}
    assert_error(shop.act(expired, "pay"), 409, remedy)
    shop.simulate(expired, "pay_late")
    shop.simulate(paid, "pay")
    shop.wait(10)
    assert shop.history(paid)[-1] == "success/"
    wrong = {"quote_id": "Leave it out: the order is success, and no quote pays it"}
    assert_error(shop.act(paid, "pay", quote_id="qt_nope"), 400, wrong)
    assert len(shop.order(paid)["transfers"]) == 1
    shop.simulate(paid, "pay")

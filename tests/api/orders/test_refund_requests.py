"""What a request for a refund may ask for: which transfer, how much of it, and where to."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sqlalchemy import update

from api.domain.env import EnvMode
from api.domain.payments import PaymentState
from api.services.orders import commands
from api.services.orders.payers import RefundSource
from api.services.resources import Resources
from api.storage.tables import Payment
from tests.support.refunds import ELSEWHERE, FINAL_S, paid, refund
from tests.support.shop import Shop


def test_only_final_money_goes_back(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "pay")
    shop.wait(2)
    assert shop.history(order_id)[-1] == "success/"
    too_much = refund(shop, order_id, amount="999999999999")  # what no waiting mends is said first
    assert_error(too_much, 400, {"amount": "Must be 1 to 1000000, what the transfer brought in its smallest units"})
    answer = refund(shop, order_id)
    assert_error(answer, 409)
    assert "not final" in answer.get_json()["message"]
    shop.wait(int(answer.headers["Retry-After"]))
    assert refund(shop, order_id).status_code == 200, "after that wait it can be sent back"


@pytest.mark.parametrize("left", [PaymentState.SEEN, PaymentState.CONFIRMED, PaymentState.LOST])
def test_what_is_final_no_more_as_its_refund_is_made_does_not_go_back(
    shop: Shop, assert_error: Callable[..., None], monkeypatch: pytest.MonkeyPatch, left: PaymentState
) -> None:
    """Found: it was asked before chains were asked about the payer, which takes seconds, and not again after that."""
    order_id = paid(shop)

    def lose_meanwhile(resources: Resources, env_mode: EnvMode, source: RefundSource) -> RefundSource:
        with resources.database.write() as session:
            session.execute(update(Payment).where(Payment.id == source.payment_id).values(state=left))
        return source

    monkeypatch.setattr(commands, "require_reachable", lose_meanwhile)
    assert_error(refund(shop, order_id), 409)
    assert not shop.order(order_id)["refunds"]


@pytest.mark.rule("refunds.2")
def test_of_several_transfers_one_must_be_named(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = paid(shop, "underpay")
    shop.simulate(order_id, "pay")
    shop.wait(FINAL_S)
    answer = refund(shop, order_id)
    assert_error(answer, 400)
    ids = [row["id"] for row in shop.order(order_id)["transfers"]]
    assert all(each in answer.get_json()["error"][0]["message"] for each in ids)
    assert refund(shop, order_id, transfer=ids[1]).status_code == 200
    other = paid(shop)
    assert_error(refund(shop, other, transfer=ids[0]), 400)


LOST = ("0x" + "00" * 20, "0x" + "ee" * 20, "0x" + "00" * 18 + "dead", "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913")
OF_EVERYBODY = ("0x4200000000000000000000000000000000000006", "0xca11bde05977b3631167028862be2a173976ca11")


@pytest.mark.in_turns
@pytest.mark.parametrize("to", [*LOST, *OF_EVERYBODY, "vitalik.eth", ""])
def test_money_is_not_sent_where_it_would_be_lost(shop: Shop, assert_error: Callable[..., None], to: str) -> None:
    assert_error(refund(shop, paid(shop), to=to), 400)


@pytest.mark.rule("refunds.6")
def test_the_vendor_may_say_where_to(shop: Shop) -> None:
    refund(shop, paid(shop), to=ELSEWHERE)
    shop.wait(1)
    assert shop.transfers()[-1].recipient == ELSEWHERE


@pytest.mark.in_turns
@pytest.mark.rule("refunds.4")
@pytest.mark.parametrize("amount", ["0", "-1", "1000001", 1.5, "1e3", None])
def test_an_amount_that_is_none_or_too_much(shop: Shop, assert_error: Callable[..., None], amount: object) -> None:
    answer = refund(shop, paid(shop), amount=amount)
    assert_error(answer, 400)
    assert answer.get_json()["error"][0]["path"] == "amount"


@pytest.mark.parametrize(
    ("amount", "decimals", "units"),
    [(25, 2, "250000"), ("25", 2, "250000"), (250_000, 6, "250000"), (1, 0, "1000000"), (25 * 10**16, 18, "250000")],
)
def test_an_amount_may_say_its_decimals_as_a_price_does(shop: Shop, amount: object, decimals: int, units: str) -> None:
    order_id = paid(shop)
    answer = refund(shop, order_id, amount=amount, decimals=decimals)
    assert [row["amount"] for row in answer.get_json()["refunds"]] == [units]
    again = refund(shop, order_id, amount=units).get_json()["refunds"]
    assert [row["amount"] for row in again] == [units], "it is the same request in other words"


def test_the_decimals_are_those_of_the_amount_and_not_of_the_price(shop: Shop) -> None:
    order_id = paid(shop, "wrong_token")
    (transfer,) = shop.order(order_id)["transfers"]
    answer = refund(shop, order_id, amount=5, decimals=1).get_json()
    assert int(answer["refunds"][0]["amount"]) * 2 == int(transfer["amount"]), "half of the one whole token that came"


@pytest.mark.in_turns
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (
            {"amount": 1, "decimals": 7},
            {"amount": "Is finer than the token can be sent: it has 6 decimals on its chain"},
        ),
        (
            {"amount": 11, "decimals": 1},
            {"amount": "Must be 1 to 10 with decimals 1, what the transfer brought"},
        ),
        ({"amount": 2, "decimals": 0}, {"amount": "Must be 1 to 1 with decimals 0, what the transfer brought"}),
        ({"decimals": 2}, {"amount": "Required beside `decimals`"}),
        ({"amount": 1, "decimals": 37}, {"decimals": "Must be 0 to 36"}),
        (
            {"amount": "0.50"},
            {
                "amount": "Expected at most 78 digits 0-9 and nothing else; "
                'a refund of 0.50 is written as "amount": 5, "decimals": 1'
            },
        ),
        (
            {"amount": 10.5, "decimals": 2},
            {
                "amount": "Expected integer or digit string, received number; "
                'a refund of 10.5 is written as "amount": 1050, "decimals": 2'
            },
        ),
    ],
)
def test_an_amount_that_can_not_be_sent_says_how_to_write_it(
    shop: Shop, assert_error: Callable[..., None], body: dict[str, object], problem: dict[str, str]
) -> None:
    assert_error(refund(shop, paid(shop), **body), 400, problem)


@pytest.mark.rule("states.17")
@pytest.mark.parametrize("action", [None, "expire"])
def test_where_nothing_came_nothing_goes_back(
    shop: Shop, assert_error: Callable[..., None], action: str | None
) -> None:
    order_id = shop.create()
    if action:
        shop.simulate(order_id, action)
        shop.wait(2)
    answer = refund(shop, order_id)
    assert_error(answer, 409)
    assert "transfers show what does" in answer.get_json()["message"]


def test_a_live_order_that_was_not_paid_is_not_refunded(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = shop.create_live()
    assert_error(shop.post(f"/api/v1/payment/{order_id}/refund", env_mode="live"), 409)


def test_who_asks_for_all_of_it_again_hears_whether_it_is_under_way(
    shop: Shop, assert_error: Callable[..., None]
) -> None:
    order_id = paid(shop)
    refund(shop, order_id, to=ELSEWHERE)
    said = [refund(shop, order_id)]
    shop.wait(2 * FINAL_S)
    assert shop.order(order_id)["refunds"][0]["status"] == "final"
    said.append(refund(shop, order_id))
    for answer, word in zip(said, ("goes back already", "has gone back already"), strict=True):
        assert_error(answer, 409)
        assert word in answer.get_json()["message"]

"""Sending money back: in part or whole, whatever became of its order, and never twice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import event

from api.domain.clock import format_time
from api.domain.transfers import TransferKind
from api.services.orders import refund_limits, refunds
from api.services.orders.money import Money
from api.services.orders.order_versions import require_version
from api.services.orders.refund_views import describe_refunds
from api.services.simulator.chain import find_mined_at
from api.services.simulator.wallet import DELAYED_FILL_TIME, find_source_elsewhere, pay_by_bridge
from api.storage.tables import Payment, Refund
from tests.api.conftest import START
from tests.support.shop import Shop
from tests.support.simulated_payments import read_order, send

ELSEWHERE = "0x" + "ab" * 20
FINAL_S = 5
"""Simulated chains keep what is three seconds old."""


def refund(shop: Shop, order_id: str, **body: object) -> Any:
    return shop.post(f"/api/v1/payment/{order_id}/refund", body)


def paid(shop: Shop, action: str = "pay") -> str:
    """Return an order whose payment is final."""
    order_id = shop.create()
    shop.simulate(order_id, action)
    shop.wait(FINAL_S)
    return order_id


@pytest.mark.rule("states.15", "refunds.1", "refunds.3", "refunds.6", "refunds.9", "refunds.13", "refunds.15")
def test_a_refund_sends_what_was_received_back(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = paid(shop, "overpay")
    answer = refund(shop, order_id)
    assert answer.status_code == 200
    (asked,) = answer.get_json()["refunds"]
    assert asked["status"] == "requested"
    shop.wait(FINAL_S)
    came, back = shop.transfers()
    assert (back.sender, back.recipient, back.amount) == (came.recipient, came.sender, came.amount)
    assert (back.chain_id, back.token_address) == (came.chain_id, came.token_address)
    assert (asked["to"].lower(), asked["amount"]) == (came.sender, str(came.amount))
    assert asked["transaction"]["data"].endswith(back.reference.hex())
    order = shop.order(order_id)
    assert (order["payment_order_status"], order["status_reason"]) == ("refunded", "")
    assert order["refunds"] == [
        {
            **asked,
            "amount_sent": asked["amount"],
            "hash": back.tx_hash,
            "timestamp": format_time(find_mined_at(back.block_number)),
            "status": "final",
            "transaction": None,
        }
    ]
    assert order["timeline"][-1]["transaction_hash"] == back.tx_hash
    assert order["transaction_hash"] == came.tx_hash
    assert_error(refund(shop, order_id), 409)
    assert [event["type"] for event in shop.events(order_id)][-2:] == ["payment_success", "payment_refunded"]


def test_the_same_request_again_changes_nothing(shop: Shop) -> None:
    order_id = paid(shop)
    first, second = (refund(shop, order_id).get_json()["refunds"] for _ in range(2))
    shop.wait(1)
    third = refund(shop, order_id).get_json()["refunds"]
    assert len(first) == len(third) == 1
    assert first == second
    assert len(shop.transfers()) == 2


def test_a_part_asked_for_again_before_it_is_final_is_the_same(shop: Shop) -> None:
    order_id = paid(shop)
    for _ in range(3):
        assert refund(shop, order_id, amount="400000").status_code == 200
        shop.wait(1)
    assert [row.amount for row in shop.transfers()] == [1_000_000, 400_000]


def test_the_rest_can_be_asked_for_while_a_part_is_on_its_way(shop: Shop) -> None:
    order_id = paid(shop)
    refund(shop, order_id, amount="400000")
    asked = refund(shop, order_id).get_json()["refunds"]
    assert [row["amount"] for row in asked] == ["400000", "600000"]


def test_a_strangers_dust_keeps_no_order_from_being_refunded(shop: Shop) -> None:
    order_id = shop.create()
    send(shop, order_id, 1)
    send(shop, order_id, 10**6)
    shop.wait(FINAL_S)
    assert refund(shop, order_id).status_code == 200
    shop.wait(FINAL_S)
    assert shop.history(order_id)[-1] == "refunded/"


@pytest.mark.rule("refunds.3", "refunds.4", "refunds.5", "refunds.11", "refunds.12")
def test_a_part_goes_back_and_then_the_rest(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = paid(shop)
    assert refund(shop, order_id, amount="400000").status_code == 200
    shop.wait(FINAL_S)
    assert shop.history(order_id)[-1] == "success/partially_refunded"
    order = shop.order(order_id)
    assert (order["amount_due"], order["transfers"][0]["amount_left"]) == ("0", "600000")
    assert_error(refund(shop, order_id, amount="600001"), 400)
    assert refund(shop, order_id).status_code == 200
    shop.wait(FINAL_S)
    assert shop.history(order_id)[-1] == "refunded/"
    assert [row.amount for row in shop.transfers()] == [1_000_000, 400_000, 600_000]


@pytest.mark.rule("states.15", "refunds.14")
@pytest.mark.parametrize("action", ["underpay", "wrong_token", "pay_late"])
def test_whatever_arrived_can_be_sent_back(shop: Shop, action: str) -> None:
    order_id = paid(shop, action)
    assert refund(shop, order_id).status_code == 200
    shop.wait(FINAL_S)
    assert shop.history(order_id)[-1] == "refunded/"


@pytest.mark.parametrize("action", ["underpay", "wrong_token"])
def test_nobody_is_asked_to_pay_an_order_that_closes_once_all_of_it_is_back(
    shop: Shop, assert_error: Callable[..., None], action: str
) -> None:
    order_id = paid(shop, action)
    before = shop.client.get(f"/payment/{order_id}/status").get_json()
    answer = refund(shop, order_id).get_json()
    assert (answer["payment_order_status"], answer["status_reason"]) == (
        "processing",
        {"underpay": "underpaid"}.get(action, action),
    )
    assert (answer["payable"], answer["not_payable_reason"]) == (False, "refund_under_way")
    state = shop.client.get(f"/payment/{order_id}/status").get_json()
    assert (before["panel"], state["panel"], state["title"]) == ("pay", "progress", "Your money is being sent back")
    wish = {"chainId": 8453, "token": answer["settlement"]["token_address"]}
    quoted = shop.client.post(f"/payment/{order_id}/quote", json=wish)
    assert (quoted.status_code, quoted.get_json()["reason"]) == (409, "order_not_payable")
    assert "goes back" in quoted.get_json()["message"]
    shop.wait(FINAL_S)
    order = shop.order(order_id)
    assert (order["payment_order_status"], order["not_payable_reason"]) == ("refunded", "order_closed")


def test_a_part_that_goes_back_leaves_an_open_order_payable(shop: Shop) -> None:
    order_id = paid(shop, "underpay")
    refund(shop, order_id, amount="499999")
    assert shop.order(order_id)["payable"]
    shop.wait(FINAL_S)
    assert shop.order(order_id)["payable"]
    assert shop.history(order_id)[-1] == "processing/underpaid"


def test_the_page_hears_that_a_wrong_token_goes_back(shop: Shop) -> None:
    """Nothing of the order itself changes, and the page asks only whether there is news."""
    order_id = paid(shop, "wrong_token")
    version = require_version(shop.resources, order_id)
    refund(shop, order_id)
    assert require_version(shop.resources, order_id) != version


def test_who_pays_before_a_wrong_token_is_back_has_paid(shop: Shop) -> None:
    order_id = paid(shop, "wrong_token")
    refund(shop, order_id)
    send(shop, order_id, 10**6)
    shop.wait(FINAL_S)
    order = shop.order(order_id)
    assert (order["payment_order_status"], order["status_reason"]) == ("success", "partially_refunded")
    assert [event["type"] for event in shop.events(order_id)][-2:] == ["payment_success", "payment_refunded"]


def test_an_order_is_not_closed_by_a_refund_while_its_payment_is_on_its_way(shop: Shop) -> None:
    """What a bridge has taken in will pay the order; closed by then, it would be paid and nothing delivered."""
    order_id = paid(shop, "wrong_token")
    order = read_order(shop, order_id)
    with shop.resources.database.write() as session:
        source = replace(find_source_elsewhere(order), amount=10**6)
        pay_by_bridge(session, order, source, 10**6, shop.clock.now(), fill_time=DELAYED_FILL_TIME)
    shop.wait(2)
    refund(shop, order_id)
    shop.wait(FINAL_S)
    assert shop.order(order_id)["payment_order_status"] == "processing"
    assert [row["status"] for row in shop.order(order_id)["refunds"]] == ["final"]
    shop.wait(25)
    assert shop.order(order_id)["payment_order_status"] == "success"


def test_what_was_sent_back_of_an_open_order_does_not_pay_it(shop: Shop) -> None:
    """Half comes, goes back, and comes again: the merchant has half, so the order is not paid."""
    order_id = paid(shop, "underpay")
    refund(shop, order_id, amount="499999")
    assert shop.order(order_id)["amount_due"] == "999999", "before it is signed"
    shop.wait(FINAL_S)
    assert shop.order(order_id)["amount_due"] == "999999"
    assert shop.history(order_id)[-1] == "processing/underpaid"


def test_who_pays_the_rest_while_the_first_part_goes_back_has_not_paid(shop: Shop) -> None:
    """A merchant's wallet may sign hours later: the order must not succeed meanwhile with half of its price."""
    order_id = paid(shop, "underpay")
    refund(shop, order_id)
    send(shop, order_id, 500_000)
    shop.wait(1)
    order = shop.order(order_id)
    assert (order["payment_order_status"], order["status_reason"]) == ("processing", "underpaid")
    assert order["amount_due"] == "500000"
    assert [each for each in shop.history(order_id) if each == "processing/"] == [], "nothing is said to be on its way"


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


@pytest.mark.rule("refunds.6")
def test_a_refund_of_a_bridged_payment_goes_to_who_deposited(shop: Shop) -> None:
    order_id = shop.create()
    shop.simulate(order_id, "bridge_delay")
    shop.wait(20)
    shop.wait(FINAL_S)
    refund(shop, order_id)
    shop.wait(1)
    deposit, fill, back = shop.transfers()
    assert fill.sender == deposit.recipient
    assert (back.recipient, back.amount) == (deposit.sender, fill.amount)


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


@pytest.mark.rule("refunds.10")
def test_a_refund_is_described_in_full(shop: Shop) -> None:
    order_id = paid(shop)
    (transfer,) = shop.order(order_id)["transfers"]
    refund(shop, order_id, amount="250000", to=ELSEWHERE)
    shop.wait(FINAL_S)
    (row,) = shop.order(order_id)["refunds"]
    back = shop.transfers()[-1]
    assert row["transfer"] == transfer["id"]
    assert (row["chain_id"], row["token"]) == (8453, transfer["token"])
    assert (row["amount"], row["to"].lower(), row["hash"], row["status"]) == (
        "250000",
        ELSEWHERE,
        back.tx_hash,
        "final",
    )


@pytest.mark.parametrize("goes_back", [False, True])
def test_what_comes_after_the_end_is_named_by_its_own_transaction(shop: Shop, goes_back: bool) -> None:
    order_id = paid(shop)
    first = shop.order(order_id)["transaction_hash"]
    if goes_back:
        refund(shop, order_id)
        shop.wait(FINAL_S)
    late = send(shop, order_id, 10**6)
    shop.wait(FINAL_S)
    order = shop.order(order_id)
    assert order["status_reason"] == "paid_after_close"
    assert order["transaction_hash"] == first, "the order was paid by this one"
    assert order["timeline"][-1]["transaction_hash"] == late
    event = shop.events(order_id)[-1]
    assert (event["type"], event["data"]["transaction_hash"]) == ("payment_failed", late)
    assert {row["hash"] for row in event["data"]["transactions"]} >= {first, late}


def count_elsewhere(number: int) -> str:
    """Return one of many addresses."""
    return f"0x{number:040x}".replace("0x00", "0xab")


def ask_for_units(shop: Shop, order_id: str, numbers: range, **more: str) -> list[int]:
    """Ask for a unit to each of several addresses; return the statuses of the answers."""
    return [refund(shop, order_id, amount="1", to=count_elsewhere(each), **more).status_code for each in numbers]


@pytest.mark.rule("refunds.17")
def test_so_many_refunds_of_a_transfer_are_open_at_once(shop: Shop, assert_error: Callable[..., None]) -> None:
    order_id = paid(shop)
    most = refunds.MOST_OPEN_OF_TRANSFER
    assert set(ask_for_units(shop, order_id, range(1, most + 1))) == {200}
    answer = refund(shop, order_id, amount="1", to=ELSEWHERE)
    assert_error(answer, 409)
    (problem,) = answer.get_json()["error"]
    assert (problem["path"], "Sign" in problem["message"]) == ("transfer", True)
    assert refund(shop, order_id, amount="1", to=count_elsewhere(1)).status_code == 200, "the same again is none more"
    shop.wait(FINAL_S)
    assert refund(shop, order_id, amount="1", to=ELSEWHERE).status_code == 200, "what is final is open no more"


@pytest.mark.rule("refunds.17")
def test_so_many_refunds_of_an_order_are_open_at_once(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refunds, "MOST_OPEN", 3)
    order_id = shop.create()
    for action in ("underpay", "pay"):
        shop.simulate(order_id, action)
        shop.wait(FINAL_S)
    one, other = (row["id"] for row in shop.order(order_id)["transfers"])
    assert ask_for_units(shop, order_id, range(1, 3), transfer=one) == [200, 200]
    assert ask_for_units(shop, order_id, range(3, 5), transfer=other) == [200, 409]


def test_what_an_order_has_sent_back_is_read_once_for_another_refund(shop: Shop) -> None:
    """Found: a request read all refunds of the order three times, and all that had moved for it four times."""
    order_id, read = paid(shop), Counter[str]()

    def note(_connection: object, _cursor: object, text: str, *_: object) -> None:
        read.update(name for name in ("payments", "refunds") if re.match(rf"SELECT {name}\.[^()]*FROM {name}\s", text))

    engines = {shop.resources.database.engine, shop.resources.database._writer}
    for each in engines:
        event.listen(each, "before_cursor_execute", note)
    answer = refund(shop, order_id, amount="1", to=ELSEWHERE)
    for each in engines:
        event.remove(each, "before_cursor_execute", note)
    assert answer.status_code == 200
    assert read == {"payments": 2, "refunds": 1}


@pytest.mark.rule("refunds.17")
def test_so_many_refunds_of_a_vendor_are_not_sent(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty of each of a thousand orders made every look at the chain take seconds, for all vendors."""
    monkeypatch.setattr(refund_limits, "MOST_OF_VENDOR", 3)
    first, second = paid(shop), paid(shop)
    assert ask_for_units(shop, first, range(1, 3)) == [200, 200]
    assert ask_for_units(shop, second, range(3, 5)) == [200, 409]
    assert len(shop.order(second)["refunds"]) == 1
    assert ask_for_units(shop, second, [3]) == [200], "the same again is none more"
    shop.wait(FINAL_S)
    assert ask_for_units(shop, second, [4]) == [200], "what was sent is not looked for"


def test_an_order_of_many_refunds_is_described_in_one_pass() -> None:
    """Each of a thousand refunds once looked through all that had moved for the order."""

    class Counted(list[Payment]):
        passes = 0

        def __iter__(self) -> Iterator[Payment]:
            Counted.passes += 1
            return super().__iter__()

    payments = Counted([Payment(id=1, public_id="tr_1", kind=TransferKind.PAYMENT, token_address=ELSEWHERE, amount=9)])
    asked = [
        Refund(
            id=number, payment_id=1, chain_id=8453, token_address=ELSEWHERE, sender=ELSEWHERE, recipient=ELSEWHERE,
            amount=1, reference=bytes(16), created_at=START,
        )
        for number in range(100)
    ]  # fmt: skip
    described = describe_refunds(Money(payments=payments, refunds=asked))
    assert {row["transfer"] for row in described} == {"tr_1"}
    assert Counted.passes <= 3

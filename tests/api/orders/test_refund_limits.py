"""How many refunds may be open at once, and how little each reads of the others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator

import pytest
from sqlalchemy import event

from api.domain.transfers import TransferKind
from api.services.orders import refund_limits, refunds
from api.services.orders.money import Money
from api.services.orders.refund_views import describe_refunds
from api.storage.tables import Payment, Refund
from tests.api.conftest import START
from tests.support.refunds import ELSEWHERE, FINAL_S, count_elsewhere, paid, refund
from tests.support.shop import Shop


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

"""The same request twice: one order, one answer, on both databases."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from api.blueprints import repeats
from api.domain.env import EnvMode
from api.domain.errors import Conflict
from api.services import idempotency
from api.services.idempotency import AnsweredBefore, KeptAnswer, Repeatable, claim_key, keep_answer, seal_answer
from api.services.resources import Resources
from api.storage.tables import IdempotencyKey, PaymentOrder, WebhookEvent
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.shop import LINK, Shop

PATH = "/api/v1/payment_link"


def count(resources: Resources, table: type) -> int:
    with resources.database.read() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


@pytest.mark.rule("idempotency.3", "idempotency.7")
def test_the_same_request_gets_the_first_answer(shop: Shop) -> None:
    first = shop.post(PATH, LINK, Idempotency_Key="cart-7")
    shop.clock.advance(hours=23)
    again = shop.post(PATH, dict(reversed(LINK.items())), Idempotency_Key="cart-7")
    assert (again.status_code, again.data) == (200, first.data)
    assert (first.headers.get("Idempotent-Replayed"), again.headers["Idempotent-Replayed"]) == (None, "true")
    assert count(shop.resources, PaymentOrder) == count(shop.resources, WebhookEvent) == 1


@pytest.mark.rule("idempotency.4")
def test_another_body_is_refused(shop: Shop, assert_error: Callable[..., None]) -> None:
    shop.post(PATH, LINK, Idempotency_Key="cart-7")
    response = shop.post(PATH, {**LINK, "metadata": {"cart": "8"}}, Idempotency_Key="cart-7")
    assert_error(response, 422, {"Idempotency-Key": "Use a new key for a new request"})
    assert count(shop.resources, PaymentOrder) == 1


@pytest.mark.rule("idempotency.5")
@pytest.mark.parametrize("body", [b'{"line_items": []}', b"{", b"[1]", b'{"a": 1, "a": 2}', b"\xff", b""])
def test_another_body_is_refused_for_its_key_before_its_faults(
    shop: Shop, assert_error: Callable[..., None], body: bytes
) -> None:
    shop.post(PATH, LINK, Idempotency_Key="cart-7")
    headers = shop.merchant.headers() | {"Idempotency-Key": "cart-7"}
    response = shop.client.post(PATH, data=body, headers=headers, content_type="application/json")
    assert_error(response, 422, {"Idempotency-Key": "Use a new key for a new request"})


def test_a_key_is_for_one_address(shop: Shop, assert_error: Callable[..., None]) -> None:
    one, other = shop.create(), shop.create()
    assert shop.post(f"/api/v1/payment/{one}/cancel", Idempotency_Key="k").status_code == 200
    refused = shop.post(f"/api/v1/payment/{other}/cancel", Idempotency_Key="k")
    assert_error(refused, 422, {"Idempotency-Key": "Use a new key for a new request"})
    assert shop.order(other)["payment_order_status"] == "created"


@pytest.mark.rule("idempotency.7")
def test_a_key_is_forgotten_after_a_day(shop: Shop) -> None:
    first = shop.post(PATH, LINK, Idempotency_Key="cart-7").get_json()
    shop.clock.advance(hours=24)
    second = shop.post(PATH, {**LINK, "metadata": {}}, Idempotency_Key="cart-7")
    assert second.status_code == 200
    assert second.get_json() != first


@pytest.mark.rule("idempotency.8")
def test_a_refused_request_is_not_kept(shop: Shop) -> None:
    assert shop.post(PATH, {}, Idempotency_Key="cart-7").status_code == 400
    unknown = {**LINK, "order_price": {**LINK["order_price"], "currency": "XYZ"}}
    assert shop.post(PATH, unknown, Idempotency_Key="cart-7").status_code == 400
    assert count(shop.resources, IdempotencyKey) == 0
    assert shop.post(PATH, LINK, Idempotency_Key="cart-7").status_code == 200


@pytest.mark.rule("idempotency.9")
def test_keys_of_two_vendors_and_environments_are_apart(shop: Shop, other_merchant: Merchant) -> None:
    answers = [
        shop.post(PATH, LINK, Idempotency_Key="1"),
        shop.client.post(PATH, json=LINK, headers=other_merchant.headers() | {"Idempotency-Key": "1"}),
    ]
    assert [answer.status_code for answer in answers] == [200, 200]
    shop.create_live(headers={"Idempotency_Key": "1"})
    assert count(shop.resources, PaymentOrder) == 3


@pytest.mark.rule("idempotency.2")
@pytest.mark.parametrize("key", ["", "x" * 256])
def test_a_key_has_1_to_255_characters(shop: Shop, assert_error: Callable[..., None], key: str) -> None:
    assert_error(shop.post(PATH, LINK, Idempotency_Key=key), 400, {"Idempotency-Key": "Must have 1 to 255 characters"})


def test_a_crash_half_way_leaves_the_key_free(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(repeats, "KeptAnswer", crash)
        with pytest.raises(KeyboardInterrupt):
            shop.post(PATH, LINK, Idempotency_Key="cart-7")
    assert count(shop.resources, PaymentOrder) == count(shop.resources, IdempotencyKey) == 0
    assert shop.post(PATH, LINK, Idempotency_Key="cart-7").status_code == 200


def make_request(merchant: Merchant) -> Repeatable:
    return Repeatable(vendor_id=merchant.id, env_mode=EnvMode.TEST, key="cart-7", address="/x", body=b"{}")


def answer(resources: Resources, session: Session, merchant: Merchant, body: str) -> str:
    """Carry a request out in a transaction, or return what it was answered before."""
    request, box = make_request(merchant), resources.box
    try:
        claim_key(session, request, box=box, now=resources.clock.now())
    except AnsweredBefore as before:
        return before.answer.body
    keep_answer(session, request=request, sealed=seal_answer(request, KeptAnswer(status=200, body=body), box))
    return body


def answer_alone(resources: Resources, merchant: Merchant, body: str) -> str:
    with resources.database.write() as session:
        return answer(resources, session, merchant, body)


def test_a_request_under_way_is_waited_for(resources: Resources, merchant: Merchant) -> None:
    with ThreadPoolExecutor(1) as pool:
        with resources.database.write() as session:
            answer(resources, session, merchant, "first")
            waiting = pool.submit(answer_alone, resources, merchant, "second")
        assert waiting.result() == "first"


@pytest.mark.rule("idempotency.6")
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_request_that_stays_under_way_is_a_conflict(resources: Resources, merchant: Merchant) -> None:
    """Where several may write at once. SQLite has one writer; who waits too long hears that the database is busy."""
    with ThreadPoolExecutor(1) as pool, resources.database.write() as session:
        answer(resources, session, merchant, "first")
        with pytest.raises(Conflict, match="still being carried out") as refused:
            pool.submit(answer_alone, resources, merchant, "second").result()
    assert refused.value.retry_after_s == 1
    assert answer_alone(resources, merchant, "third") == "first"


def test_expired_keys_race_for_one_new_order(shop: Shop, clock: SettableClock) -> None:
    shop.post(PATH, LINK, Idempotency_Key="k")
    clock.advance(seconds=timedelta(days=2).total_seconds())

    def again(_: int) -> str:
        client = shop.client.application.test_client()
        headers = shop.merchant.headers() | {"Idempotency-Key": "k"}
        return str(client.post(PATH, json=LINK, headers=headers).get_json()["payment_order_id"])

    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(again, range(8)))) == 1
    assert count(shop.resources, PaymentOrder) == 2


def test_a_kept_answer_that_is_deleted_between_two_looks_is_no_fault(
    resources: Resources, merchant: Merchant, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer_alone(resources, merchant, "first")
    insert, claims = idempotency.insert_rows_after, []

    def lose(place: Session, *given: Any) -> bool:
        claims.append(insert(place, *given))
        if not claims[-1]:
            place.execute(delete(IdempotencyKey))  # as the worker does with what has expired
        return claims[-1]

    monkeypatch.setattr(idempotency, "insert_rows_after", lose)
    assert answer_alone(resources, merchant, "second") == "second"
    assert claims == [False, True]


def test_a_stored_answer_is_encrypted(shop: Shop) -> None:
    answer = shop.post(PATH, LINK, Idempotency_Key="cart-7").get_json()
    with shop.resources.database.read() as session:
        stored = session.scalars(select(IdempotencyKey.response_body)).one()
    assert answer["payment_order_id"] not in stored


@pytest.mark.rule("idempotency.2")
def test_a_key_of_255_characters_is_taken(shop: Shop) -> None:
    first, again = (shop.post(PATH, LINK, Idempotency_Key="x" * 255) for _ in range(2))
    assert (first.status_code, again.data) == (200, first.data)

"""What the Python client sends again, and when; and what its errors say."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import anyio
import httpx
import pytest
from crosschain_checkout_client import AsyncCheckoutClient, CheckoutClient, Retries, errors

from tests.clients.test_python_operations import LINK, ROUTE, URL

LOST = httpx.ReadError("the connection was lost")


def make_link() -> httpx.Response:
    return httpx.Response(200, json={"payment_order_id": "po_1", "payment_url": f"{URL}/payment/po_1"})


def refusal(status: int, *, path: str = "", **headers: str) -> httpx.Response:
    body = {"message": "No", "code": str(status), "error": [{"path": path, "message": "Required"}]}
    return httpx.Response(status, json=body, headers={"X-Request-Id": "req_1"} | headers)


class Script:
    """A service that answers with one outcome after the other, and time that stands still."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *outcomes: httpx.Response | httpx.RequestError) -> None:
        self.outcomes = list(outcomes)
        self.keys: list[str | None] = []
        self.waits: list[float] = []
        monkeypatch.setattr("crosschain_checkout_client.client.time.sleep", self.waits.append)

        async def sleep(seconds: float) -> None:
            self.waits.append(seconds)

        monkeypatch.setattr("crosschain_checkout_client.async_client.anyio.sleep", sleep)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.keys.append(request.headers.get("Idempotency-Key"))
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def client(self, **options: Any) -> CheckoutClient:
        return CheckoutClient(URL, "sk_test_1", transport=httpx.MockTransport(self.answer), **options)


Play = Callable[..., Script]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Play:
    return lambda *outcomes: Script(monkeypatch, *outcomes)


def test_a_post_keeps_its_key_over_its_retries_and_the_next_has_another(play: Play) -> None:
    busy = refusal(503, **{"Retry-After": "2"})
    script = play(LOST, busy, refusal(409, **{"Retry-After": "1"}), make_link(), make_link())
    with script.client() as client:
        assert client.payment_links.create(**LINK).payment_order_id == "po_1"
        client.payment_links.create(**LINK)
    *first, second = script.keys
    assert len(first) == 4
    assert len(set(first)) == 1
    assert second not in (None, first[0])
    lost, after_busy, after_conflict = script.waits
    assert 0.25 <= lost <= 0.5
    assert 2.5 <= after_busy <= 3
    assert 2 <= after_conflict <= 3


def test_it_does_so_awaited(play: Play) -> None:
    script = play(LOST, refusal(429), make_link())

    async def sell() -> str:
        transport = httpx.MockTransport(script.answer)
        async with AsyncCheckoutClient(URL, transport=transport) as client:
            return (await client.payment_links.create(**LINK)).payment_order_id

    assert anyio.run(sell) == "po_1"
    assert len(set(script.keys)) == 1
    assert len(script.waits) == 2


def test_a_key_of_the_caller_is_the_one(play: Play) -> None:
    script = play(LOST, make_link())
    with script.client() as client:
        client.payment_links.create(**LINK, idempotency_key="cart-7")
    assert script.keys == ["cart-7"] * 2


def test_it_gives_up_and_says_with_what_key_to_try_again(play: Play) -> None:
    script = play(*[LOST] * 4)
    with script.client() as client, pytest.raises(errors.ConnectionFailed, match="the connection was lost") as failed:
        client.orders.refund("po_1")
    assert [failed.value.idempotency_key] * 4 == script.keys
    lost = httpx.MockTransport(play(LOST).answer)
    client = CheckoutClient("http://127.0.0.1:8001", transport=lost, retries=Retries(most=0))
    with client, pytest.raises(errors.ConnectionFailed, match=r"^127\.0\.0\.1:8001 does not answer"):
        client.tokens.get_page()


@pytest.mark.parametrize("kind", [CheckoutClient, AsyncCheckoutClient])
def test_an_empty_key_is_refused_at_once(kind: Callable[..., object]) -> None:
    for key in ("", " "):
        with pytest.raises(ValueError, match="api_key is empty"):
            kind(URL, key)


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        (refusal(400, path="order_price.amount"), errors.InvalidRequest), (refusal(401), errors.Unauthorized),
        (refusal(403), errors.Forbidden), (refusal(404), errors.NotFound), (refusal(409), errors.Conflict),
        (refusal(422), errors.KeyReused), (refusal(500), errors.ServiceFailed), (refusal(413), errors.Refused),
        (refusal(503, **{"Retry-After": "61"}), errors.ServiceFailed),
        (httpx.Response(302, headers={"Location": "https://evil.example"}), errors.UnexpectedAnswer),
        (httpx.Response(200, text="<html>"), errors.UnexpectedAnswer),
        (httpx.Response(200, json={}), errors.UnexpectedAnswer), (httpx.Response(500), errors.UnexpectedAnswer),
    ],
)  # fmt: skip
def test_what_would_not_change_is_not_sent_again(
    play: Play, outcome: httpx.Response, kind: type[errors.RequestFailed]
) -> None:
    script = play(outcome)
    with script.client() as client, pytest.raises(kind) as failed:
        client.payment_links.create(**LINK)
    assert type(failed.value) is kind
    assert failed.value.idempotency_key == script.keys[0]
    assert script.waits == []


def test_an_error_names_every_problem(play: Play) -> None:
    with play(refusal(400, path="order_price.amount")).client() as client, pytest.raises(errors.Refused) as failed:
        client.payment_links.create(**LINK)
    error = failed.value
    assert str(error) == "400: No; order_price.amount: Required (request req_1)"
    assert [(each.path, each.message) for each in error.problems] == [("order_price.amount", "Required")]
    assert (error.status, error.request_id) == (400, "req_1")


def test_no_route_is_told_from_what_is_not_there(play: Play) -> None:
    with play(refusal(404)).client() as client, pytest.raises(errors.NoRoute):
        client.routes.find(**ROUTE)


def test_a_delete_is_sent_again_only_where_nothing_was_done(play: Play) -> None:
    lost, busy = play(LOST), play(refusal(503), httpx.Response(200, json={"message": "Gone"}))
    with lost.client() as client, pytest.raises(errors.ConnectionFailed):
        client.webhooks.delete("ep_1")
    with busy.client() as client:
        client.webhooks.delete("ep_1")
    assert len(busy.keys) == 2


def test_without_a_key_no_post_is_sent_again() -> None:
    for outcome in (LOST, refusal(503), refusal(429), httpx.Response(504)):
        assert Retries().choose_wait(1, httpx.Request("POST", URL), outcome) is None
        assert Retries().choose_wait(1, httpx.Request("GET", URL), outcome) is not None


def test_waits_grow_and_follow_dates() -> None:
    request, retries = httpx.Request("GET", URL), Retries(most=9)
    waits = [retries.choose_wait(attempt, request, refusal(503)) or 0 for attempt in range(1, 10)]
    assert all(low <= wait <= 2 * low for wait, low in zip(waits, (0.25, 0.5, 1, 2, 4, 4, 4, 4, 4), strict=True))
    assert retries.choose_wait(10, request, refusal(503)) is None
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 28 < (retries.choose_wait(1, request, refusal(429, **{"Retry-After": later})) or 0) < 31
    assert (retries.choose_wait(1, request, refusal(429, **{"Retry-After": "soon"})) or 9) <= 0.5

"""What callers of the Python client give wrongly is refused before it is sent: with its name, and without a secret."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import date, datetime
from decimal import Decimal
from typing import Any, cast
from uuid import UUID

import httpx
import pytest
from crosschain_checkout_client import AsyncCheckoutClient, CheckoutClient, models, verify_webhook
from crosschain_checkout_client.checks import check_address
from crosschain_checkout_client.wire import write_value

from tests.clients.test_python_operations import LINK, URL

SECRET = "Zm9v" * 10
TEST, LIVE = f"sk_test_{SECRET}", f"sk_live_{SECRET}"
CLIENTS: tuple[Callable[..., Any], ...] = (CheckoutClient, AsyncCheckoutClient)


def make_client(url: str = URL, key: str = f" {TEST}\r\n") -> tuple[CheckoutClient, list[httpx.Request]]:
    """Return a client, and what it has sent."""
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json={"payment_order_id": "po_1", "payment_url": URL})

    return CheckoutClient(url, key, transport=httpx.MockTransport(answer)), sent


def refuse(act: Callable[[], object]) -> str:
    """Return what the refusal says, which is no secret."""
    with pytest.raises(ValueError, match=r"\w") as refused:
        act()
    said = "".join(map(str, (refused.value, refused.value.__cause__, refused.value.__context__)))
    assert SECRET not in said
    return str(refused.value)


def test_a_key_is_sent_without_the_end_of_its_line() -> None:
    client, sent = make_client()
    with client:
        client.payment_links.create(**LINK)
    assert sent[0].headers["X-Api-Key"] == TEST


@pytest.mark.parametrize("make", CLIENTS)
@pytest.mark.parametrize("key", [None, "", " \n"])
def test_a_key_that_is_missing_is_refused(make: Callable[..., Any], key: str | None) -> None:
    assert refuse(lambda: make(URL, key)).startswith("api_key is empty")


@pytest.mark.parametrize("make", CLIENTS)
@pytest.mark.parametrize("key", [f"{TEST}\n{LIVE}", f"export KEY={TEST}\x00", f"{TEST}é", f"\u201c{TEST}"])
def test_a_key_that_no_header_carries_is_refused_and_not_shown(make: Callable[..., Any], key: str) -> None:
    assert refuse(lambda: make(URL, key)).startswith("api_key has characters")


@pytest.mark.parametrize("make", CLIENTS)
@pytest.mark.parametrize("url", ["http://pay.example", "HTTP://10.0.0.1:8000", "http://localhost.pay.example"])
def test_a_live_key_travels_encrypted_only(make: Callable[..., Any], url: str) -> None:
    assert refuse(lambda: make(url, f" {LIVE}")).startswith("base_url: a live key is sent over https only")
    make(url, TEST)


@pytest.mark.parametrize(
    "url", ["https://pay.example", "http://localhost:8000", "http://127.0.0.1:8000", "http://[::1]"]
)
def test_a_live_key_stays_on_this_machine_or_is_encrypted(url: str) -> None:
    client, sent = make_client(url, LIVE)
    with client:
        client.payment_links.create(**LINK)
    assert str(sent[0].url).startswith(f"{url}/api/v1/")
    assert sent[0].headers["X-Api-Key"] == LIVE


def test_a_key_in_the_place_of_something_else_is_not_shown() -> None:
    client, sent = make_client()
    with client:
        assert refuse(lambda: CheckoutClient(LIVE, URL)).startswith("base_url: 'sk_live_…'")
        assert refuse(lambda: client.orders.get(f"{TEST}\n")).startswith("order_id: 'sk_test_…")
        said = refuse(lambda: client.payment_links.create(idempotency_key=f"{TEST}\n", **LINK))
    assert said.startswith("idempotency_key is 'sk_test_…")
    assert sent == []


@pytest.mark.parametrize("key", ["", " ", "cart\n7", "Käse-7", "7\u20ac", "x" * 256, 7])
def test_an_idempotency_key_that_no_header_carries_is_refused(key: object) -> None:
    client, sent = make_client()
    with client:
        said = refuse(lambda: client.payment_links.create(idempotency_key=cast(str, key), **LINK))
        client.payment_links.create(idempotency_key="cart 7/" + "x" * 248, **LINK)
    assert said.startswith("idempotency_key is ")
    assert "such as the cart's id" in said
    assert len(sent) == 1


@pytest.mark.parametrize(
    ("value", "remedy"),
    [(Decimal("25.00"), "give an int"), (UUID(int=7), "JSON can't have"), (b"7", "JSON can't have")],
)
def test_what_json_can_not_have_is_refused_with_its_property(value: object, remedy: str) -> None:
    client, sent = make_client()
    link: Any = LINK | {"order_price": {"currency": "USDC", "amount": value, "decimals": 2}}
    with client:
        said = refuse(lambda: client.payment_links.create(**link))
        refund: Any = {"amount": value}
        assert refuse(lambda: client.orders.refund("po_1", **refund)).startswith("amount is ")
        moment = refuse(lambda: client.payment_links.create(**(LINK | {"expires_at": datetime(2026, 3, 1)})))
    assert said.startswith("order_price.amount is ")
    assert remedy in said
    assert moment.startswith("expires_at: ")
    assert sent == []


@pytest.mark.parametrize(
    ("act", "name"),
    [
        (lambda client: client.orders.get(None), "order_id"),
        (lambda client: client.orders.get(""), "order_id"),
        (lambda client: client.orders.refund(7), "order_id"),
        (lambda client: client.webhooks.get("../x"), "webhook_id"),
        (lambda client: client.events.get(None), "event_id"),
        (lambda client: client.quotes.read(None), "quote_id"),
        (lambda client: client.transfers.assign(None, "po_1"), "transfer_id"),
    ],
)
def test_an_id_that_is_none_is_refused_with_its_parameter(act: Callable[[Any], object], name: str) -> None:
    client, sent = make_client()
    with client:
        said = refuse(lambda: act(client))
    assert said.startswith(f"{name}: ")
    assert "is no id" in said
    assert sent == []


@pytest.mark.parametrize("secrets", [(None,), ([None],), ()])
def test_a_webhook_secret_that_is_missing_is_refused(secrets: tuple[Any, ...]) -> None:
    said = refuse(lambda: verify_webhook(b"{}", {}, *secrets))
    assert said.startswith("secrets")
    assert "whsec_…" in said


@pytest.mark.parametrize("end", ["/", "//", "/api/v1", "/api/v1/"])
def test_an_address_may_end_as_that_of_the_interface_does(end: str) -> None:
    assert check_address(f"https://pay.example/shop{end}") == "https://pay.example/shop"


def test_a_day_is_no_moment() -> None:
    with pytest.raises(ValueError, match=r"created_from .* a day is no moment"):
        write_value({"created_from": date(2026, 3, 1)})


def test_no_secret_is_printed() -> None:
    names = {each.name: each.repr for each in fields(models.SecretSubscription)}
    assert (names["secret"], names["webhook_url"]) == (False, True)

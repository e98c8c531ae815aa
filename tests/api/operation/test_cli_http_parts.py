"""What the commands of integrators refuse by themselves, how they wait, and how they show amounts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from pytest_httpserver import HTTPServer
from werkzeug import Response

from api.cli.commands import main
from api.cli.http import ServiceAway
from api.cli.listening import LONGEST_S, POLL_S, derive_secret, follow_events
from api.cli.orders import parse_price
from api.cli.shown_orders import describe, list_parts, write_price
from api.cli.waiting import wait_for

LIVE = "sk_live_" + "a" * 43
TEST = "sk_test_" + "a" * 43


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("orders", "list"), "Set CHECKOUT_API_KEY to an API key"),
        (("orders", "list", "--key", "pk_1"), "Set CHECKOUT_API_KEY to an API key"),
        (("orders", "list", "--key", TEST, "--url", "ftp://x"), "--url: Expected an address"),
        (("orders", "list", "--key", LIVE, "--url", "http://pay.example"), "A live key is sent over https only"),
        (("orders", "list", "--key", TEST, "--url", "http://127.0.0.1:9"), "does not answer (ConnectionError)"),
        (("orders", "list", "--key", TEST, "--status", "paid"), "'paid' is not one of"),
        (("webhooks", "listen", "--key", LIVE, "--forward-to", "x"), "use a test key"),
        (("webhooks", "listen", "--key", TEST), "Give --forward-to"),
        (("webhooks", "listen", "--key", TEST, "--forward-to", "ftp://x"), "such as localhost:3000/webhooks"),
        (
            ("webhooks", "listen", "--key", TEST, "--forward-to", "x", "--events", "payment_success,foo"),
            "There is no type foo; use any of payment_processing, payment_success,",
        ),
        (("links", "create", "--key", TEST, "--amount", "12.5"), "Give --item, --success-url, or a --file"),
        (("webhooks", "trigger", "--key", LIVE, "payment_success"), "use a test key"),
        (("webhooks", "trigger", "--key", TEST, "paid"), "Expected one of payment_processing"),
        (("links", "create", "--key", TEST, "--amount", "1,5"), "such as 12.50"),
        (("links", "create", "--key", TEST, "--amount", "1" * 79), "such as 12.50"),
        (("links", "create", "--key", TEST, "--metadata", "x"), "Expected NAME=VALUE"),
    ],
)
def test_bad_words_are_refused_with_the_remedy(words: tuple[str, ...], message: str) -> None:
    result = CliRunner(env={"CHECKOUT_API_KEY": None, "CHECKOUT_URL": None}).invoke(main, words)
    assert result.exit_code != 0
    assert message in " ".join(result.output.split())
    assert TEST not in result.output


def test_a_bad_address_is_said_of_what_gave_it() -> None:
    """`CHECKOUT_URL` stands in a file as a rule, so nobody finds the fault in the command."""
    for environment, options, named in (
        ({"CHECKOUT_URL": "pay.example"}, (), "CHECKOUT_URL"),
        ({}, ("--url", "x"), "--url"),
    ):
        result = CliRunner(env=environment).invoke(main, ("orders", "list", "--key", TEST, *options))
        assert result.output.startswith(f"Error: {named}: Expected an address such as https://pay.example")
    live = CliRunner(env={"CHECKOUT_URL": "http://pay.example"}).invoke(main, ("orders", "list", "--key", LIVE))
    assert live.output.startswith("Error: CHECKOUT_URL: A live key is sent over https only")


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (Response("<html>", 200), "answers 200, and not as a checkout service does"),
        (Response("[]", 200, mimetype="application/json"), "answers 200, and not as a checkout service does"),
        (Response("", 307, {"Location": "http://127.0.0.1:9/stolen"}), "redirects; give the address"),
        (Response('{"message": "Later", "error": []}', 503, mimetype="application/json"), "Later"),
        (
            Response('{"message": "Wait", "error": []}', 429, {"Retry-After": "7"}, mimetype="application/json"),
            "Wait; try again in 7 s",
        ),
    ],
)
def test_what_is_no_checkout_service_is_said(httpserver: HTTPServer, response: Response, message: str) -> None:
    httpserver.expect_request("/api/v1/payment").respond_with_response(response)
    words = ("orders", "list", "--url", f"http://127.0.0.1:{httpserver.port}", "--key", TEST)
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 1
    assert message in result.output
    assert len(httpserver.log) == 1, "nothing is sent to where it redirects"


def test_a_file_that_is_no_object_is_refused(tmp_path: Path) -> None:
    for text in ("{", "[]", "[" * 100_000):
        (tmp_path / "link.json").write_text(text)
        result = CliRunner().invoke(main, ("links", "create", "--key", TEST, "--file", str(tmp_path / "link.json")))
        assert (result.exit_code, "--file: Expected" in result.output) == (1, True)


OVER = EOFError()


class Flaky:
    """A service that is away now and then, and tells each event once."""

    def __init__(self, *pages: dict[str, Any] | Exception) -> None:
        self.pages, self.asked = list(pages), list[str]()

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        self.asked.append(query["since"])
        page = self.pages.pop(0)
        if isinstance(page, Exception):
            raise page
        return page


def test_a_listener_waits_for_a_service_that_is_away_and_loses_nothing() -> None:
    first = {"data": [{"id": "evt_1"}, {"id": "evt_2"}], "next_cursor": "evt_2", "has_more": True}
    away = ServiceAway("away")
    last = {"data": [{"id": "evt_3"}], "next_cursor": "evt_3", "has_more": False}
    none = {"data": [], "next_cursor": None, "has_more": False}
    service = Flaky(first, away, away, ServiceAway("busy", 45), last, none, OVER)
    waits: list[float] = []
    events = follow_events(service, "evt_0", waits.append)  # type: ignore[arg-type]  # stands in for the client
    assert [next(events)["id"] for _ in range(3)] == ["evt_1", "evt_2", "evt_3"]
    assert waits == [2, 4, 45]
    with pytest.raises(EOFError):
        next(events)
    assert waits == [2, 4, 45, POLL_S, POLL_S]
    assert service.asked == ["evt_0", "evt_2", "evt_2", "evt_2", "evt_2", "evt_3", "evt_3"]
    assert LONGEST_S >= 8


def test_the_secret_of_a_listener_gives_the_key_not_away() -> None:
    assert derive_secret(TEST) == derive_secret(TEST) != derive_secret(LIVE)
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", derive_secret(TEST))


SETTLEMENT = {"chain_id": 8453, "token_address": "0xAb", "token_symbol": "USDC", "token_decimals": 6}
ORDER = {
    "payment_order_id": "po_1",
    "payment_order_status": "success",
    "line_items": [],
    "order_price": {"currency": "USD", "amount": 2500, "decimals": 2},
    "amount_received": "27500000",
    "amount_due": "0",
    "settlement": SETTLEMENT,
    "transfers": [
        {"chain_id": 8453, "token": "0xaB", "amount": "27500000", "status": "final"},
        {"chain_id": 1, "token": "0xAb", "amount": "7", "status": "seen"},
        {"chain_id": 1, "token": "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", "amount": "12500000", "status": "seen"},
    ],
}


def test_every_amount_is_shown_whole_and_in_units() -> None:
    shown = describe(ORDER)
    assert (shown["price"], shown["amount_received"]) == ("25.00 USD", "27.50 USDC (27500000 units)")
    assert shown["amount_due"] == "0.00 USDC (0 units)"
    assert describe({**ORDER, "settlement": None})["amount_due"] == "0"
    ((title, _, rows),) = list_parts(ORDER)
    amounts = ["27.50 USDC (27500000 units)", "7 units of 0xAb", "12.50 USDC (12500000 units)"]
    assert (title, [row["amount"] for row in rows]) == ("transfers", amounts)
    noted = {"chain_id": 8453, "token": "0xaB", "amount": "1", "status": "requested", "note": "RMA 7"}
    *_, (title, columns, (row,)) = list_parts({**ORDER, "refunds": [noted]})
    assert (title, columns[-1], row["note"]) == ("refunds", "note", "RMA 7")
    assert describe({**ORDER, "payable": True})["payable"] == "yes"
    unread = {"payable": False, "not_payable_reason": "chain_not_read"}
    assert describe({**ORDER, **unread})["payable"] == "no (chain_not_read)"


class Moving:
    """An order that moves on with each look."""

    def __init__(self, *orders: dict[str, Any]) -> None:
        self.orders = list(orders)

    def get(self, path: str) -> dict[str, Any]:
        return self.orders.pop(0) if len(self.orders) > 1 else self.orders[0]


def test_a_command_waits_for_a_status_and_for_final_money() -> None:
    begun = {"payment_order_status": "created", "transfers": []}
    seen = {"payment_order_status": "success", "transfers": [{"status": "confirmed"}]}
    done = {**seen, "transfers": [{"status": "final"}]}
    waits: list[float] = []
    client: Any = Moving(begun, seen, done)
    assert wait_for(client, "/x", "success", waits.append) == seen
    assert wait_for(client, "/x", "final", waits.append) == done
    assert len(waits) == 1
    client = Moving(begun)
    with pytest.raises(click.ClickException, match="After 120 s the order is created, and not final"):
        wait_for(client, "/x", "final", waits.append)


@pytest.mark.parametrize(
    ("text", "amount", "decimals", "written"),
    [
        ("12.50", "1250", 2, "12.50 X"),
        ("0.000001", "1", 6, "0.000001 X"),
        ("3", "3", 0, "3 X"),
        ("1.10000", "110000", 5, "1.10 X"),
    ],
)
def test_prices_are_exact(text: str, amount: str, decimals: int, written: str) -> None:
    price = parse_price(text, "X")
    assert price == {"currency": "X", "amount": amount, "decimals": decimals}
    assert write_price(price) == written

"""The commands of integrators, against the service as `checkout up` starts it."""

from __future__ import annotations

import json
import queue
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from pytest_httpserver import HTTPServer
from standardwebhooks import Webhook
from werkzeug import Request, Response

from api.cli.commands import main
from api.cli.http import ServiceAway
from api.cli.listening import LONGEST_S, POLL_S, derive_secret, follow_events
from api.cli.orders import parse_price
from api.cli.shown_orders import describe, list_parts, write_price
from api.cli.waiting import wait_for
from tests.support.running import RunningService, run_service

pytestmark = [pytest.mark.xdist_group("cli_http"), pytest.mark.timeout(240)]
PATIENCE_S = 60
LINK = ("links", "create", "--amount", "12.50", "--currency", "USDC", "--item", "Tea", "2", "--success-url")
SHOP = "http://localhost:3000/paid"


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with run_service(tmp_path_factory.mktemp("data")) as running:
        yield running


def read_json(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_link_is_made_shown_and_listed(service: RunningService) -> None:
    made = read_json(service.run(*LINK, SHOP, "--metadata", "cart=7", "--json"))
    order_id = made["payment_order_id"]
    assert made["payment_url"] == f"{service.url}/payment/{order_id}"
    assert made["order_price"] == {"currency": "USDC", "amount": 1250, "decimals": 2, "amount_string": "1250"}
    order = read_json(service.run("orders", "show", order_id, "--json"))
    assert order["order_price"] == {"currency": "USDC", "amount": 1250, "decimals": 2, "amount_string": "1250"}
    assert order["line_items"] == [{"title": "Tea", "quantity": 2}]
    assert (order["cancel_callback_url"], order["metadata"]) == (SHOP, {"cart": "7"})
    shown = service.run("orders", "show", order_id).stdout
    assert re.search(r"^price: +12\.50 USDC$", shown, re.MULTILINE)
    assert re.search(r"^items: +2 × Tea$", shown, re.MULTILINE)
    assert "\ntimeline\nat " in shown
    listed = service.run("orders", "list", "--limit", "1")
    header, row = listed.stdout.splitlines()
    assert row.index("12.50 USDC") == header.index("price")
    assert row.startswith(order_id)
    assert "There are more: --cursor" in listed.stderr
    (first,) = [
        json.loads(line) for line in service.run("orders", "list", "--limit", "1", "--json").stdout.splitlines()
    ]
    assert first["payment_order_id"] == order_id
    older = service.run("orders", "list", "--status", "created", "--status", "failed", "--cursor", order_id).stdout
    assert order_id not in older
    assert "42.50 USDC" in older


def test_a_test_order_is_paid_and_paid_again(service: RunningService) -> None:
    order_id = read_json(service.run(*LINK, SHOP, "--json"))["payment_order_id"]
    said = service.run("orders", "simulate", order_id, "pay").stdout
    assert said == f"pay happens to {order_id}; `checkout orders show {order_id}` shows what comes of it.\n"
    assert read_json(service.run("orders", "show", order_id, "--wait", "success", "--json"))["status_reason"] == ""
    again = read_json(service.run("orders", "simulate", order_id, "pay", "--json"))
    assert again["payment_order_id"] == order_id
    refused = service.run("orders", "simulate", order_id, "burn")
    assert (refused.returncode, "Must be one of pay" in refused.stderr) == (1, True)
    stray = service.run("orders", "simulate", order_id, "pay", "--without-reference")
    assert stray.returncode == 0, stray.stderr


def test_a_link_is_made_of_a_file_and_once_for_a_key(service: RunningService, tmp_path: Path) -> None:
    body = {"line_items": [{"title": "Pot", "quantity": 1}], "metadata": {"note": "é"}}
    (tmp_path / "link.json").write_text(json.dumps(body))
    words = ("links", "create", "--file", str(tmp_path / "link.json"), "--amount", "3", "--success-url", SHOP)
    made = [read_json(service.run(*words, "--idempotency-key", "k1", "--json")) for _ in range(2)]
    assert made[0] == made[1]
    order = read_json(service.run("orders", "show", made[0]["payment_order_id"], "--json"))
    assert (order["metadata"], order["order_price"]["amount"]) == ({"note": "é"}, 3)


@contextmanager
def listen(service: RunningService, *words: str) -> Iterator[Callable[[str], str]]:
    """Run the command; give a function that waits for a line with a pattern in it."""
    process = service.begin("webhooks", "listen", *words)
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)

    reader = threading.Thread(target=read)
    reader.start()

    def expect(pattern: str) -> str:
        while True:
            line = lines.get(timeout=PATIENCE_S)
            if re.search(pattern, line):
                return line

    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout, process.stderr:
        try:
            if "--json" in words:  # what is no JSON is told beside it
                assert "Ready!" in process.stderr.readline()
            yield expect
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0, process.stderr.read()
            reader.join()


class Receiver:
    """A merchant's program that verifies what comes."""

    def __init__(self, server: HTTPServer) -> None:
        self.taken: queue.Queue[tuple[str, dict[str, Any]]] = queue.Queue()
        self.secret = ""
        self.url = f"http://127.0.0.1:{server.port}/hook"
        server.expect_request("/hook", method="POST").respond_with_handler(self._take)

    def _take(self, request: Request) -> Response:
        body = Webhook(self.secret).verify(request.get_data(), dict(request.headers))
        self.taken.put((request.headers["webhook-id"], body["event"]))
        return Response(status=204)

    def expect(self, kind: str, order_id: str) -> str:
        while True:
            event_id, event = self.taken.get(timeout=PATIENCE_S)
            if (event["type"], event["data"]["payment_order_id"]) == (kind, order_id):
                return event_id


def test_orders_are_found_by_what_they_have(service: RunningService) -> None:
    made = read_json(service.run(*LINK, SHOP, "--metadata", "cart=81", "--metadata", "shop=b", "--json"))
    found = service.run(
        "orders", "list", "--metadata", "cart=81", "--metadata", "shop=b", "--created-from", "2025-01-01T00:00:00Z"
    )
    assert made["payment_order_id"] in found.stdout
    for filters in (("--metadata", "cart=82"), ("--reason", "underpaid"), ("--created-to", "2025-01-01T00:00:00Z"),
                    ("--payer", "0x" + "1a" * 20), ("--transaction-hash", "0x" + "5f" * 32)):  # fmt: skip
        found = service.run("orders", "list", *filters)
        assert found.stdout == "", filters
        assert "No order of this key's vendor has all of this." in found.stderr
        assert ("payments unmatched --env test" in found.stderr) == ("--transaction-hash" in filters)


def test_a_link_says_its_price_in_words_and_refuses_by_option(service: RunningService) -> None:
    shown = service.run(*LINK, SHOP)
    assert re.search(r"^price: +12\.50 USDC$", shown.stdout, re.MULTILINE)
    words = ("links", "create", "--amount", "1", "--item", "T")
    refused = service.run(*words, "0", "--success-url", "x")
    assert "line_items" not in refused.stderr
    for option in ("--item: ", "--success-url: "):
        assert option in refused.stderr
    unknown = service.run(*words, "1", "--success-url", SHOP, "--currency", "XYZ")
    assert (refused.returncode, unknown.returncode) == (1, 1)
    assert "(--currency: " in unknown.stderr
    without = service.run(*words, "--success-url", SHOP)
    assert without.returncode == 2
    assert "Give a title and a quantity, such as --item Tea 1; '--success-url' is no quantity" in without.stderr


def test_a_secret_is_printed_for_a_key_that_works(service: RunningService) -> None:
    words = ("webhooks", "listen", "--print-secret")
    wrong = service.run(*words, CHECKOUT_API_KEY=TEST)
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert "The API key is not valid" in wrong.stderr
    away = service.run(*words, CHECKOUT_URL="http://127.0.0.1:9")
    assert (away.returncode, away.stdout.strip()) == (0, derive_secret(service.key))
    assert "Nobody knows whether this key works" in away.stderr


def test_what_is_triggered_comes_to_the_listener_signed(service: RunningService, httpserver: HTTPServer) -> None:
    receiver = Receiver(httpserver)
    receiver.secret = service.run("webhooks", "listen", "--print-secret").stdout.strip()
    before = read_json(service.run(*LINK, SHOP, "--json"))["payment_order_id"]
    with listen(service, "--forward-to", receiver.url.removeprefix("http://")) as expect:
        ready = expect("Ready!")
        assert receiver.url in ready
        assert receiver.secret in ready
        assert service.key not in ready
        for kind in ("payment_processing", "payment_success", "payment_failed"):
            order_id = read_json(service.run("webhooks", "trigger", kind, "--json"))["payment_order_id"]
            event_id = receiver.expect(kind, order_id)
            assert re.search(rf"--> {kind}  \[{event_id}\]  {order_id}", expect(f"--> {kind}"))
            assert re.search(rf"<-- \[204\] POST {receiver.url}  \[{event_id}\]", expect(event_id))
    assert before not in str(list(receiver.taken.queue)), "what was there before is not sent"


def test_the_listener_goes_on_when_nobody_takes_an_event(service: RunningService) -> None:
    with listen(service, "--forward-to", "http://127.0.0.1:9/hook", "--events", "payment_failed", "--json") as expect:
        for _ in range(2):
            order_id = read_json(service.run("webhooks", "trigger", "payment_failed", "--json"))["payment_order_id"]
            told = json.loads(expect("payment_failed"))
            assert (told["status"], told["error"]) == (None, "nothing listens there")
            assert told["event"]["data"]["payment_order_id"] == order_id


def test_a_refund_can_be_triggered(service: RunningService) -> None:
    order_id = read_json(service.run("webhooks", "trigger", "payment_refunded", "--json"))["payment_order_id"]
    order = read_json(service.run("orders", "show", order_id, "--json"))
    assert len(order["refunds"]) == 1


def test_a_sample_goes_to_one_webhook_signed_with_its_secret(service: RunningService, httpserver: HTTPServer) -> None:
    import requests

    receiver = Receiver(httpserver)
    body = {"webhook_url": receiver.url, "env_mode": "test"}
    headers = {"X-Api-Key": service.key}
    hooks = f"{service.url}/api/v1/webhook_subscription"
    made = requests.post(hooks, json=body, headers=headers, timeout=10).json()["data"]
    receiver.secret = made["secret"]
    done = service.run("webhooks", "trigger", "payment_success", "--webhook", made["webhook_id"], "--json")
    assert receiver.expect("payment_success", "po_00000000000000000000000000000000test") == read_json(done)["event_id"]
    requests.delete(f"{hooks}/{made['webhook_id']}", headers=headers, timeout=10)
    gone = service.run("webhooks", "trigger", "payment_success", "--webhook", made["webhook_id"])
    assert (gone.returncode, gone.stderr) == (1, "Error: There is no webhook with this id\n")


def test_a_key_that_is_revoked_stops_in_the_running_service(service: RunningService) -> None:
    words = ("Demo shop", "--env", "test", "--name", "books")
    made = read_json(service.run("keys", "create", *words, "--scope", "read", "--json"))
    assert service.run("orders", "list", CHECKOUT_API_KEY=made["key"]).returncode == 0
    narrow = service.run(*LINK, SHOP, CHECKOUT_API_KEY=made["key"])
    assert narrow.returncode == 1
    assert "The API key lacks the scope orders (X-Api-Key: Needs the scope orders; this key has read." in narrow.stderr
    assert service.run("keys", "revoke", "Demo shop", made["key_id"]).returncode == 0
    refused = service.run("orders", "list", CHECKOUT_API_KEY=made["key"])
    assert refused.returncode == 1
    assert refused.stderr == "Error: The API key is not valid (X-Api-Key: Unknown or revoked key)\n"
    assert '"last_used_at": "20' in service.run("keys", "list", "Demo shop", "--json").stdout


def test_the_doctor_finds_a_running_service_well(service: RunningService) -> None:
    done = service.run("doctor")
    assert done.returncode == 0, done.stdout
    assert "wrong" not in done.stdout
    assert "somebody does every duty" in done.stdout
    assert service.key not in done.stdout


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

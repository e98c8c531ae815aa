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

import pytest
from pytest_httpserver import HTTPServer
from standardwebhooks import Webhook
from werkzeug import Request, Response

from api.cli.listening import derive_secret
from tests.api.operation.test_cli_http_parts import TEST
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

"""Every example of the OpenAPI document is sent, and what comes back has the form of the example that it shows.

`RECORD=1 pytest tests/api/description/test_openapi_examples.py` writes the examples of answers that are missing or have
another form by now.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from api.openapi.document import list_operations
from api.openapi.examples import EVENT, FOLDER, load_example
from api.schemas.orders.payment_links import EXAMPLE
from api.schemas.routing.queries import USDC_BASE, USDC_ETHEREUM
from api.services.checkout.quotes import quote_order
from api.services.resources import Resources
from routing_engine.reference import token_registry
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.contract import Contract, read_document
from tests.support.receiver import StaticResolver
from tests.support.shop import Shop
from tests.support.simulated_payments import send as send_money
from tests.support.webhooks import Desk

pytestmark = pytest.mark.parametrize("database", ["sqlite"], indirect=True, scope="session")
"""The forms do not depend on the database."""

FINAL_S = 5
LISTS = {"data", "tokens"}
"""Of these an example shows the first item."""
LONGEST = 50_000
"""Characters of an example; a longer one is cut to the first item of each list."""
STEADY = ("payment_order_status", "status_reason", "payable", "not_payable_reason")
"""Of an order an example shows these as they are: a reader takes them at their word."""
EXAMPLE_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ID = re.compile(r"^(po|ep|evt|dlv|qt|tr|rf)_[0-9a-z]+$")


@dataclass(frozen=True)
class Day:
    """A merchant with a webhook, an order that is paid, and one that is not."""

    desk: Desk
    shop: Shop

    def create(self) -> str:
        """Return an order made by the document's own example."""
        return self.shop.create(**EXAMPLE)

    def pay(self) -> str:
        """Return an order whose payment is final, and of which the webhook knows."""
        order_id = self.create()
        self.shop.simulate(order_id, "pay")
        self.shop.wait(FINAL_S)
        self.desk.work()
        return order_id

    def pay_in_ether(self) -> str:
        """Return the same, paid over a bridge from Ethereum."""
        order_id = self.create()
        quote = quote_order(self.shop.resources, order_id, 1, token_registry.token("WETH", 1).address)
        self.shop.simulate(order_id, "pay", quote_id=quote.quote_id)
        self.shop.wait(FINAL_S)
        return order_id

    def subscribe(self) -> str:
        return str(self.desk.subscribe(self.shop.merchant)["webhook_id"])

    def find_subscription(self) -> str:
        self.desk.work()  # so that every delivery has its answer
        return str(self.shop.get("/api/v1/webhook_subscription").get_json()["data"][0]["webhook_id"])

    def find_delivery(self) -> str:
        return str(self.desk.log(self.shop.merchant, self.find_subscription())[0]["delivery_id"])

    def find_transfer(self) -> str:
        orders = self.shop.get("/api/v1/payment").get_json()["data"]
        return str(next(order["transfers"][0]["id"] for order in orders if order["transfers"]))

    def ask_back(self) -> str:
        """Return an order of which a refund is not sent yet."""
        order_id = self.pay()
        self.shop.post(f"/api/v1/payment/{order_id}/refund")
        return order_id

    def find_refund(self) -> str:
        orders = self.shop.get("/api/v1/payment").get_json()["data"]
        asked = (each for order in orders for each in order["refunds"])
        return str(next(each["id"] for each in asked if each["status"] == "requested"))

    def find_event(self) -> str:
        return str(self.shop.get("/api/v1/events").get_json()["data"][0]["id"])

    def make_quote(self) -> str:
        query = {"fromChain": 1, "toChain": 8453, "fromToken": USDC_ETHEREUM, "toToken": USDC_BASE, "fromAmount": 10**8}
        return str(self.shop.get(f"/api/v1/quote?{urlencode(query)}").get_json()["quoteId"])

    def send_stray(self) -> str:
        """Return a transfer that counts for no order."""
        send_money(self.shop, self.create(), 10**6, reference=None)
        self.shop.wait(FINAL_S)
        return str(self.shop.get("/api/v1/unmatched_transfer").get_json()["data"][0]["id"])


SOURCES: Mapping[str, Callable[[Day], str]] = {
    "order_id": Day.create,
    "subscription_id": Day.find_subscription,
    "delivery_id": Day.find_delivery,
    "event_id": Day.find_event,
    "quote_id": Day.make_quote,
    "transfer_id": Day.send_stray,
    "tr": Day.find_transfer,
    "po": Day.create,
    "rf": Day.find_refund,
}
"""Where a real id comes from, by the parameter in the path, or by the prefix of the id in an example."""
OWN_SOURCES: Mapping[str, Callable[[Day], str]] = {
    "getPaymentOrder": Day.pay_in_ether,
    "refundPaymentOrder": Day.pay,
    "cancelRefund": Day.ask_back,
    "deleteWebhookSubscription": Day.subscribe,
}
"""The same for an operation that needs another."""


NULL = type(None).__name__


@pytest.fixture
def day(resources: Resources, clock: SettableClock, merchant: Merchant, standing: Callable[..., Flask]) -> Any:
    shared = replace(resources, resolver=StaticResolver(("93.184.216.34",)))
    desk = Desk.of(shared, standing("desk", shared).test_client())
    made = Day(desk, Shop(client=desk.client, resources=shared, clock=clock, merchant=merchant))
    made.subscribe()
    made.pay()
    yield made
    desk.dispatcher.end()


def put_ids(day: Day, value: Any) -> Any:
    """Put real ids in the place of those of an example."""
    if isinstance(value, dict):
        return {name: put_ids(day, inner) for name, inner in value.items()}
    found = ID.match(value) if isinstance(value, str) else None
    return SOURCES[found[1]](day) if found else value


def send(day: Day, path: str, method: str, operation: dict[str, Any]) -> TestResponse:
    """Send the operation's example, with the merchant's key."""
    source = OWN_SOURCES.get(operation["operationId"])
    query, headers = {}, dict(day.shop.merchant.headers())
    for parameter in operation["parameters"]:
        name = parameter["name"]
        if parameter["in"] == "path":
            path = path.replace(f"{{{name}}}", (source or SOURCES[name])(day))
            continue
        example = parameter["schema"].get("example", parameter.get("example"))
        assert example is not None or not parameter.get("required"), f"{name} has no example"
        if parameter.get("style") == "deepObject":
            query |= {f"{name}[{key}]": value for key, value in (example or {}).items()}
        elif example is not None:
            (headers if parameter["in"] == "header" else query)[name] = str(example)
    content = operation.get("requestBody", {}).get("content", {})
    body = {name: media["example"] for name, media in content.items()}.get("application/json")
    return day.desk.client.open(path, method=method, query_string=query, headers=headers, json=put_ids(day, body))


def outline(value: Any) -> Any:
    """Return a value's form: names and types, of a list that of its first item; and what an order says of itself."""
    if isinstance(value, dict):
        told = {name: value[name] for name in STEADY} if value.keys() >= set(STEADY) else {}
        return {name: outline(inner) for name, inner in value.items()} | told
    return [outline(each) for each in value[:1]] if isinstance(value, list) else type(value).__name__


def agree(shown: Any, answer: Any) -> bool:
    """Compare two forms; what is null in one may be something in the other: which item comes first is not told."""
    if isinstance(shown, dict) and isinstance(answer, dict):
        return shown.keys() == answer.keys() and all(agree(shown[name], answer[name]) for name in shown)
    if isinstance(shown, list) and isinstance(answer, list):
        return len(shown) == len(answer) and all(map(agree, shown, answer))
    return shown == answer or NULL in (shown, answer)


def cut(value: Any) -> Any:
    """Keep the first item of every list."""
    if isinstance(value, dict):
        return {name: cut(inner) for name, inner in value.items()}
    return [cut(each) for each in value[:1]] if isinstance(value, list) else value


def compare(name: str, answer: Any) -> None:
    """Compare an answer's form with its example's; write the example first where that is asked for."""
    shown = load_example(name)
    if os.environ.get("RECORD") and (shown is None or outline(shown) != outline(answer)):
        firsts = {part: answer[part][:1] for part in LISTS if isinstance(answer.get(part), list)}
        whole = json.dumps(answer | firsts, indent=2, ensure_ascii=False)
        text = whole if len(whole) < LONGEST else json.dumps(cut(answer), indent=2, ensure_ascii=False)
        text = re.sub(r"whsec_[\w+/=]+", EXAMPLE_SECRET, text)
        (FOLDER / f"{name}.json").write_text(f"{text}\n", "utf-8")
        shown = load_example(name)
    assert shown is not None, f"{name}: no example of its answer; run this with RECORD=1"
    assert agree(outline(shown), outline(answer)), f"{name}: its example is out of date; run this with RECORD=1"


def test_every_example_is_sent_and_answered_as_shown(day: Day) -> None:
    document = read_document(day.desk.client.application)
    contract, failures, count = Contract(document), [], 0
    for path, method, operation in list_operations(document):
        answer, name = send(day, path, method, operation), operation["operationId"]
        count += 1
        if answer.status_code != 200:
            failures.append((name, answer.status_code, answer.get_json(silent=True)))
        elif answer.mimetype == "application/json":
            compare(name, answer.get_json())
        elif answer.mimetype == "text/csv":
            shown = operation["responses"]["200"]["content"]["text/csv"]["example"]
            assert answer.get_data(as_text=True).splitlines()[0].removeprefix("\ufeff") == shown.splitlines()[0]
        else:
            *events, rest = answer.get_data(as_text=True).split("\n\n")
            shown = operation["responses"]["200"]["content"]["text/event-stream"]["example"]
            assert rest == ""
            for event in (*events, shown.strip()):
                message = json.loads(event.removeprefix("data: "))
                contract.check_value({"$ref": "#/components/schemas/StreamMessage"}, message, name)
            assert json.loads(events[-1].removeprefix("data: "))["type"] == "done"
    assert not failures
    assert count > 20


def test_the_example_of_an_event_is_one_that_was_sent(day: Day) -> None:
    sent = [json.loads(each.body) for each in day.desk.transport.sent if b"payment_success" in each.body]
    assert sent
    compare(EVENT, sent[0])
    contract = Contract(read_document(day.desk.client.application))
    for each in day.desk.transport.sent:
        contract.check_value({"$ref": "#/components/schemas/WebhookBody"}, json.loads(each.body), "event")


def test_every_shown_example_is_valid(day: Day) -> None:
    document = read_document(day.desk.client.application)
    contract, count = Contract(document), 0
    for where, example, schema in list_examples(document):
        contract.check_value(schema, example, where)
        count += 1
    assert count > 40


def list_examples(document: dict[str, Any]) -> list[tuple[str, Any, dict[str, Any]]]:
    """Return every example of a body or an answer, with where it stands and its schema."""
    found = []
    items = [*document["paths"].values(), *document["webhooks"].values()]
    operations = [operation for item in items for operation in item.values()]
    for operation in operations:
        bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
        media = [each for body in bodies for each in body.get("content", {}).values()]
        found += [(operation["operationId"], each["example"], each["schema"]) for each in media if "example" in each]
    for name, response in document["components"]["responses"].items():
        found += [(name, each["example"], each["schema"]) for each in response["content"].values()]
    return found

"""The example shop sells, hears of it, delivers once and gives the money back, as a program of its own."""

from __future__ import annotations

import re
import runpy
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import pytest
import requests

from tests.docs.test_guide_commands import GUIDE, SHOP, make_reader
from tests.support.console import Reader, count_commands
from tests.support.running import RunningService
from tests.support.webhook_receivers import Delivery, list_forged, wait_for_answer

pytestmark = [pytest.mark.xdist_group("guide"), pytest.mark.timeout(240)]
PATIENCE_S = 60
PRICE, PAID = (2500, 2), 25_000_000
"""Of a teapot: as the shop asks for it, and in units of USDC."""
TEXT = (GUIDE / SHOP).read_text(encoding="utf-8")
BEFORE, _, AFTER = TEXT.partition("Open <http://127.0.0.1:5000>")
TERMINAL = "Terminal 2"


@dataclass
class RunningShop:
    """The shop as the guide's reader has started it, and the service that it uses."""

    url: str
    reader: Reader
    service: RunningService

    def call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Ask the service."""
        answer = requests.request(
            method, f"{self.service.url}/api/v1{path}", json=body, headers={"X-Api-Key": self.service.key}, timeout=60
        )
        answer.raise_for_status()
        found: dict[str, Any] = answer.json()
        return found

    def buy(self, cart: str) -> requests.Response:
        """Press the button of the product's page."""
        return requests.post(f"{self.url}/buy", data={"cart": cart}, allow_redirects=False, timeout=PATIENCE_S)

    def show(self, cart: str) -> str:
        """Read the order's page."""
        return requests.get(f"{self.url}/orders/{cart}", timeout=PATIENCE_S).text

    def count_deliveries(self, cart: str) -> int:
        """Return how often the goods were sent."""
        return self.reader.printed[TERMINAL].read_text().count(f"deliver {cart}")

    def has_heard_all(self, order_id: str) -> bool:
        """Tell whether every event of an order that there is has come."""
        hooks = self.call("GET", "/webhook_subscription")["data"]
        (mine,) = (each["webhook_id"] for each in hooks if each["webhook_url"] == f"{self.url}/webhooks")
        told = self.call("GET", f"/webhook_subscription/{mine}/deliveries?limit=100")["data"]
        return {each["status"] for each in told if each["payment_order_id"] == order_id} == {"delivered"}

    def wait(self, cart: str, words: str) -> None:
        """Wait until the order's page says this status."""
        wait_until(lambda: f"<b>{words}</b>" in self.show(cart), lambda: self.show(cart))


def wait_until(is_so: Callable[[], bool], say: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, say()
        time.sleep(0.1)


@pytest.fixture(scope="module")
def shop(guide_service: RunningService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningShop]:
    """The shop, started by the commands of its page."""
    with make_reader(guide_service, SHOP, tmp_path_factory.mktemp("shop")) as reader:
        assert reader.follow(BEFORE) == count_commands(BEFORE)
        url = reader.fill("http://127.0.0.1:5000")
        wait_for_answer(url)
        yield RunningShop(url=url, reader=reader, service=guide_service)
        # Nothing of another test is to go to an address where nobody listens any more.
        for each in requests.get(
            f"{guide_service.url}/api/v1/webhook_subscription", headers={"X-Api-Key": guide_service.key}, timeout=60
        ).json()["data"]:
            if each["webhook_url"] == f"{url}/webhooks":
                path = f"{guide_service.url}/api/v1/webhook_subscription/{each['webhook_id']}"
                requests.delete(path, headers={"X-Api-Key": guide_service.key}, timeout=60).raise_for_status()


@pytest.fixture
def cart(shop: RunningShop) -> str:
    """A cart, as the product's page gives one to each who opens it."""
    found = re.search(r'name="cart" value="(\w+)"', requests.get(shop.url, timeout=PATIENCE_S).text)
    assert found
    return found[1]


@pytest.fixture
def order_id(shop: RunningShop, cart: str) -> str:
    """The order of that cart."""
    return shop.buy(cart).headers["Location"].rpartition("/")[2]


def test_a_sale_from_the_page_to_the_refund(shop: RunningShop, cart: str) -> None:
    bought, again = shop.buy(cart), shop.buy(cart)
    assert (bought.status_code, again.status_code) == (303, 303)
    order_id = bought.headers["Location"].rpartition("/")[2]
    assert bought.headers["Location"] == again.headers["Location"] == f"{shop.service.url}/payment/{order_id}"
    order = shop.call("GET", f"/payment/{order_id}")
    assert (order["order_price"]["amount"], order["order_price"]["decimals"]) == PRICE
    assert order["success_callback_url"] == f"{shop.url}/orders/{cart}"
    assert "created" in shop.show(cart)
    assert shop.count_deliveries(cart) == 0

    shop.call("POST", f"/payment/{order_id}/simulate", {"action": "pay"})
    shop.wait(cart, "success")
    assert shop.count_deliveries(cart) == 1

    shop.reader.replaced = {**shop.reader.replaced, "orders/…/refund": f"orders/{cart}/refund"}
    assert shop.reader.follow(AFTER) == count_commands(AFTER) == 1
    shop.wait(cart, "refunded")
    assert "was sent back" in shop.show(cart)
    assert "on its way to you" not in shop.show(cart)
    (refund,) = shop.call("GET", f"/payment/{order_id}")["refunds"]
    assert int(refund["amount"]) == PAID
    wait_until(lambda: refund_again(shop, cart) == "final", lambda: refund_again(shop, cart))
    assert len(shop.call("GET", f"/payment/{order_id}")["refunds"]) == 1
    assert shop.count_deliveries(cart) == 1


def refund_again(shop: RunningShop, cart: str) -> str:
    """Click on *Refund* a second time; return how far the refund is by now."""
    return str(send_back(shop, cart)[0]["status"])


def send_back(shop: RunningShop, cart: str, **form: str) -> list[dict[str, str]]:
    answer = requests.post(f"{shop.url}/orders/{cart}/refund", form, auth=("owner", "teapot"), timeout=60)
    assert answer.status_code == 200, answer.text
    refunds: list[dict[str, str]] = answer.json()["refunds"]
    return refunds


def test_only_what_is_too_much_goes_back_and_later_the_rest(shop: RunningShop, cart: str, order_id: str) -> None:
    shop.call("POST", f"/payment/{order_id}/simulate", {"action": "wrong_token"})
    shop.wait(cart, "processing wrong_token")
    shop.call("POST", f"/payment/{order_id}/simulate", {"action": "overpay"})
    shop.wait(cart, "success overpaid")
    came = {each["id"]: int(each["amount"]) for each in shop.call("GET", f"/payment/{order_id}")["transfers"]}
    wrong, paid = came.values()
    first = send_back(shop, cart, only="excess")
    assert [int(each["amount"]) for each in first] == [wrong, paid - PAID]
    shop.wait(cart, "success partially_refunded")
    assert len(send_back(shop, cart, only="excess")) == len(first)
    assert "on its way to you" in shop.show(cart)

    rest = send_back(shop, cart)
    assert [int(each["amount"]) for each in rest] == [wrong, paid - PAID, PAID]
    shop.wait(cart, "refunded")
    assert shop.count_deliveries(cart) == 1


def test_what_no_webhook_brought_is_caught_up_with(shop: RunningShop, cart: str, order_id: str) -> None:
    database = shop.reader.folder / "shop.db"
    shop.call("POST", f"/payment/{order_id}/simulate", {"action": "pay"})
    shop.wait(cart, "success")
    wait_until(lambda: shop.has_heard_all(order_id), lambda: order_id)
    with closing(sqlite3.connect(database)) as opened, opened:  # as if nothing had been heard of it
        opened.execute("UPDATE orders SET status = 'created', changed_at = 0, delivered = 0 WHERE cart = ?", [cart])
    assert "on its way to you" not in shop.show(cart)
    shop.reader.run(TERMINAL, "flask catch-up", [])
    assert "<b>success</b>" in shop.show(cart)
    assert "on its way to you" in shop.show(cart)


def test_others_buy_while_the_service_lets_one_wait(
    shop: RunningShop, cart: str, order_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("CHECKOUT_URL", shop.service.url), ("CHECKOUT_API_KEY", shop.service.key)):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SHOP_DATABASE", str(shop.reader.folder / "shop.db"))
    program = runpy.run_path(str(GUIDE / "shop" / "shop.py"))
    read = program["checkout"].orders.get

    def wait(order_id: str) -> object:
        assert program["find_order"](cart)  # opens a transaction of its own, at this very moment
        return read(order_id)

    monkeypatch.setattr(program["checkout"].orders, "get", wait)
    program["update"](order_id)
    program["checkout"].close()


def test_subscribing_again_keeps_the_one_webhook(shop: RunningShop) -> None:
    first, again = (shop.reader.run(TERMINAL, "flask subscribe", ["whsec_…"]).strip() for _ in range(2))
    assert first != again
    mine = [
        each for each in shop.call("GET", "/webhook_subscription")["data"] if each["webhook_url"].startswith(shop.url)
    ]
    assert len(mine) == 1


def test_events_that_come_twice_deliver_once(shop: RunningShop, cart: str, order_id: str) -> None:
    shop.call("POST", f"/payment/{order_id}/simulate", {"action": "pay"})
    shop.wait(cart, "success")
    webhook = next(
        each["webhook_id"]
        for each in shop.call("GET", "/webhook_subscription")["data"]
        if each["webhook_url"] == f"{shop.url}/webhooks"
    )
    path = f"/webhook_subscription/{webhook}/deliveries"
    mine = [each for each in shop.call("GET", path)["data"] if each["payment_order_id"] == order_id]
    assert {each["event_type"] for each in mine} == {"payment_processing", "payment_success"}
    wait_until(
        lambda: all(
            each["status"] == "delivered"
            for each in shop.call("GET", path)["data"]
            if each["payment_order_id"] == order_id
        ),
        lambda: shop.call("GET", path),
    )
    for each in mine:  # also those that are out of date by now
        shop.call("POST", f"/webhook_delivery/{each['delivery_id']}/redeliver")
    wait_until(
        lambda: all(
            len(each["attempts"]) > 1 and each["status"] == "delivered"
            for each in shop.call("GET", path)["data"]
            if each["payment_order_id"] == order_id
        ),
        lambda: shop.call("GET", path),
    )
    assert "<b>success</b>" in shop.show(cart)
    assert shop.count_deliveries(cart) == 1


def test_what_is_not_paid_is_not_delivered(shop: RunningShop, cart: str, order_id: str) -> None:
    assert requests.get(f"{shop.url}/orders/{cart}?success=true", timeout=60).status_code == 200
    shop.call("POST", f"/payment/{order_id}/simulate", {"action": "underpay"})
    shop.wait(cart, "processing underpaid")
    shop.call("POST", f"/payment/{order_id}/simulate", {"action": "expire"})
    shop.wait(cart, "failed underpaid")
    assert shop.count_deliveries(cart) == 0


def test_a_late_payment_is_delivered(shop: RunningShop, cart: str, order_id: str) -> None:
    shop.call("POST", f"/payment/{order_id}/simulate", {"action": "pay_late"})
    shop.wait(cart, "success paid_late")
    assert shop.count_deliveries(cart) == 1


def test_strangers_get_nothing(shop: RunningShop, cart: str, order_id: str, delivery: Delivery) -> None:
    body = delivery.body.replace(b"payment_order_id", b'payment_order_id":"' + order_id.encode() + b'","x')
    for name, forged in [("another's secret", delivery), *list_forged(delivery), ("made up", delivery.sign(body=body))]:
        answer = requests.post(f"{shop.url}/webhooks", data=forged.body, headers=forged.headers, timeout=60)
        assert answer.status_code == 400, name
    for auth in (None, ("owner", ""), ("owner", "kettle")):
        assert requests.post(f"{shop.url}/orders/{cart}/refund", auth=auth, timeout=60).status_code == 401
    assert requests.post(f"{shop.url}/orders/{cart}/refund", auth=("owner", "teapot"), timeout=60).status_code == 409
    for bad in ("", "7", "../../admin", "<script>"):
        assert shop.buy(bad).status_code == 400, bad
    assert requests.get(f"{shop.url}/orders/{uuid.uuid4().hex}", timeout=60).status_code == 404
    answer = requests.post(
        f"{shop.url}/buy",
        data={"cart": uuid.uuid4().hex, "amount": "1", "price": "1"},
        allow_redirects=False,
        timeout=60,
    )
    bought = answer.headers["Location"].rpartition("/")[2]
    price = shop.call("GET", f"/payment/{bought}")["order_price"]
    assert (price["amount"], price["decimals"]) == PRICE
    assert shop.count_deliveries(cart) == 0


def test_it_is_as_long_as_the_page_says() -> None:
    assert len((GUIDE / "shop" / "shop.py").read_text(encoding="utf-8").splitlines()) <= 180
    assert "180 lines" in TEXT

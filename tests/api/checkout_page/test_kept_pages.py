"""Pages that are kept: the same bytes as written anew, never an old state, another order or language."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import brotli
import pytest
from flask import Flask
from flask.testing import FlaskClient

from api.app import build_app
from api.blueprints import payment_page
from api.domain.env import EnvMode
from api.domain.simulation import Action
from api.services.orders.commands import NewLink, cancel, create_link
from api.services.resources import Resources
from api.services.settlement.watching.watcher import watch
from api.services.simulator.actions import simulate
from api.services.vendors.brands import change_brand
from api.web import kept_pages
from api.web.kept_pages import BESIDE, KeptPages
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock

LANGUAGES = ("en", "de", "ar", "es-MX")


@pytest.fixture
def make_order(resources: Resources, merchant: Merchant) -> Callable[..., str]:
    """Make a test order and return its id."""

    def make(title: str = "Tea") -> str:
        link = NewLink(
            line_items=({"title": title, "quantity": 2},),
            order_price={"currency": "USDC", "amount": 42_500_000, "decimals": 6},
            env_mode=EnvMode.TEST,
            success_callback_url="https://shop.example/done",
            cancel_callback_url="https://shop.example/cart",
            failure_callback_url="https://shop.example/failed",
        )
        return str(create_link(resources, merchant.id, link)["payment_order_id"])

    return make


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The templates that are filled in from now on."""
    names: list[str] = []
    render = payment_page.render

    def note(name: str, *values: object, **named: object) -> str:
        names.append(name)
        return render(name, *values, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(payment_page, "render", note)
    return names


def ask(client: FlaskClient, order_id: str, **headers: str) -> tuple[int, bytes, str]:
    answer = client.get(f"/payment/{order_id}", headers={name.replace("_", "-"): it for name, it in headers.items()})
    return answer.status_code, answer.data, answer.headers["ETag"]


@pytest.fixture
def ask_anew(resources: Resources) -> Callable[..., tuple[int, bytes, str]]:
    """Ask another application, which has kept nothing."""
    app = build_app(resources)

    def ask_it(order_id: str, **headers: str) -> tuple[int, bytes, str]:
        kept_pages.install(app)
        return ask(app.test_client(), order_id, **headers)

    return ask_it


def test_a_page_is_written_once_while_nothing_happens(
    client: FlaskClient, make_order: Callable[..., str], written: list[str], clock: SettableClock
) -> None:
    order_id = make_order()
    first = ask(client, order_id)
    clock.advance(seconds=5)
    assert [ask(client, order_id) for _ in range(3)] == [first] * 3
    assert written == ["payment.html"]


def test_what_is_kept_is_what_would_be_written(
    client: FlaskClient, make_order: Callable[..., str], ask_anew: Callable[..., tuple[int, bytes, str]]
) -> None:
    orders = [make_order(title) for title in ("Tea", "Cake")]
    asked = [(order_id, language) for order_id in orders for language in LANGUAGES]
    for _ in range(2):
        found = [ask(client, order_id, Accept_Language=language) for order_id, language in asked]
        assert found == [ask_anew(order_id, Accept_Language=language) for order_id, language in asked]
        assert len(set(found)) == len(asked)


@pytest.mark.parametrize("action", [Action.PAY, Action.EXPIRE, "cancel", "brand", "time"])
def test_whatever_happens_is_on_the_page_at_once(
    client: FlaskClient,
    resources: Resources,
    merchant: Merchant,
    make_order: Callable[..., str],
    clock: SettableClock,
    ask_anew: Callable[..., tuple[int, bytes, str]],
    action: str,
) -> None:
    order_id = make_order()
    before = ask(client, order_id)
    match action:
        case "cancel":
            cancel(resources, merchant.id, EnvMode.TEST, order_id)
        case "brand":
            with resources.database.write() as session:
                change_brand(session, merchant.id, EnvMode.TEST, {"display_name": "Another"}, None, clock.now())
        case "time":
            clock.advance(days=30)
        case _:
            simulate(resources, order_id, Action(action))
            for seconds in (1, 10):
                clock.advance(seconds=seconds)
                watch(resources)
    after = ask(client, order_id)
    assert after != before
    assert after == ask_anew(order_id)


def test_short_forms_are_the_page(client: FlaskClient, make_order: Callable[..., str]) -> None:
    order_id = make_order()
    for _ in range(2):
        _, plain, tag = ask(client, order_id)
        packed = {name: ask(client, order_id, Accept_Encoding=name) for name in ("br", "gzip")}
        assert brotli.decompress(packed["br"][1]) == gzip.decompress(packed["gzip"][1]) == plain
        assert {each[2] for each in packed.values()} == {tag}
    assert ask(client, order_id, If_None_Match=tag)[:2] == (304, b"")
    answer = client.get(f"/payment/{order_id}", headers={"Accept-Encoding": "br"})
    assert answer.headers["Content-Encoding"] == "br"
    assert "Accept-Encoding" in answer.headers["Vary"]


def test_the_page_that_was_not_asked_for_longest_goes_first(app: Flask) -> None:
    pages = KeptPages(most_bytes=3 * (BESIDE + 10))
    made: list[str] = []

    def write(name: str) -> bytes:
        def make() -> str:
            made.append(name)
            return name * 10

        return pages.write(name, name, make).body

    for name in "abcabda":
        assert write(name) == name.encode() * 10
    assert made == list("abcd")
    write("c")
    assert made == list("abcdc")
    assert isinstance(app.extensions[kept_pages.EXTENSION], KeptPages)


def test_a_page_that_is_larger_than_all_room_is_not_kept() -> None:
    pages = KeptPages(most_bytes=10)
    for text in ("one", "other"):
        assert pages.write("name", text, lambda text=text: text).body == text.encode()  # type: ignore[misc]
    assert not pages._pages
    assert pages._bytes == 0

"""What a vendor looks like: by whom it is set, what is refused, and what strangers can make of its files."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from api.checkout_page.language import strings
from api.checkout_page.look.branding import find_contact, name_stylesheet
from api.cli.commands import main
from api.domain.pictures import MAX_BYTES
from api.services.orders.views import PublicOrder, load_public_order
from api.services.resources import Resources
from api.storage.tables import VendorBrand
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.pictures import chunk, make_jpeg, make_png
from tests.support.shop import Shop

PATH = "/api/v1/branding"
PNG = make_png()
WHOLE = {"display_name": "Tea House", "accent_color": "#FFDD00", "support": "help@tea.example"}
RLO, ZWSP = "\N{RIGHT-TO-LEFT OVERRIDE}", "\N{ZERO WIDTH SPACE}"
NOTHING = {
    "env_mode": "test",
    "display_name": "",
    "accent_color": "",
    "support": "",
    "logo_url": "",
    "updated_at": None,
}


@pytest.fixture
def change(client: FlaskClient, merchant: Merchant) -> Callable[..., Any]:
    """Change the look with the merchant's key."""

    def send(body: object, env_mode: str = "test") -> Any:
        return client.patch(PATH, json=body, headers=merchant.headers(env_mode))

    return send


def encode(picture: bytes) -> str:
    return base64.b64encode(picture).decode()


def public(resources: Resources, order_id: str) -> PublicOrder:
    return load_public_order(resources, order_id)


def test_a_look_is_set_in_parts_and_read_back(shop: Shop, change: Callable[..., Any], clock: SettableClock) -> None:
    assert shop.get(PATH).get_json() == NOTHING
    first = change(WHOLE).get_json()
    assert first == {**NOTHING, **WHOLE, "accent_color": "#ffdd00", "updated_at": "2026-03-01T12:00:00.000Z"}
    clock.advance(seconds=60)
    second = change({"logo": encode(PNG)}).get_json()
    assert second["logo_url"].startswith("https://pay.example/brand/")
    assert second["logo_url"].endswith(".png")
    assert second["updated_at"] == "2026-03-01T12:01:00.000Z"
    assert {name: second[name] for name in WHOLE} == {name: first[name] for name in WHOLE}
    assert shop.get(PATH).get_json() == second


def test_the_same_again_changes_nothing(change: Callable[..., Any], clock: SettableClock) -> None:
    body = {**WHOLE, "logo": encode(PNG)}
    first = change(body).get_json()
    clock.advance(seconds=60)
    assert change(body).get_json() == first
    assert change({}).get_json() == first


def test_a_choice_is_taken_back(shop: Shop, change: Callable[..., Any]) -> None:
    logo_url = change({**WHOLE, "logo": encode(PNG)}).get_json()["logo_url"]
    cleared = change({"display_name": "", "accent_color": "", "support": "", "logo": ""}).get_json()
    assert {**cleared, "updated_at": None} == NOTHING
    assert shop.client.get(logo_url).status_code == 404
    assert public(shop.resources, shop.create()).vendor_name == "Tea & Co"


def test_an_order_shows_it_whenever_it_was_made(shop: Shop, change: Callable[..., Any]) -> None:
    order_id = shop.create()
    before = public(shop.resources, order_id)
    assert (before.vendor_name, before.vendor_accent, before.vendor_support) == ("Tea & Co", "", "")
    change({**WHOLE, "logo": encode(PNG)})
    after = public(shop.resources, order_id)
    assert (after.vendor_name, after.vendor_accent, after.vendor_support) == (
        "Tea House", "#ffdd00", "help@tea.example",
    )  # fmt: skip
    text = shop.client.get(f"/payment/{order_id}").text
    assert f'href="{name_stylesheet("#ffdd00")}"' in text
    assert f'src="/brand/{after.vendor_logo}"' in text
    assert f"mailto:help@tea.example?subject=Order%20{order_id}" in text
    assert "style=" not in text


def test_each_vendor_and_each_environment_has_its_own(
    client: FlaskClient, shop: Shop, change: Callable[..., Any], other_merchant: Merchant, merchant: Merchant
) -> None:
    change({**WHOLE, "logo": encode(PNG)})
    for headers in (merchant.headers("live"), other_merchant.headers(), other_merchant.headers("live")):
        seen = client.get(PATH, headers=headers).get_json()
        assert {**seen, "env_mode": "test"} == NOTHING
    other = {"display_name": "Rival", "support": "https://rival.example/help"}
    assert client.patch(PATH, json=other, headers=other_merchant.headers()).status_code == 200
    assert shop.get(PATH).get_json()["display_name"] == "Tea House"
    assert public(shop.resources, shop.create_live()).vendor_name == "Tea & Co"


def test_nobody_sets_it_without_a_key(client: FlaskClient, assert_error: Callable[..., None]) -> None:
    assert_error(client.get(PATH), 401)
    assert_error(client.patch(PATH, json=WHOLE), 401)
    assert_error(client.patch(PATH, json=WHOLE, headers={"X-Api-Key": f"sk_test_{'x' * 43}"}), 401)


@pytest.mark.in_turns
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("display_name", "x" * 101),
        ("display_name", f"Tea{RLO}oC &"),
        ("display_name", f"Te{ZWSP}a"),
        ("display_name", "Tea\nCo"),
        ("display_name", " Tea"),
        ("display_name", "Tea  Co"),
        ("display_name", " "),
        ("display_name", "\N{ZERO WIDTH JOINER}"),
        ("display_name", "…"),
        ("display_name", "T\x00"),
        ("display_name", 5),
        ("display_name", None),
        ("accent_color", "red"),
        ("accent_color", "#fff"),
        ("accent_color", "3346d3"),
        ("accent_color", "#3346d3;"),
        ("accent_color", "#33\N{FULLWIDTH DIGIT FOUR}6d3"),
        ("accent_color", "}*{a:b"),
        ("support", "javascript:alert(1)"),
        ("support", "data:text/html,x"),
        ("support", "http://tea.example"),
        ("support", "//tea.example"),
        ("support", "https://"),
        ("support", "https://user:secret@tea.example/"),
        ("support", "https://tea.example\\@evil.example"),
        ("support", "https://tea.example/\"onclick='x'"),
        ("support", "https://tea.example/ x"),
        ("support", f"https://tea.example/{RLO}moc.live"),
        ("support", "https://tea.example:99999/"),
        ("support", "https://[::1/"),
        ("support", "https://tea.example/" + "x" * 2048),
        ("support", "help"),
        ("support", "@tea.example"),
        ("support", "help@tea"),
        ("support", "help@tea..example"),
        ("support", "help@-tea.example"),
        ("support", "help@tea.example?cc=evil@evil.example"),
        ("support", "help@tea.example,evil@evil.example"),
        ("support", "help%0abcc:evil@tea.example"),
        ("support", '"help me"@tea.example'),
        ("support", "help@tea.example\n"),
        ("support", "h\N{CYRILLIC SMALL LETTER IE}lp@tea.example"),
        ("support", f"{'x' * 65}@tea.example"),
        ("support", f"help@{'tea.' * 70}example"),
        ("logo", "not base64"),
        ("logo", encode(PNG)[:-4]),
        ("logo", f"data:image/png;base64,{encode(PNG)}"),
        ("logo", encode(b"<svg xmlns='http://www.w3.org/2000/svg'/>")),
        ("logo", encode(PNG + b"<script>alert(1)</script>")),
        ("logo", encode(make_png(5000, 5000))),
        ("logo", encode(make_png(extra=chunk(b"tEXt", bytes(MAX_BYTES))))),
        ("logo", ["x"]),
        ("logo", None),
        ("vendor_id", "ven_1"),
        ("env_mode", "live"),
    ],
)
def test_what_could_mislead_is_refused_by_name(
    shop: Shop, change: Callable[..., Any], assert_error: Callable[..., None], name: str, value: object
) -> None:
    kept = {"display_name": "Tea House"}
    change(kept)
    answer = change({**kept, "display_name": "Other", name: value})
    assert_error(answer, 400)
    assert [row["path"] for row in answer.get_json()["error"]] == [name]
    assert shop.get(PATH).get_json()["display_name"] == "Tea House", "nothing of it is taken"


def test_everything_that_is_wrong_is_named(change: Callable[..., Any]) -> None:
    answer = change({"display_name": " ", "accent_color": "red", "support": "x", "logo": encode(b"x")})
    assert {row["path"] for row in answer.get_json()["error"]} == {"display_name", "accent_color", "support", "logo"}


@pytest.mark.parametrize(
    ("support", "href", "text"),
    [
        ("help@tea.example", "mailto:help@tea.example?subject=Order%20{id}", "help@tea.example"),
        ("h.e+l_p-1@sub.tea.example", "mailto:h.e%2Bl_p-1@sub.tea.example?subject=Order%20{id}", None),
        ("https://tea.example/help?a=1&b=%20#top", "https://tea.example/help?a=1&b=%20#top", "tea.example"),
        ("https://xn--t-zfa.example:8443", "https://xn--t-zfa.example:8443", "xn--t-zfa.example:8443"),
    ],
)
def test_a_contact_becomes_a_link(
    shop: Shop, change: Callable[..., Any], support: str, href: str, text: str | None
) -> None:
    assert change({"support": support}).status_code == 200
    order_id = shop.create()
    contact = find_contact(public(shop.resources, order_id), strings.load())
    assert contact is not None
    assert (contact.href, contact.text) == (href.format(id=order_id), text or support)


def test_what_is_stored_is_not_believed_either(shop: Shop, resources: Resources, change: Callable[..., Any]) -> None:
    change(WHOLE)
    with resources.database.write() as session:
        session.scalars(select(VendorBrand)).one().support = "javascript:alert(1)"
    order_id = shop.create()
    assert find_contact(public(resources, order_id), strings.load()) is None
    assert "javascript" not in shop.client.get(f"/payment/{order_id}").text


@pytest.mark.parametrize(("picture", "kind"), [(PNG, "image/png"), (make_jpeg(), "image/jpeg")])
def test_a_logo_is_a_picture_and_nothing_else(
    client: FlaskClient, merchant: Merchant, change: Callable[..., Any], picture: bytes, kind: str
) -> None:
    url = change({"logo": encode(picture)}).get_json()["logo_url"]
    answer = client.get(url)
    assert (answer.status_code, answer.mimetype, answer.data) == (200, kind, picture)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert "Set-Cookie" not in answer.headers
    assert merchant.id not in url


def test_a_logo_goes_when_another_comes_unless_another_vendor_has_it_too(
    client: FlaskClient, change: Callable[..., Any], other_merchant: Merchant
) -> None:
    old = change({"logo": encode(PNG)}).get_json()["logo_url"]
    assert (
        client.patch(PATH, json={"logo": encode(PNG)}, headers=other_merchant.headers()).get_json()["logo_url"] == old
    )
    new = change({"logo": encode(make_jpeg())}).get_json()["logo_url"]
    assert [client.get(url).status_code for url in (old, new)] == [200, 200]
    client.patch(PATH, json={"logo": ""}, headers=other_merchant.headers())
    assert [client.get(url).status_code for url in (old, new)] == [404, 200]


@pytest.mark.in_turns
@pytest.mark.parametrize(
    "name",
    [
        "x", ".png", "0.png", f"{'0' * 64}.png", "ffdd00.css", "ffdd00-00000000.css", "FFDD00-00000000.css",
        "red-00000000.css", "%00.png", "..%2fx.css", f"{'0' * 5000}.png",
    ],
)  # fmt: skip
def test_other_files_are_not_there(client: FlaskClient, assert_error: Callable[..., None], name: str) -> None:
    answer = client.get(f"/brand/{name}")
    assert_error(answer, 404)
    assert "immutable" not in answer.headers.get("Cache-Control", "")


def test_a_logo_has_one_address_only(client: FlaskClient, change: Callable[..., Any]) -> None:
    url = change({"logo": encode(PNG)}).get_json()["logo_url"]
    assert client.get(url.replace(".png", ".jpg")).status_code == 404
    assert client.get(url.removesuffix(".png")).status_code == 404


def test_colours_are_kept_for_good_under_an_address_that_changes_with_them(client: FlaskClient) -> None:
    answer = client.get(name_stylesheet("#ffdd00"))
    assert (answer.status_code, answer.mimetype) == (200, "text/css")
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "--accent:" in answer.text
    assert name_stylesheet("") == ""
    assert name_stylesheet("#ffdd00") != name_stylesheet("#ffdd01")


def test_its_files_are_counted_like_pages(make_app: Callable[..., Flask]) -> None:
    client = make_app(rate_limit_page=3).test_client()
    statuses = [client.get(name_stylesheet("#ffdd00")).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]


@pytest.fixture
def run(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run the operator's command."""
    monkeypatch.setenv("DATABASE_URL", resources.config.database_url)
    monkeypatch.setenv("DATA_DIR", str(resources.config.data_dir))
    return lambda *words: CliRunner().invoke(main, ["vendors", "brand", *words])


def test_the_operator_sets_it_too(run: Callable[..., Any], shop: Shop, tmp_path: Path) -> None:
    file = tmp_path / "logo.png"
    file.write_bytes(PNG)
    words = ("--name", "Tea House", "--accent", "#FFDD00", "--support", "help@tea.example", "--logo", str(file))
    result = run("Tea & Co", "--env", "test", *words, "--json")
    assert result.exit_code == 0, result.output
    shown = json.loads(result.stdout)
    assert (shown["name"], shown["accent"], shown["support"]) == ("Tea House", "#ffdd00", "help@tea.example")
    assert shop.get(PATH).get_json()["logo_url"] == f"https://pay.example/brand/{shown['logo']}"
    assert json.loads(run("Tea & Co", "--env", "test", "--json").stdout) == shown
    cleared = json.loads(run("Tea & Co", "--env", "test", "--name", "", "--logo", "", "--json").stdout)
    assert (cleared["name"], cleared["logo"], cleared["accent"]) == ("Tea & Co", "", "#ffdd00")


def test_the_operator_is_told_what_is_wrong(run: Callable[..., Any], shop: Shop, tmp_path: Path) -> None:
    empty, svg, large = (tmp_path / name for name in ("empty.png", "logo.svg", "large.png"))
    empty.touch()
    svg.write_bytes(b"<svg/>")
    large.write_bytes(bytes(MAX_BYTES * 3))
    for words, message in (
        (("--accent", "red"), "accent_color: Expected a colour"),
        (("--support", "javascript:x"), "support: Expected an e-mail address"),
        (("--name", f"a{RLO}"), "display_name: Must be printable"),
        (("--logo", str(empty)), "The file is empty"),
        (("--logo", str(svg)), "logo: Expected a PNG, JPEG or WebP"),
        (("--logo", str(large)), "logo: Must have 1 to 40960 bytes"),
        (("--logo", str(tmp_path / "none.png")), "No such file"),
    ):
        result = run("Tea & Co", "--env", "test", *words)
        assert (result.exit_code, message in result.output) == (1, True), result.output
    assert run("Nobody", "--env", "test").exit_code == 1
    assert shop.get(PATH).get_json() == NOTHING

"""The page's answers in the customer's language; what developers read stays English."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from itertools import product

import pytest
from flask import Flask
from flask.testing import FlaskClient
from markupsafe import escape

from api.checkout_page.language.languages import MOST_TAGS, _find_locale
from api.checkout_page.language.strings import LANGUAGES, load
from routing_engine.reference import token_registry
from tests.api.conftest import Merchant
from tests.support.shop import Shop

USDC = token_registry.token("USDC", 8453)


@pytest.fixture
def path(shop: Shop) -> str:
    """Path of the page of a new test order."""
    return f"/payment/{shop.create()}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_and_answers_are_in_the_customers_language(client: FlaskClient, path: str, language: str) -> None:
    strings, headers = load(language), {"Accept-Language": f"{load(language).lang},pt;q=0.9"}
    page, status = client.get(path, headers=headers), client.get(f"{path}/status", headers=headers)
    assert re.search(rf'<html lang="{strings.lang}" dir="{strings.dir}" data-locale="[-\w]+">', page.text)
    assert strings.page["heading"] in page.text
    assert status.get_json()["title"] == strings.status["created"]["title"]
    tokens = client.get(f"{path}/tokens", headers=headers).get_json()
    assert strings.page["token_hint"] in str(tokens)
    assert page.headers["Vary"] == "Accept-Language, Cookie, X-Page-Language, Accept-Encoding"
    assert status.headers["Vary"] == "Accept-Encoding", "nobody keeps it"
    assert not any("Set-Cookie" in response.headers for response in (page, status))
    assert [each.headers["Cache-Control"] for each in (page, status)] == ["private, no-cache", "no-store"]
    missing = client.get("/payment/po_unknown", headers=headers)
    assert (missing.status_code, missing.mimetype) == (404, "text/html")
    assert escape(strings.not_found["title"]) in missing.text


def test_a_language_chosen_by_hand_is_kept_for_the_pages_of_this_browser(client: FlaskClient, path: str) -> None:
    chosen = client.get(f"{path}?lang=de", headers={"Accept-Language": "en"})
    assert chosen.headers["Set-Cookie"].startswith("checkout_language=de; ")
    assert '<html lang="de"' in chosen.text
    assert '<html lang="de"' in client.get(path, headers={"Accept-Language": "en"}).text
    assert client.get(f"{path}/status").get_json()["title"] == load("de").status["created"]["title"]
    answer = client.get(f"{path}/status?lang=ar")
    assert answer.get_json()["title"] == load("ar").status["created"]["title"]
    assert "Set-Cookie" not in answer.headers
    (cookie,) = client._cookies.values()
    assert (cookie.path, cookie.http_only, cookie.same_site) == ("/payment", True, "Lax")
    assert "Cookie" not in client.get("/healthz").headers.get("Vary", "")


def test_answers_are_in_the_language_of_the_page_that_asks(client: FlaskClient, path: str) -> None:
    client.get(f"{path}?lang=de")
    body, headers = {"chainId": 8453, "token": USDC.address}, {"X-Page-Language": "es"}
    quote = client.post(f"{path}/quote", json=body, headers=headers).get_json()
    assert quote["pay_text"] == "1,00 USDC"
    assert quote["route_text"].startswith("Directamente a ")


@pytest.mark.parametrize("path_end", ["?lang=<script>", "?lang=de%0d%0aSet-Cookie:%20a=b", "?lang=" + "x" * 3000])
def test_a_language_that_there_is_not_is_as_good_as_none(client: FlaskClient, path: str, path_end: str) -> None:
    response = client.get(path + path_end, headers={"Accept-Language": "de"})
    assert response.status_code == 200
    assert '<html lang="de"' in response.text
    assert "Set-Cookie" not in response.headers


def test_too_many_requests_are_told_in_the_customers_language(make_app: Callable[..., Flask], path: str) -> None:
    client = make_app(rate_limit_page=5).test_client()
    shown = [client.get(path, headers={"Accept-Language": "zh-CN"}) for _ in range(2)][1]
    assert (shown.status_code, shown.mimetype) == (429, "text/html")
    assert load("zh").busy["title"] in shown.text


def test_what_developers_read_stays_english(client: FlaskClient, merchant: Merchant, path: str) -> None:
    german = {"Accept-Language": "de"}
    refused = client.post(f"{path}/quote", json={"chainId": 8453}, headers=german)
    assert refused.get_json()["error"] == [{"path": "token", "message": "Required"}]
    unknown = client.get("/api/v1/payment/po_unknown", headers={**german, **merchant.headers()})
    assert unknown.get_json()["message"].isascii()
    assert "Vary" not in unknown.headers or "Cookie" not in unknown.headers["Vary"]


def test_a_long_list_of_strange_languages_costs_little(client: FlaskClient, path: str) -> None:
    pairs = (f"en-{one}{two}-x{number}" for number, (one, two) in enumerate(product("ABCDEFGH", repeat=2)))
    header = ",".join(pairs)
    began = time.process_time()
    _find_locale.cache_clear()
    page = client.get("/payment/po_unknown", headers={"Accept-Language": header})
    assert time.process_time() - began < 0.1
    assert _find_locale.cache_info().misses <= MOST_TAGS + 1
    assert '<html lang="en"' in page.text

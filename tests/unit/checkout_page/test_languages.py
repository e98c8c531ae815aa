"""Which language is chosen, whatever a browser sends, and how numbers, moments and counts are written in it."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Context, Decimal

import pytest
from flask import Flask, Response, request
from hypothesis import given
from hypothesis import strategies as st

from api.checkout_page.language.languages import COOKIE, HEADER, choose_strings, choose_tag, mark_language
from api.checkout_page.language.strings import LANGUAGES, load
from api.checkout_page.money.amounts import (
    format_count,
    format_duration,
    format_moment,
    format_money,
    format_plain,
    format_rounded,
    format_whole_units,
    write_payment,
)
from api.domain.money import UINT256_MAX

NOON = datetime(2026, 3, 1, 12, 5, tzinfo=UTC)
app = Flask(__name__)


def read_number(text: str, tag: str) -> Decimal:
    """Return the number that a text writes; raises where a sign of it can't be seen, or a digit is not 0 to 9."""
    assert text.isprintable()
    point = "," if tag in {"es", "de", "ar_MA"} else "."
    plain = "".join(sign for sign in text if sign.isdigit() or sign == point)
    assert plain.isascii()
    return Decimal(plain.replace(point, "."))


def read_amount(text: str, symbol: str, tag: str) -> Decimal:
    """Return the number of an amount; raises unless its symbol follows, and both are isolated in Arabic."""
    if load(tag).dir == "rtl":
        assert (text[0], text[-1]) == ("\u2066", "\u2069")
        text = text[1:-1]
    number, _, unit = text.partition(" ")
    assert unit == symbol
    return read_number(number, tag)


def choose(header: str = "", *, query: str = "", page: str = "", cookie: str = "") -> str:
    headers = {"Accept-Language": header, HEADER: page, **({"Cookie": f"{COOKIE}={cookie}"} if cookie else {})}
    with app.test_request_context(f"/payment/po_1{query}", headers=headers):
        return choose_strings(request).tag


@pytest.mark.parametrize(
    ("header", "tag"),
    [
        ("", "en-150"),
        ("en", "en-150"),
        ("en-US,en;q=0.9", "en-US"),
        ("de", "de"),
        ("de-AT", "de-AT"),
        ("DE-at", "de-AT"),
        ("es-419", "es-419"),
        ("es-MX,es;q=0.9,en;q=0.8", "es-MX"),
        ("es,es-MX;q=0.9", "es-MX"),
        ("ar-EG", "ar-EG"),
        ("zh-CN,zh;q=0.9", "zh-Hans-CN"),
        ("zh-Hans-SG", "zh-Hans-SG"),
        ("zh-TW", "zh"),
        ("zh-Hant-HK,en;q=0.5", "zh"),
        ("pt", "en-150"),
        ("pt-BR,pt;q=0.9,es;q=0.5", "es"),
        ("fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", "en-150"),
        ("en;q=0.2, de;q=0.9, es;q=0.5", "de"),
        ("de;q=0, es", "es"),
        ("*", "en-150"),
        ("*;q=0.5, ar", "ar"),
        ("de-US", "de"),
        ("de-DE-u-nu-arab", "de-DE"),
        ("de-1996", "de"),
        ("en-Shaw", "en-150"),
    ],
)
def test_the_browsers_preferences_count_by_their_quality(header: str, tag: str) -> None:
    assert choose(header) == tag


@pytest.mark.parametrize(
    "header",
    [
        "; ;,,=",
        "de;q=abc;;",
        "q=1",
        "../../etc/passwd",
        "de/../../secret",
        "en\x00",
        "%00",
        "-",
        "e",
        "de_AT",
        "__import__('os')",
        "{merchant}",
        "<script>",
        "de-" + "a" * 5000,
        ",".join(["xx-YY;q=0.1"] * 500),
        "-".join(["de"] * 2000),
        "ａｒ",
    ],
)
def test_nothing_that_a_browser_sends_breaks_the_choice(header: str) -> None:
    assert choose_tag((header, header), [header, header]) in {"en_150", "de"}


@given(st.text(max_size=60), st.text(max_size=60), st.lists(st.text(max_size=40), max_size=5))
def test_any_text_leads_to_a_language_that_there_is(query: str, cookie: str, accepted: list[str]) -> None:
    assert load(choose_tag((query, cookie), accepted)).locale.language in LANGUAGES


@given(st.from_regex(r"\A(en|es|de|ar|zh|pt)([-_][A-Za-z0-9]{1,8}){0,6}\Z"))
def test_any_tag_leads_to_a_locale_that_there_is(tag: str) -> None:
    strings = load(choose_tag((), [tag]))
    assert strings.locale.script in {None, "Hans"}
    assert format_money(1_234_567, 2, "USD", strings)
    assert format_moment(NOON, strings)


def test_a_choice_by_hand_goes_before_the_browsers_preferences() -> None:
    assert choose("de", query="?lang=ar") == "ar"
    assert choose("de", cookie="zh") == "zh"
    assert choose("de", query="?lang=es", cookie="zh") == "es"
    assert choose("de", query="?lang=xx", cookie="zh") == "zh"
    assert choose("de", page="es-MX", cookie="zh") == "es-MX"
    assert choose("de", page="nonsense", cookie="zh") == "zh"
    assert choose("de", query="?lang=", cookie="nonsense") == "de"
    assert choose("en-US,es-MX;q=0.5", query="?lang=es") == "es-MX"
    assert choose("en-US", query="?lang=es-AR") == "es-AR"


@pytest.mark.parametrize(
    ("query", "keeps_choice", "cookie"),
    [
        ("?lang=de", True, "de"),
        ("?lang=zh-TW", True, "zh"),
        ("?lang=de", False, None),
        ("?lang=xx", True, None),
        ("?lang=de%0d%0aSet-Cookie:%20a=b", True, None),
        ("", True, None),
    ],
)
def test_only_a_choice_by_hand_is_remembered(query: str, keeps_choice: bool, cookie: str | None) -> None:
    with app.test_request_context(f"/payment/po_1{query}"):
        response = Response()
        mark_language(request, response, keeps_choice=keeps_choice, is_secure=True)
    assert response.headers["Vary"] == "Accept-Language, Cookie, X-Page-Language"
    written = response.headers.getlist("Set-Cookie")
    assert len(written) == (cookie is not None)
    for text in written:
        assert text.startswith(f"{COOKIE}={cookie}; ")
        for part in ("; Path=/payment", "; HttpOnly", "; SameSite=Lax", "; Secure", "; Max-Age=31536000"):
            assert part in text


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en", "1,234,567.50 USDC"),
        ("en_IN", "12,34,567.50 USDC"),
        ("es", "1.234.567,50 USDC"),
        ("es_MX", "1,234,567.50 USDC"),
        ("de", "1.234.567,50 USDC"),
        ("de_CH", "1’234’567.50 USDC"),
        ("ar", "\u20661,234,567.50 USDC\u2069"),
        ("ar_EG", "\u20661,234,567.50 USDC\u2069"),
        ("ar_MA", "\u20661.234.567,50 USDC\u2069"),
        ("zh", "1,234,567.50 USDC"),
    ],
)
def test_amounts_are_written_as_where_the_customer_is(tag: str, text: str) -> None:
    assert format_money(1_234_567_500_000, 6, "USDC", load(tag)) == text


@given(
    st.integers(0, UINT256_MAX),
    st.integers(0, 36),
    st.sampled_from(["en", "en_IN", "es", "de", "de_CH", "ar", "ar_MA", "zh"]),
)
def test_no_digit_is_lost_in_any_language(amount: int, digits: int, tag: str) -> None:
    strings, exact = load(tag), Decimal(amount).scaleb(-digits, Context(prec=200))
    assert read_number(format_whole_units(amount, digits, strings), tag) == exact
    assert Decimal(format_plain(amount, digits)) == exact
    for symbol in ("ETH", "USDC"):
        assert read_amount(format_money(amount, digits, symbol, strings), symbol, tag) == exact
        assert read_amount(format_rounded(amount, digits, symbol, strings), symbol, tag) >= exact
        assert read_amount(format_rounded(amount, digits, symbol, strings, up=False), symbol, tag) <= exact


@pytest.mark.parametrize(
    ("tag", "to_pay", "held", "price"),
    [
        ("en", "≈ 0.0121468 ETH", "0.0121467 ETH", "1,234.560001 USDC"),
        ("de", "≈ 0,0121468 ETH", "0,0121467 ETH", "1.234,560001 USDC"),
        ("ar", "\u2066≈ 0.0121468 ETH\u2069", "\u20660.0121467 ETH\u2069", "\u20661,234.560001 USDC\u2069"),
    ],
)
def test_a_rounded_amount_is_written_like_any_other(tag: str, to_pay: str, held: str, price: str) -> None:
    strings, wei = load(tag), 12_146_712_345_678_901
    assert write_payment(wei, 18, "ETH", strings, is_fixed=False) == to_pay
    assert format_rounded(wei, 18, "ETH", strings, up=False) == held
    assert write_payment(1_234_560_001, 6, "USDC", strings, is_fixed=True) == price
    assert format_plain(wei, 18) == "0.012146712345678901"
    assert format_plain(1_250_000_000, 6) == "1250"


@pytest.mark.parametrize(
    ("amount", "decimals", "symbol", "is_fixed", "text"),
    [
        (25_000_001, 6, "USDC", True, "25.000001 USDC"),
        (25_000_001, 6, "USDC", False, "≈ 25.0001 USDC"),
        (25_000_000, 6, "USDC", False, "25.00 USDC"),
        (10**24 + 1, 18, "DAI", True, "1,000,000.000000000000000001 DAI"),
        (123_456_789_012, 6, "USDC", True, "123,456.789012 USDC"),
        (123_456_789_012, 6, "EURC", True, "123,456.789012 EURC"),
        (123_456_789_012, 6, "EURC", False, "≈ 123,456.79 EURC"),
        (25_500_000, 6, "EURC", True, "25.50 EURC"),
        (3 * 10**16, 18, "ETH", True, "0.03 ETH"),
    ],
)
def test_an_amount_to_pay_is_exact_or_says_that_it_is_not(
    amount: int, decimals: int, symbol: str, is_fixed: bool, text: str
) -> None:
    """Found: "Pay 25.0001 USDC" for a price of 25.000001, and a wallet that shows another number; a price rounded."""
    assert write_payment(amount, decimals, symbol, load("en"), is_fixed=is_fixed) == text


@pytest.mark.parametrize(
    ("tag", "text"),
    [
        ("en_US", "Mar 1, 2026, 12:05\u202fPM UTC"),
        ("en_150", "1 Mar 2026, 12:05 UTC"),
        ("es", "1 mar 2026, 12:05 UTC"),
        ("de", "1. März 2026, 12:05 UTC"),
        ("ar", "1 مارس 2026، 12:05 م UTC"),
        ("zh", "2026年3月1日 12:05 UTC"),
    ],
)
def test_moments_are_written_as_where_the_customer_is(tag: str, text: str) -> None:
    assert format_moment(NOON, load(tag)) == text


@pytest.mark.parametrize(
    ("tag", "texts"),
    [
        ("en", ["1 minute", "2 minutes", "3 minutes", "11 minutes", "1,000 days"]),
        ("de", ["1 Minute", "2 Minuten", "3 Minuten", "11 Minuten", "1.000 Tage"]),
        ("es", ["1 minuto", "2 minutos", "3 minutos", "11 minutos", "1.000 días"]),
        ("ar", ["دقيقة واحدة", "دقيقتان", "3 دقائق", "11 دقيقة", "1,000 يوم"]),
        ("zh", ["1 分钟", "2 分钟", "3 分钟", "11 分钟", "1,000 天"]),
    ],
)
def test_waiting_times_have_their_plurals(tag: str, texts: list[str]) -> None:
    strings = load(tag)
    assert [format_duration(seconds, strings) for seconds in (60, 120, 180, 660, 86_400_000)] == texts


def test_spanish_has_no_article_before_a_time() -> None:
    """Found: "unos 1 minuto" and "unos 2 horas"; an article has the number and gender of what follows."""
    strings = load("es")
    texts = (strings.steps["usual"], strings.script["takes"], strings.page["slow_ok"])
    assert not [text for text in texts if re.search(r"\b[Uu]n[oa]?s? \{", text)]
    said = strings.steps["usual"].format(duration=format_duration(60, strings))
    assert said == "por lo general, aproximadamente 1 minuto"


def test_counts_have_their_plurals() -> None:
    strings = load("ar")
    shown = [strings.say_count("more_items", count, format_count(count, strings)) for count in (1, 2, 3, 11, 100)]
    assert shown == ["عرض عنصر آخر", "عرض عنصرين آخرين", "عرض 3 عناصر أخرى", "عرض 11 عنصرًا آخر", "عرض 100 عنصر آخر"]

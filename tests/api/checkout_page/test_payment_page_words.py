"""How the page writes amounts, waiting times and the way back to the merchant."""

from __future__ import annotations

import re
from decimal import Decimal, localcontext
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.checkout_page.devices import draw_code
from api.checkout_page.language import strings
from api.checkout_page.look.avatars import HUES, pick_hue, pick_letter
from api.checkout_page.money.amounts import (
    format_duration,
    format_money,
    format_rounded,
    format_whole_units,
    round_amount,
)
from api.checkout_page.paying.claims import describe_offers
from api.checkout_page.status.redirects import add_outcome
from api.checkout_page.status.words import CAME_BEFORE, ON_ITS_WAY, PAID_AFTER_CLOSE, PARTIALLY_REFUNDED
from api.domain.money import UINT256_MAX
from api.domain.orders import OrderStatus, StatusReason
from api.domain.simulation import Action
from api.domain.transfers import TransferKind
from api.services.settlement.claims.signed_claims import ClaimOffer, ClaimRefusal

amounts = st.integers(0, UINT256_MAX)
decimals = st.integers(0, 36)


@pytest.mark.parametrize(
    ("amount", "digits", "symbol", "text"),
    [
        (42_500_000, 6, "USDC", "42.50 USDC"),
        (10**18, 18, "USDC", "1.00 USDC"),
        (10**18, 18, "ETH", "1 ETH"),
        (1, 18, "ETH", "0.000000000000000001 ETH"),
        (1, 36, "USD", "0.000000000000000000000000000000000001 USD"),
        (123_456_789_012, 2, "USD", "1,234,567,890.12 USD"),
        (7, 0, "USD", "7.00 USD"),
        (5, 1, "USD", "0.50 USD"),
        (0, 6, "USDT", "0.00 USDT"),
        (1_234_567, 0, "WBTC", "1,234,567 WBTC"),
    ],
)
def test_amounts_are_written_in_whole_units(amount: int, digits: int, symbol: str, text: str) -> None:
    assert format_money(amount, digits, symbol, strings.load()) == text


@given(amounts, decimals)
def test_no_digit_of_an_amount_is_lost(amount: int, digits: int) -> None:
    with localcontext(prec=200):
        assert Decimal(format_whole_units(amount, digits, strings.load()).replace(",", "")) == Decimal(amount).scaleb(
            -digits
        )


@given(amounts, decimals, st.sampled_from(["USDC", "ETH"]))
def test_a_rounded_amount_is_never_less_and_hardly_more(amount: int, digits: int, symbol: str) -> None:
    up, down = (round_amount(amount, digits, symbol, up=up) for up in (True, False))
    assert down <= amount <= up
    assert 100_000 * (up - down) <= amount or up == down
    assert round_amount(up, digits, symbol) == up


@pytest.mark.parametrize(
    ("amount", "digits", "symbol", "text"),
    [
        (12_146_618_868_613_214, 18, "ETH", "0.0121467 ETH"),
        (42_912_345, 6, "USDC", "42.9124 USDC"),
        (42_500_000, 6, "USDC", "42.50 USDC"),
        (1_234_567_891_234, 6, "USDC", "1,234,567.90 USDC"),
        (1_234_567 * 10**18 + 1, 18, "POL", "1,234,568 POL"),
        (999_999_900_000_001, 18, "ETH", "0.001 ETH"),
        (1, 18, "ETH", "0.000000000000000001 ETH"),
    ],
)
def test_amounts_to_pay_have_six_digits(amount: int, digits: int, symbol: str, text: str) -> None:
    assert format_rounded(amount, digits, symbol, strings.load()) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "1 second"),
        (1, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (61, "2 minutes"),
        (3600, "1 hour"),
        (3601, "2 hours"),
        (86_400, "1 day"),
        (7 * 86_400, "7 days"),
    ],
)
def test_waiting_times_are_rounded_up(seconds: int, text: str) -> None:
    assert format_duration(seconds, strings.load()) == text


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://shop.example", "https://shop.example?payment_order_id=po_1&status=success"),
        ("https://shop.example/a?b=c", "https://shop.example/a?b=c&payment_order_id=po_1&status=success"),
        ("https://shop.example/a?b=c&", "https://shop.example/a?b=c&payment_order_id=po_1&status=success"),
        ("https://shop.example/#/done", "https://shop.example/?payment_order_id=po_1&status=success#/done"),
        (
            "http://localhost:3000?success=true",
            "http://localhost:3000?success=true&payment_order_id=po_1&status=success",
        ),
        (
            "https://shop.example/?q=%C3%A4+b&r=ä",
            "https://shop.example/?q=%C3%A4+b&r=ä&payment_order_id=po_1&status=success",
        ),
        ("https://shop.example/?status=mine", "https://shop.example/?status=mine&payment_order_id=po_1&status=success"),
        ("javascript:alert(1)", None),
        ("JavaScript:alert(1)//https://shop.example", None),
        ("data:text/html,hello", None),
        ("//evil.example/x", None),
        ("https:///x", None),
        ("https://[::1", None),
        ("/relative", None),
        ("", None),
    ],
)
def test_the_outcome_is_appended_to_what_the_merchant_wrote(url: str, expected: str | None) -> None:
    assert add_outcome(url, "po_1", "success") == expected


@given(st.text(st.sampled_from("ab=&?#/%+é;."), max_size=30))
def test_the_way_back_keeps_host_parameters_and_fragment(tail: str) -> None:
    url = f"https://shop.example/{tail}"
    before, after = urlsplit(url), urlsplit(add_outcome(url, "po_1", "failed") or "")
    assert (after.scheme, after.netloc, after.path, after.fragment) == (
        before.scheme,
        before.netloc,
        before.path,
        before.fragment,
    )
    outcome = [("payment_order_id", "po_1"), ("status", "failed")]
    kept = parse_qsl(before.query, keep_blank_values=True)
    found = parse_qsl(after.query, keep_blank_values=True)
    assert found[-2:] == outcome
    assert [row for row in found[:-2] if row != ("", "")] == [row for row in kept if row != ("", "")]


def test_every_state_and_action_has_words() -> None:
    texts = strings.load()
    for status in OrderStatus:
        for reason in StatusReason:
            assert set(texts.of_status(status, reason)) == {"title", "text"}
    assert set(texts.simulate) == {str(action) for action in Action}
    reasons = {*StatusReason, PAID_AFTER_CLOSE, PARTIALLY_REFUNDED, ON_ITS_WAY, CAME_BEFORE}
    keys = {f"{status}.{reason}" for status in (*OrderStatus, "*") for reason in reasons} | set(OrderStatus)
    assert set(texts.status) <= keys


def test_no_text_says_that_nothing_was_paid() -> None:
    """Attack: a page that can't know said so of an order that was paid."""
    text = (strings.FOLDER / "en.json").read_text(encoding="utf-8")
    found = re.findall(r"[^\"]*(?:nothing (?:has been|was|is) paid|(?:was|has) not (?:been )?paid)[^\"]*", text, re.I)
    assert [each for each in found if "could not be moved to" not in each] == []


def test_every_refusal_of_the_services_has_a_sentence() -> None:
    texts = strings.load()
    assert {each for each in ClaimRefusal if each not in texts.claim} == set()
    assert {each for each in TransferKind if each not in texts.transfer} == set()


def test_claims_are_offered_with_their_amounts() -> None:
    offer = ClaimOffer(
        log_index=-1, token_address="0x1", token_symbol="USDC", decimals=6, amount=42_500_000, typed_data={"domain": {}}
    )
    (shown,) = describe_offers([offer], "Tea & Co", 8453, strings.load())["candidates"]
    assert shown == {"log_index": -1, "token": "USDC", "amount_text": "42.50 USDC", "typed_data": {"domain": {}}}


def test_discs_have_a_letter_and_always_the_same_colour() -> None:
    assert pick_letter("  (tea)") == "t"
    assert pick_letter("…") == "·"
    assert pick_hue("USDC") == pick_hue("USDC")
    assert {pick_hue(str(number)) for number in range(200)} == set(range(HUES))


def test_the_code_is_drawn_without_style_or_script() -> None:
    drawing = draw_code("https://pay.example/payment/po_1").decode()
    assert drawing.startswith("<svg")
    assert "style" not in drawing
    assert "script" not in drawing

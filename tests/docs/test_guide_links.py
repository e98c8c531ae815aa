"""What the guide says of the way to the page and back is what the page does."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import Mock

from api.checkout_page.status.redirects import add_outcome
from api.checkout_page.status.state import REDIRECT_AFTER_S, choose_callback
from api.domain.orders import OrderStatus
from api.services.orders.views import PublicOrder
from api.web.page_problems import CSP

PAGE = (Path(__file__).parents[2] / "docs/guide/links.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (`.+?) \| `(\w+)_callback_url` \| (.+) \|$", PAGE, re.MULTILINE)
OPEN = {"created", "processing"}


def make_order() -> PublicOrder:
    """Return an order whose addresses are called what they are for."""
    return Mock(
        spec=PublicOrder, success_callback_url="success", cancel_callback_url="cancel", failure_callback_url="failure"
    )


def test_each_status_leads_where_the_page_says() -> None:
    said = {status: where for statuses, where, _ in ROWS for status in re.findall(r"`(\w+)`", statuses)}
    assert said.keys() == set(OrderStatus)
    for status in OrderStatus:
        expected = "" if status in OPEN else said[status]
        assert choose_callback(make_order(), status) == expected
    assert {said[status] for status in OPEN} == {"cancel"}


def test_only_those_go_back_by_themselves_of_whom_the_page_says_it() -> None:
    seconds = {
        status: int(found[1])
        for statuses, _, how in ROWS
        if (found := re.match(r"by itself (\d+) seconds", how))
        for status in re.findall(r"`(\w+)`", statuses)
    }
    assert seconds == REDIRECT_AFTER_S


def test_the_address_is_the_one_that_the_page_shows() -> None:
    sent = re.search(r'"success_callback_url": "(.+?)"', PAGE)
    shown = re.search(r"```text\n(.+?)\n```", PAGE)
    assert sent
    assert shown
    assert add_outcome(sent[1], "po_1", "success") == shown[1].replace("…", "1")


def test_no_frame_takes_the_page() -> None:
    assert re.findall(r"`(frame-ancestors .+?)`", PAGE) == re.findall(r"frame-ancestors [^;]+", CSP)

"""What wallets say they have sent: noted once, bounded, and never taken for a payment."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from api.context import Context
from api.services.payment_reports import MOST_REPORTS
from api.storage.tables import PaymentReport
from tests.support.shop import Shop

PAYER = "0x" + "Aa" * 20
HASH = "0x" + "Cd" * 32
SENT = {"chainId": 8453, "hash": HASH, "payer": PAYER}


@pytest.fixture
def path(shop: Shop) -> str:
    """Path of the page of a new order."""
    return f"/payment/{shop.create()}"


def reports(context: Context) -> list[tuple[Any, ...]]:
    with context.database.read() as session:
        return [(row.chain_id, row.tx_hash, row.payer) for row in session.scalars(select(PaymentReport))]


def test_a_report_is_noted_once_and_changes_nothing_else(client: FlaskClient, context: Context, path: str) -> None:
    before = client.get(f"{path}/status").get_json()
    for _ in range(2):
        answer = client.post(f"{path}/report", json=SENT)
        assert (answer.status_code, answer.get_json()) == (200, before)
    assert reports(context) == [(8453, HASH.lower(), PAYER.lower())]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("hash", "0x" + "cd" * 31, "Expected a transaction hash: 0x and 64 hexadecimal digits"),
        ("hash", "0x" + "\N{ARABIC-INDIC DIGIT ONE}" * 64, "Expected a transaction hash: 0x and 64 hexadecimal digits"),
        ("payer", "vitalik.eth", "Expected an address: 0x and 40 hexadecimal digits"),
        ("chainId", 5, "The order can't be paid on this chain; use the chain of its quote"),
        ("chainId", None, "Expected integer or digit string, received null"),
    ],
)
def test_what_is_no_transaction_is_refused(
    client: FlaskClient, context: Context, path: str, name: str, value: object, message: str
) -> None:
    answer = client.post(f"{path}/report", json={**SENT, name: value})
    assert answer.status_code == 400
    (problem,) = answer.get_json()["error"]
    assert problem["message"] == message
    assert reports(context) == []


def test_reports_of_one_order_are_bounded(client: FlaskClient, context: Context, path: str) -> None:
    answers = [client.post(f"{path}/report", json={**SENT, "hash": f"0x{number:064x}"}) for number in range(1, 23)]
    assert [answer.status_code for answer in answers] == [200] * MOST_REPORTS + [409] * 2
    assert len(reports(context)) == MOST_REPORTS
    assert client.post(f"{path}/report", json={**SENT, "hash": f"0x{1:064x}"}).status_code == 200


def test_only_the_page_itself_may_report(client: FlaskClient, path: str) -> None:
    other = {"Sec-Fetch-Site": "cross-site"}
    assert client.post(f"{path}/report", json=SENT, headers=other).status_code == 403
    assert client.post(f"{path}/report", data="{}", content_type="text/plain").status_code == 415
    assert client.post("/payment/po_none/report", json=SENT).status_code == 404

"""What wallets say they have sent: a hint where to look, noted once, bounded, and never taken for a payment."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from api.domain.env import EnvMode
from api.domain.ledger import Place
from api.domain.transfers import CanonicalBlock
from api.services.resources import Resources
from api.services.settlement.watching import hints
from api.services.settlement.watching.doubtful_blocks import list_due_doubts
from api.services.settlement.watching.hints import add_hint, follow_hints, list_due_hints
from api.storage.tables import PaymentHint
from tests.support.shop import Shop

HASH = "0x" + "Cd" * 32
SENT = {"chainId": 8453, "hash": HASH}
BASE = 8453


@pytest.fixture
def path(shop: Shop) -> str:
    """Path of the page of a new order."""
    return f"/payment/{shop.create()}"


def noted(resources: Resources) -> list[tuple[Any, ...]]:
    with resources.database.read() as session:
        rows = session.scalars(select(PaymentHint).order_by(PaymentHint.tx_hash))
        return [(row.env_mode, row.chain_id, row.tx_hash) for row in rows]


@pytest.mark.rule("evidence.9")
def test_a_report_is_noted_once_and_changes_nothing_else(client: FlaskClient, resources: Resources, path: str) -> None:
    before = client.get(f"{path}/status").get_json()
    for _ in range(2):
        answer = client.post(f"{path}/report", json=SENT)
        assert (answer.status_code, answer.get_json()) == (200, before)
    assert noted(resources) == [("test", BASE, HASH.lower())]


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("hash", "0x" + "cd" * 31, "Expected a transaction hash: 0x and 64 hexadecimal digits"),
        ("hash", "0x" + "\N{ARABIC-INDIC DIGIT ONE}" * 64, "Expected a transaction hash: 0x and 64 hexadecimal digits"),
        ("chainId", 5, "The order can't be paid on this chain; use the chain of its quote"),
        ("chainId", None, "Expected integer or digit string, received null"),
    ],
)
def test_what_is_no_transaction_is_refused(
    client: FlaskClient, resources: Resources, path: str, name: str, value: object, message: str
) -> None:
    answer = client.post(f"{path}/report", json={**SENT, name: value})
    assert answer.status_code == 400
    (problem,) = answer.get_json()["error"]
    assert problem["message"] == message
    assert noted(resources) == []


def test_junk_blocks_no_further_report(client: FlaskClient, resources: Resources, path: str) -> None:
    hashes = [f"0x{number:064x}" for number in range(1, 31)]
    answers = [client.post(f"{path}/report", json={**SENT, "hash": each}) for each in hashes]
    assert {answer.status_code for answer in answers} == {200}
    assert [row[2] for row in noted(resources)] == hashes


def test_the_oldest_hints_make_room(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "MOST_WAITING", 3)
    now = resources.clock.now()
    for number in range(5):
        with resources.database.write() as session:
            assert add_hint(session, EnvMode.TEST, BASE, f"0x{number:064x}", now + timedelta(seconds=number))
            add_hint(session, EnvMode.TEST, 1, f"0x{number:064x}", now)
            add_hint(session, EnvMode.LIVE, BASE, f"0x{number:064x}", now)
    found = [row[2][-1] for row in noted(resources) if row[:2] == ("test", BASE)]
    assert found == ["2", "3", "4"]
    assert len(noted(resources)) == 9


def test_a_hash_that_nobody_knows_is_asked_for_less_and_less_and_forgotten(resources: Resources) -> None:
    start, tx_hash, asked = resources.clock.now(), HASH.lower(), []
    with resources.database.write() as session:
        add_hint(session, EnvMode.TEST, BASE, tx_hash, start)
    for second in range(0, 4_000, 2):
        now = start + timedelta(seconds=second)
        with resources.database.write() as session:
            due = list_due_hints(session, EnvMode.TEST, BASE, now)
            if due:
                asked.append(second)
                follow_hints(session, EnvMode.TEST, BASE, due, {}, 100, now)
    assert asked[:6] == [0, 2, 6, 14, 30, 62]
    assert len(asked) < 25
    assert noted(resources) == []


@pytest.mark.parametrize(
    ("number", "is_relevant", "doubts", "left"), [(90, True, [90], 0), (90, False, [], 0), (101, True, [], 1)]
)
def test_a_hint_makes_a_block_doubtful_that_was_read_without_it(
    resources: Resources, number: int, is_relevant: bool, doubts: list[int], left: int
) -> None:
    now = resources.clock.now()
    place = Place(block=CanonicalBlock(number=number, hash="0x" + "0b" * 32, mined_at=now), is_relevant=is_relevant)
    with resources.database.write() as session:
        add_hint(session, EnvMode.TEST, BASE, HASH.lower(), now)
        follow_hints(session, EnvMode.TEST, BASE, [HASH.lower()], {HASH.lower(): place}, 100, now)
        assert [each.block.number for each in list_due_doubts(session, EnvMode.TEST, BASE, now)] == doubts
    assert len(noted(resources)) == left


def test_only_the_page_itself_may_report(client: FlaskClient, path: str) -> None:
    other = {"Sec-Fetch-Site": "cross-site"}
    assert client.post(f"{path}/report", json=SENT, headers=other).status_code == 403
    assert client.post(f"{path}/report", data="{}", content_type="text/plain").status_code == 415
    assert client.post("/payment/po_none/report", json=SENT).status_code == 404


def test_a_report_takes_no_trace_away(resources: Resources) -> None:
    """The page reports each hash; what could not be traced when it was read is asked for again all the same."""
    now = resources.clock.now()
    with resources.database.write() as session:
        assert add_hint(session, "test", BASE, HASH, now)
        assert not add_hint(session, "test", BASE, HASH, now, is_untraced=True)
        (row,) = session.scalars(select(PaymentHint))
        assert row.is_untraced
        assert not add_hint(session, "test", BASE, HASH, now)
        session.refresh(row)
        assert row.is_untraced


def test_junk_makes_no_room_among_what_could_not_be_traced(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "MOST_WAITING", 3)
    now = resources.clock.now()
    with resources.database.write() as session:
        add_hint(session, "test", BASE, HASH, now, is_untraced=True)
        for number in range(9):
            add_hint(session, "test", BASE, f"0x{number:064x}", now + timedelta(seconds=number))
        assert HASH in set(session.scalars(select(PaymentHint.tx_hash)))

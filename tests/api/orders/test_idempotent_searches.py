"""A search for routes is made once for each `Idempotency-Key` of a vendor; what is sent again gets the first answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import func, select
from sqlalchemy.exc import OperationalError

from api.blueprints import repeats, routes
from api.schemas.routing.queries import EXAMPLE
from api.services.idempotency import KEPT, make_conflict
from api.services.resources import Resources
from api.storage.tables import IdempotencyKey
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock

Ask = Callable[..., Any]
ROUTES, STREAM = "/v1/routes", "/v1/routes/stream"
BOTH = pytest.mark.parametrize("path", [ROUTES, STREAM])
USED = {"Idempotency-Key": "Use a new key for a new request"}


@pytest.fixture
def ask(client: FlaskClient, merchant: Merchant) -> Ask:
    """Search with an idempotency key, as the merchant or whoever `headers` says."""

    def send(path: str, body: Any = EXAMPLE, key: str = "k", headers: dict[str, str] | None = None) -> Any:
        who = merchant.headers() if headers is None else headers
        return client.post(path, json=body, headers=who | {"Idempotency-Key": key})

    return send


def count_kept(resources: Resources) -> int:
    with resources.database.read() as session:
        return session.scalar(select(func.count()).select_from(IdempotencyKey)) or 0


@pytest.mark.rule("idempotency.1", "idempotency.3", "idempotency.7")
@BOTH
def test_the_same_search_gets_the_first_answer_for_a_day(
    ask: Ask, resources: Resources, clock: SettableClock, path: str
) -> None:
    first = ask(path)
    assert (first.status_code, first.headers.get("Idempotent-Replayed")) == (200, None)
    sent = first.data
    clock.advance(hours=23)
    again = ask(path, dict(reversed(EXAMPLE.items())))
    assert (again.status_code, again.data, again.mimetype) == (200, sent, first.mimetype)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert ask(path, key="other").data != sent
    clock.advance(seconds=(KEPT - timedelta(hours=23)).total_seconds())
    later = ask(path, {**EXAMPLE, "inputAmount": "7000000"})
    assert later.status_code == 200
    assert later.data != sent


@pytest.mark.rule("idempotency.4", "idempotency.5")
@BOTH
@pytest.mark.parametrize("body", [{**EXAMPLE, "inputAmount": "1000001"}, {**EXAMPLE, "nonsense": 1}, {}])
def test_another_search_with_the_key_is_refused(
    ask: Ask, assert_error: Callable[..., None], path: str, body: Any
) -> None:
    assert ask(path).data
    assert_error(ask(path, body), 422, USED)


def test_a_key_of_a_search_is_for_its_address(ask: Ask, assert_error: Callable[..., None]) -> None:
    assert ask(ROUTES).status_code == 200
    for other in (STREAM, f"{ROUTES}?tokens=once"):
        assert_error(ask(other), 422, USED)


@pytest.mark.rule("idempotency.8")
@BOTH
def test_a_refused_search_leaves_the_key_free(ask: Ask, resources: Resources, path: str) -> None:
    assert ask(path, {}).status_code == 400
    dust = ask(path, {**EXAMPLE, "inputAmount": "1", "allowProtocols": ["across"]})
    assert b'"code":"404"' in dust.data.replace(b" ", b"")
    assert count_kept(resources) == 0
    answer = ask(path)
    assert (answer.status_code, bool(answer.data), count_kept(resources)) == (200, True, 1)


@pytest.mark.rule("idempotency.6")
@BOTH
def test_a_search_that_is_under_way_is_a_conflict(
    ask: Ask, assert_error: Callable[..., None], monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    meanwhile: list[Any] = []
    name = "find_routes" if path == ROUTES else "StreamedSearch"
    search = getattr(routes, name)

    def ask_meanwhile(*args: Any, **options: Any) -> Any:
        if not meanwhile:
            meanwhile.append(None)
            meanwhile[:] = [ask(path), ask(path, key="other")]
        return search(*args, **options)

    monkeypatch.setattr(routes, name, ask_meanwhile)
    first = ask(path)
    assert first.data
    assert_error(meanwhile[0], 409, {"Idempotency-Key": "Send the request again in a moment"})
    assert meanwhile[0].headers["Retry-After"] == str(make_conflict().retry_after_s)
    assert meanwhile[1].status_code == 200
    assert ask(path).data == first.data


def test_a_stream_that_nobody_reads_to_its_end_is_not_kept(ask: Ask, resources: Resources) -> None:
    begun = ask(STREAM)
    events: Iterator[bytes] = begun.iter_encoded()
    assert b'"type":"route"' in next(events)
    begun.close()
    assert count_kept(resources) == 0
    assert ask(STREAM).data
    assert count_kept(resources) == 1


def test_a_stream_goes_out_as_it_is_found(ask: Ask, resources: Resources) -> None:
    begun = ask(STREAM)
    events = begun.iter_encoded()
    assert b'"type":"route"' in next(events)
    assert count_kept(resources) == 0
    assert b'"type":"done"' in list(events)[-1]
    assert count_kept(resources) == 1


@BOTH
def test_another_process_that_answered_first_decides(
    ask: Ask, resources: Resources, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Each process knows its own searches: two may search at once, and one answer is kept."""
    keep, answers = repeats._keep_search, []

    def come_second(*args: Any, **options: Any) -> Any:
        if not answers:
            answers.append(None)
            with monkeypatch.context() as other:
                other.setattr(resources.repeatable_searches, "take", lambda _: lambda: None)
                answers[:] = [ask(path).data]
        return keep(*args, **options)

    monkeypatch.setattr(repeats, "_keep_search", come_second)
    mine = ask(path)
    assert mine.status_code == 200
    if path == ROUTES:
        assert (mine.data, mine.headers["Idempotent-Replayed"]) == (answers[0], "true")
    assert mine.data
    assert ask(path).data == answers[0]
    assert count_kept(resources) == 1


def test_nothing_is_given_that_could_not_be_kept(
    ask: Ask, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise OperationalError("INSERT", None, Exception("away"))

    with monkeypatch.context() as broken:
        broken.setattr(repeats, "carry_out_at_once", fail)
        assert ask(ROUTES).status_code == 503
    assert ask(ROUTES).status_code == 200
    assert count_kept(resources) == 1


@pytest.mark.rule("idempotency.9")
@BOTH
def test_keys_of_two_vendors_and_environments_are_apart(
    ask: Ask, resources: Resources, merchant: Merchant, other_merchant: Merchant, path: str
) -> None:
    whose = (merchant.headers("test"), merchant.headers("live"), other_merchant.headers("test"))
    given = {ask(path, headers=who).data for who in whose}
    assert len(given) == count_kept(resources) == 3


@BOTH
def test_of_a_caller_without_an_api_key_nothing_is_kept(ask: Ask, resources: Resources, path: str) -> None:
    answers = [
        ask(path, headers={}),
        ask(path, headers={}),
        ask(path, {**EXAMPLE, "inputAmount": "7000000"}, headers={}),
    ]
    assert [each.status_code for each in answers] == [200] * 3
    assert len({each.data for each in answers}) == 3
    assert count_kept(resources) == 0


def test_a_long_answer_is_kept_short(ask: Ask, resources: Resources) -> None:
    answer = ask(ROUTES, {**EXAMPLE, "alternatives": 5})
    with resources.database.read() as session:
        (stored,) = session.scalars(select(IdempotencyKey.response_body))
    assert len(stored) < len(answer.data) / 2
    assert json.loads(ask(ROUTES, {**EXAMPLE, "alternatives": 5}).data) == answer.get_json()

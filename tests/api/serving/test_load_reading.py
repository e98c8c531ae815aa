"""What a request asks of the database, who counts requests while Redis is away, and what templates are made of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from limits import RateLimitItemPerMinute
from redis.exceptions import ConnectionError as NoRedis
from sqlalchemy import event

from api.checkout_page.language import strings
from api.counting import request_counts
from api.counting.request_counts import RequestCounts
from api.services.resources import Resources
from tests.api.conftest import Merchant
from tests.support.redis_server import redis_server
from tests.support.shop import Shop


@contextmanager
def counting_queries(resources: Resources) -> Iterator[list[str]]:
    """Note every query that the service asks within the block."""
    asked: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("SELECT"):
            asked.append(statement)

    event.listen(resources.database.engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(resources.database.engine, "before_cursor_execute", note)


def test_an_order_is_read_with_one_query_beside_its_key(shop: Shop, client: FlaskClient, merchant: Merchant) -> None:
    order_id = shop.create()
    with counting_queries(shop.resources) as asked:
        assert client.get(f"/api/v1/payment/{order_id}", headers=merchant.headers()).status_code == 200
    assert len(asked) == 2, asked


def test_a_page_is_read_with_one_query(shop: Shop, client: FlaskClient) -> None:
    order_id = shop.create()
    client.get(f"/payment/{shop.create()}")  # how far the chains are, and how long payments take, is asked now and then
    with counting_queries(shop.resources) as asked:
        assert client.get(f"/payment/{order_id}").status_code == 200
    assert len(asked) == 1, asked


def test_requests_are_counted_here_while_redis_is_away_and_there_again_after_a_while(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    limit, now = RateLimitItemPerMinute(1), 100.0
    monkeypatch.setattr(request_counts.time, "monotonic", lambda: now)
    with redis_server() as (url, _):
        counts = RequestCounts(f"redis+{url}", tmp_path)
        assert counts.take(limit, "anyone")
        with monkeypatch.context() as broken:

            def fail(*_: object) -> bool:
                raise NoRedis

            broken.setattr(counts._shared, "hit", fail)
            assert counts.take(limit, "anyone"), "this machine has counted nobody yet"
        assert not counts.take(limit, "anyone"), "Redis is not asked at once"
        now += 2
        assert not counts.take(limit, "anyone"), "Redis has counted the first"
        assert counts.take(limit, "somebody else")
        assert counts.read(limit, "somebody else").remaining == 0


def test_a_text_that_looks_like_a_part_of_a_template_is_refused(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = strings.load("en").page
    monkeypatch.setitem(page, "skip", "Skip {{ page }}")
    templates = client.application.jinja_env
    assert templates.loader is not None
    with pytest.raises(ValueError, match=r"looks like a part of a template"):
        templates.loader.get_source(templates, "en/payment.html")

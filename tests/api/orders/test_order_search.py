"""Orders are found by what they have, in both databases by an index."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from sqlalchemy import select

from api.services.simulator.wallet import PAYER
from api.storage.tables import OrderMetadata
from tests.api.conftest import Merchant
from tests.support.shop import Shop
from tests.support.simulated_payments import send

Check = Callable[..., None]
CROWD = 2000


def find(shop: Shop, query: str, **options: Any) -> list[str]:
    answer = shop.get(f"/api/v1/payment?{query}", **options)
    assert answer.status_code == 200, answer.get_json()
    return [row["payment_order_id"] for row in answer.get_json()["data"]]


def test_by_metadata(shop: Shop, other_merchant: Merchant) -> None:
    values = {"cart": "7", "paid": True, "none": None, "n": 12, "share": 0.5, "né[x]": "a&b =ü", "deep": {"cart": "9"}}
    full, plain = shop.create(metadata=values), shop.create(metadata={"cart": "7"})
    shop.create(metadata={"cart": "8"})
    rival = Shop(client=shop.client, resources=shop.resources, clock=shop.clock, merchant=other_merchant)
    theirs = rival.create(metadata={"cart": "7"})
    assert set(find(shop, "metadata[cart]=7")) == {full, plain}
    assert set(find(shop, "metadata%5Bcart%5D=7")) == {full, plain}
    assert find(rival, "metadata[cart]=7") == [theirs]
    assert find(shop, "metadata[cart]=7&metadata[n]=12") == [full]
    for key, text in (("paid", "true"), ("none", "null"), ("share", "0.5"), ("né[x]", "a&b =ü")):
        assert find(shop, f"metadata[{quote(key)}]={quote(text)}") == [full]
    for query in ("metadata[cart]=9", "metadata[Cart]=7", "metadata[cart]=", "metadata[deep]=9", "metadata[n]=12.0"):
        assert find(shop, query) == []
    long = "x" * 500
    assert find(shop, f"metadata[t]={long}") == []
    assert find(shop, f"metadata[t]={shop.create(metadata={'t': long}) and long}") != []


def test_by_payer_and_by_transaction(shop: Shop) -> None:
    paid, bridged, other = shop.create(), shop.create(), shop.create()
    shop.simulate(bridged, "bridge_delay")
    tx_hash = send(shop, paid, 10**6)
    stranger = "0x" + "Ab" * 20
    send(shop, other, 10**6, sender=stranger.lower())
    shop.wait(60)
    refund = shop.post(f"/api/v1/payment/{paid}/refund")
    assert refund.status_code == 200
    shop.wait(6)
    assert set(find(shop, f"payer={PAYER}")) == {paid, bridged}
    assert find(shop, f"payer={stranger}") == [other]
    assert find(shop, f"transaction_hash={tx_hash.upper().replace('0X', '0x')}") == [paid]
    transactions = shop.order(bridged)["transactions"]
    assert len(transactions) == 2
    for row in (*transactions, {"hash": shop.order(bridged)["transaction_hash"]}):
        assert find(shop, f"transaction_hash={row['hash']}") == [bridged]
    assert find(shop, f"transaction_hash={shop.order(paid)['refunds'][0]['hash']}") == [paid]
    assert find(shop, f"transaction_hash=0x{'0' * 64}") == []
    relayers = {row.sender for row in shop.payments() if row.evidence == "bridge"} - {PAYER}
    for relayer in relayers:  # it delivered, and paid nothing
        assert find(shop, f"payer={relayer}") == []


def test_by_moments(shop: Shop) -> None:
    made = []
    for _ in range(4):
        made.append(shop.create())
        shop.clock.advance(hours=1)
    assert find(shop, "created_from=2026-03-01T13:00:00Z&created_to=2026-03-01T15:00:00Z") == made[1:3][::-1]
    assert find(shop, f"created_from={quote('2026-03-01T15:00:00+01:00')}") == made[2:][::-1]
    assert find(shop, "created_to=2026-03-01T12:00:00Z") == []
    assert find(shop, "created_from=0001-01-01T00:00:00Z&created_to=9999-12-31T00:00:00Z") == made[::-1]
    shop.post(f"/api/v1/payment/{made[0]}/cancel")
    assert find(shop, "updated_from=2026-03-01T16:00:00Z") == [made[0]]
    assert find(shop, "updated_to=2026-03-01T13:00:00Z") == []
    assert find(shop, "updated_to=2026-03-01T14:00:00Z") == [made[1]]


@pytest.mark.rule("money.2")
def test_ids_begin_with_the_time_of_making(shop: Shop) -> None:
    """The search by `created_at` relies on it, to the microsecond."""
    for microseconds in (1, 999, 1000, 1001, 123_456):
        shop.clock.advance(microseconds=microseconds)
        moment, order_id = shop.clock.now(), shop.create()
        later = moment + timedelta(microseconds=1)
        query = f"created_from={quote(moment.isoformat())}&created_to={quote(later.isoformat())}"
        assert find(shop, query) == [order_id]


def test_by_status_and_reason_together_and_page_by_page(shop: Shop) -> None:
    short = [shop.create() for _ in range(5)]
    for order_id in short:
        shop.simulate(order_id, "underpay")
    shop.create()
    shop.wait(3)
    assert set(find(shop, "status=processing&status_reason=underpaid")) == set(short)
    assert find(shop, "status=created&status_reason=underpaid") == []
    (plain,) = find(shop, "status_reason=")
    for query in ("status=created,processing", "status=created&status=processing,created", "status_reason=,underpaid"):
        assert set(find(shop, query)) == {*short, plain}
    assert set(find(shop, "status=failed,processing")) == set(short)
    seen, cursor = [], ""
    for size in (2, 2, 1):
        page = shop.get(f"/api/v1/payment?status_reason=underpaid&limit=2{cursor}").get_json()
        assert len(page["data"]) == size
        seen += [row["payment_order_id"] for row in page["data"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert seen == sorted(short, reverse=True)


@pytest.mark.in_turns
@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("created_from=2026-03-01T12:00:00", "created_from"),
        ("created_from=yesterday", "created_from"),
        ("created_from=2026-03-02T00:00:00Z&created_to=2026-03-01T00:00:00Z", "created_to"),
        ("updated_from=2026-03-02T00:00:00Z&updated_to=2026-03-02T00:00:00Z", "updated_to"),
        ("payer=0x12", "payer"),
        ("transaction_hash=0x12", "transaction_hash"),
        ("metadata=7", "metadata"),
        ("metadata[]=7", "metadata[]"),
        ("metadat[a]=7", "metadat[a]"),
        ("metadata[a]=1&metadata[a]=2", "metadata[a]"),
        ("metadata[a]=" + "x" * 501, "metadata"),
        ("&".join(f"metadata[{number}]=1" for number in range(11)), "metadata"),
        ("status_reason=late", "status_reason"),
    ],
)
def test_a_bad_search_is_named(shop: Shop, assert_error: Check, query: str, path: str) -> None:
    refused = shop.get(f"/api/v1/payment?{query}")
    assert_error(refused, 400)
    assert [row["path"] for row in refused.get_json()["error"]] == [path]


def test_long_and_many_metadata_can_be_stored(shop: Shop) -> None:
    """An index of PostgreSQL takes no long text, so a hash stands for it."""
    shop.create(metadata={"long": "y" * 15_000})
    shop.create(metadata={str(number): "z" * 100 for number in range(50)})
    with shop.resources.database.read() as session:
        assert len(session.scalars(select(OrderMetadata.digest)).all()) == 51


@pytest.mark.parametrize(
    ("query", "path", "words"),
    [
        ("status_reason=late", "status_reason", "Must be empty or one of underpaid, "),
        ("status=late", "status", "Must be one of created, "),
        ("status=created,late", "status", "Must be one of created, "),
        ("status=created&status=", "status", "Must be one of created, "),
        ("created_from=2026-03-01T00:00:00+01:00", "created_from", "writes as %2B"),
    ],
)
def test_what_is_asked_wrongly_is_told_how_to_write_it(shop: Shop, query: str, path: str, words: str) -> None:
    answer = shop.get(f"/api/v1/payment?{query}")
    assert answer.status_code == 400
    (problem,) = answer.get_json()["error"]
    assert problem["path"] == path
    assert words in problem["message"]

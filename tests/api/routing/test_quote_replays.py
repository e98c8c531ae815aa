"""A quote can be made again for a day: from the market that was kept, bit for bit, also after the market moved."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from sqlalchemy import delete, func, select

from api.schemas.routing.queries import USDC_BASE, USDC_ETHEREUM
from api.services.market.snapshots import MOST_CHANGED, SnapshotArchive, forget_snapshots
from api.services.resources import Resources
from api.services.routing import replays
from api.storage.tables import MarketSnapshot, StoredQuote
from api.worker.jobs import clean_up
from routing_engine import Router, Snapshot
from routing_engine.cli.app import cli
from routing_engine.markets import ConstantProductPool
from tests.api.conftest import START, Merchant
from tests.support.clock import SettableClock

WETH_BASE = "0x4200000000000000000000000000000000000006"
QUERY = {"fromChain": "1", "toChain": "8453", "fromToken": USDC_ETHEREUM, "toToken": USDC_BASE}
Ask = Callable[..., dict[str, Any]]


@pytest.fixture
def ask(client: FlaskClient) -> Ask:
    """Ask for a quote."""

    def send(headers: dict[str, str] | None = None, **amount: str) -> dict[str, Any]:
        query = {**QUERY, **(amount or {"fromAmount": "2500000000"})}
        answer = client.get("/api/v1/quote", query_string=query, headers=headers)
        assert answer.status_code == 200, answer.text
        return dict(answer.get_json())

    return send


def move(snapshot: Snapshot, dice: random.Random, number: int = 20) -> Snapshot:
    """Return the market a moment later: some pools have traded."""
    pools = [market for market in snapshot.markets.values() if isinstance(market, ConstantProductPool)]
    traded = [replace(pool, reserve0=pool.reserve0 * 101 // 100) for pool in dice.sample(pools, number)]
    return snapshot.apply(traded, blocks={1: dice.randrange(10**6)}, taken_at="2026-03-01T12:00:00Z")


@pytest.mark.parametrize("amount", [{"fromAmount": "2500000000"}, {"toAmount": "2500000000"}])
def test_the_same_quote_comes_back_to_the_byte(ask: Ask, client: FlaskClient, amount: dict[str, str]) -> None:
    quote = ask(**amount)
    answer = client.get(f"/api/v1/quote/{quote['quoteId']}/replay")
    assert answer.status_code == 200
    assert json.dumps(answer.get_json()) == json.dumps(quote)


@pytest.mark.in_turns
@pytest.mark.parametrize("fortune", [10**15, 10**16])
def test_a_quote_that_was_cut_says_so_and_comes_back_to_the_byte(
    ask: Ask, client: FlaskClient, fortune: int, tmp_path: Path
) -> None:
    """Work is counted, not timed, so however busy the machine is, the search ends at the same place."""
    quote = ask(fromChain="8453", fromToken=USDC_BASE, toToken=WETH_BASE, fromAmount=str(fortune))
    assert "budget of work" in quote["incompleteReason"]
    replayed = client.get(f"/api/v1/quote/{quote['quoteId']}/replay")
    assert json.dumps(replayed.get_json()) == json.dumps(quote)
    archive = tmp_path / "quote.json"
    archive.write_bytes(client.get(f"/api/v1/quote/{quote['quoteId']}/archive").data)
    result = CliRunner().invoke(cli, ["replay", str(archive), "--format", "json"])
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["identical"]
    assert said["answer"]["is_complete"] is False


def test_the_market_is_kept_and_not_the_present_one_is_asked(
    ask: Ask, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    quote = ask()
    with resources.database.write() as session:
        row = session.get_one(MarketSnapshot, resources.market.snapshot.id)
        row.body = SnapshotArchive().pack(move(resources.market.snapshot, random.Random(1), 80))[0].body
    monkeypatch.setattr(replays, "__version__", "9")
    with pytest.raises(Exception, match=r"differs; routing-engine .* made this quote, and 9 runs now"):
        replays.replay_quote(resources, quote["quoteId"], None)


def test_who_asks_again_waits_for_no_second_router(
    ask: Ask, client: FlaskClient, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    quote_id, built, build = ask()["quoteId"], [], Router.__init__

    def note(router: Router, *arguments: Any, **options: Any) -> None:
        built.append(router)
        build(router, *arguments, **options)

    monkeypatch.setattr(Router, "__init__", note)
    for view in ("replay", "archive", "replay"):
        assert client.get(f"/api/v1/quote/{quote_id}/{view}").status_code == 200
    assert len(built) == 1
    with resources.database.write() as session:
        session.execute(delete(MarketSnapshot))
    assert client.get(f"/api/v1/quote/{quote_id}/replay").status_code == 410


def test_a_day_later_it_is_gone(ask: Ask, client: FlaskClient, clock: SettableClock, resources: Resources) -> None:
    quote = ask()
    clock.set(START + timedelta(hours=23, minutes=59))
    clean_up(resources)
    assert client.get(f"/api/v1/quote/{quote['quoteId']}/replay").status_code == 200
    clock.set(START + timedelta(hours=24, seconds=1))
    answer = client.get(f"/api/v1/quote/{quote['quoteId']}/replay")
    assert answer.status_code == 410
    assert "24 hours" in answer.get_json()["message"]
    clock.set(START + timedelta(hours=26))
    clean_up(resources)
    assert client.get(f"/api/v1/quote/{quote['quoteId']}/archive").status_code == 410
    with resources.database.read() as session:
        assert session.scalar(select(func.count()).select_from(MarketSnapshot)) == 0


@pytest.mark.parametrize("end", ["replay", "archive"])
def test_a_vendors_quote_is_its_own(
    ask: Ask, client: FlaskClient, merchant: Merchant, make_merchant: Callable[..., Merchant], end: str
) -> None:
    quote = ask(headers=merchant.headers())
    url = f"/api/v1/quote/{quote['quoteId']}/{end}"
    assert client.get(url, headers=merchant.headers()).status_code == 200
    assert client.get(url, headers=make_merchant("Rival").headers()).status_code == 404
    assert client.get(url).status_code == 404
    assert client.get(f"/api/v1/quote/{ask()['quoteId']}/{end}").status_code == 200


@pytest.mark.parametrize("quote_id", ["qt_", "qt_zzzzzzzzzz", "po_01kjmmms8rb415hwqsz5fws09wbh9rfcfmwy", "nonsense"])
def test_what_is_no_quote_is_not_found(client: FlaskClient, quote_id: str) -> None:
    assert client.get(f"/api/v1/quote/{quote_id}/replay").status_code == 404


def test_an_archive_is_replayed_by_the_engine_alone(ask: Ask, client: FlaskClient, tmp_path: Path) -> None:
    answer = client.get(f"/api/v1/quote/{ask()['quoteId']}/archive")
    assert answer.status_code == 200
    path = tmp_path / "quote.json"
    path.write_bytes(answer.data)
    result = CliRunner().invoke(cli, ["replay", str(path), "--format", "json"])
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["identical"] is True


def test_a_market_that_moves_is_kept_as_what_differs(resources: Resources) -> None:
    dice, archive = random.Random(3), SnapshotArchive()
    snapshots = [resources.market.snapshot]
    for _ in range(6):
        snapshots.append(move(snapshots[-1], dice))
    for snapshot in snapshots:
        packed = archive.pack(snapshot)
        with resources.database.write() as session:
            archive.keep(session, packed, START)
    with resources.database.read() as session:
        rows = session.execute(select(MarketSnapshot.id, func.length(MarketSnapshot.body)))
        sizes = {row.id: row.length for row in rows}
        assert len(sizes) == len(snapshots)
        assert max(sizes[each.id] for each in snapshots[1:]) < sizes[snapshots[0].id] / 4
        for snapshot in snapshots:
            found = archive.find(session, snapshot.id)
            assert found is not None
            assert (found.id, list(found.markets), found.blocks) == (
                snapshot.id, list(snapshot.markets), snapshot.blocks,
            )  # fmt: skip


def test_what_another_process_has_kept_is_not_packed_again(
    ask: Ask, client: FlaskClient, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes that follow one market pack what changed once, not once each."""
    others, snapshot = SnapshotArchive(), resources.market.snapshot
    packed: list[str] = []
    pack = SnapshotArchive.pack
    monkeypatch.setattr(SnapshotArchive, "pack", lambda it, market: (packed.append(market.id), pack(it, market))[1])
    for hours, count in ((25, 0), (25, 0), (1, 1)):
        with resources.database.write() as session:
            session.execute(delete(MarketSnapshot))
            others.keep(session, pack(others, snapshot), START + timedelta(hours=hours))
        quote = ask()
        assert len(packed) == count
        assert client.get(f"/api/v1/quote/{quote['quoteId']}/replay").status_code == 200


def test_a_market_is_kept_whole_where_much_or_its_list_changed(resources: Resources) -> None:
    archive, first = SnapshotArchive(), resources.market.snapshot
    archive.pack(first)
    fewer = first.apply(removed=[next(iter(first.markets))])
    assert [row.base_id for row in archive.pack(fewer)] == [None]
    pools = [market for market in fewer.markets.values() if isinstance(market, ConstantProductPool)]
    assert len(pools) > MOST_CHANGED * len(fewer.markets)
    traded = fewer.apply([replace(pool, reserve0=pool.reserve0 + 10**15) for pool in pools])
    assert [row.base_id for row in archive.pack(traded)] == [None]


def test_what_others_rest_on_outlives_them(resources: Resources) -> None:
    archive, first = SnapshotArchive(), resources.market.snapshot
    second = move(first, random.Random(4))
    for snapshot, hours in ((first, 1), (second, 5)):
        packed = archive.pack(snapshot)[-1:]  # as a process with another base does, which never prolongs this one's
        with resources.database.write() as session:
            archive.keep(session, packed, START + timedelta(hours=hours))
    for hours, left in ((3, 2), (6.5, 0)):
        with resources.database.write() as session:
            forget_snapshots(session, START + timedelta(hours=hours))
            forget_snapshots(session, START + timedelta(hours=hours))
        with resources.database.read() as session:
            assert session.scalar(select(func.count()).select_from(MarketSnapshot)) == left


def test_a_quote_of_the_page_is_not_shown(ask: Ask, client: FlaskClient, resources: Resources) -> None:
    quote = ask()
    with resources.database.write() as session:
        row = session.get_one(StoredQuote, quote["quoteId"])
        row.body = {name: value for name, value in row.body.items() if name != "rests_on"}
    assert client.get(f"/api/v1/quote/{quote['quoteId']}/replay").status_code == 404


def test_a_quote_of_an_earlier_version_is_shown_and_not_made_again(
    ask: Ask, client: FlaskClient, resources: Resources
) -> None:
    """It was kept with the route as the interface shows it, for a day at most."""
    quote = ask()
    with resources.database.write() as session:
        row = session.get_one(StoredQuote, quote["quoteId"])
        row.body = {name: value for name, value in row.body.items() if name != "answer"} | {"route": {}}
    assert client.get(f"/api/v1/quote/{quote['quoteId']}").get_json() == quote
    for end in ("replay", "archive"):
        answer = client.get(f"/api/v1/quote/{quote['quoteId']}/{end}")
        assert answer.status_code == 410
        assert "earlier version" in answer.get_json()["message"]

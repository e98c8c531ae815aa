"""Old events leave the database for files, whole; nothing is lost however often that is cut off."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import stat
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient
from sqlalchemy import select

from api.cli.commands import main
from api.domain.ids import IdPrefix, make_id
from api.services.operations import archive
from api.services.operations.archive import archive_events
from api.services.resources import Resources
from api.storage.tables import PaymentOrder, WebhookAttempt, WebhookDelivery, WebhookEvent
from tests.api.conftest import Merchant
from tests.support.clock import SettableClock
from tests.support.shop import Shop
from tests.support.webhooks import Desk

LONG_AGO = datetime(2024, 3, 1, tzinfo=UTC)
END = datetime(2025, 1, 1, tzinfo=UTC)
PATIENCE_S = 120
SLOW = """
import sys
from api.cli.commands import main
from api.services.operations import archive
archive.BATCH = 2
main()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "archive"
    made.mkdir()
    return made


@pytest.fixture
def desk(resources: Resources, client: FlaskClient, clock: SettableClock) -> Desk:
    clock.set(LONG_AGO)
    return Desk.of(resources, client)


def read_files(folder: Path) -> list[dict[str, Any]]:
    """Return what the files hold, each of which its sum beside it proves."""
    rows = []
    for path in sorted(folder.glob("*.jsonl.gz")):
        content = path.read_bytes()
        said = path.with_name(f"{path.name}.sha256").read_text()
        assert said == f"{hashlib.sha256(content).hexdigest()}  {path.name}\n"
        rows += [json.loads(line) for line in gzip.decompress(content).splitlines()]
    return rows


def list_stored(resources: Resources) -> set[str]:
    with resources.database.read() as session:
        return set(session.scalars(select(WebhookEvent.id)))


def run_archive(resources: Resources, folder: Path) -> int:
    return sum(batch.events for batch in archive_events(resources, END, folder))


def test_what_is_over_is_in_a_file_and_not_in_the_database(
    desk: Desk, merchant: Merchant, shop: Shop, clock: SettableClock, folder: Path
) -> None:
    clock.set(LONG_AGO)
    desk.subscribe(merchant)
    order_id = shop.create()
    old = [desk.publish(merchant, order_id=order_id, number=number) for number in range(3)]
    desk.work()
    clock.set(END + timedelta(seconds=1))
    young = desk.publish(merchant, order_id=order_id)
    desk.work()
    with desk.resources.database.read() as session:
        payloads = dict(session.execute(select(WebhookEvent.id, WebhookEvent.payload)).all())
    made = set(payloads) - {young}
    assert run_archive(desk.resources, folder) == len(made) >= len(old) + 1, "and the one of the order's creation"
    rows = read_files(folder)
    assert {row["event"]["id"]: row["event"]["payload"] for row in rows} == {each: payloads[each] for each in made}
    for row in rows:
        (delivery,) = row["deliveries"]
        assert (delivery["status"], delivery["event_id"]) == ("delivered", row["event"]["id"])
        assert [attempt["response_status"] for attempt in delivery["attempts"]] == [200]
    assert list_stored(desk.resources) == {young}
    with desk.resources.database.read() as session:
        assert session.get(PaymentOrder, order_id) is not None
        (delivery_id,) = session.scalars(select(WebhookDelivery.id))
        assert set(session.scalars(select(WebhookAttempt.delivery_id))) == {delivery_id}
    assert run_archive(desk.resources, folder) == 0
    assert len(read_files(folder)) == len(made)


def test_what_may_still_be_sent_stays_whole(desk: Desk, merchant: Merchant, clock: SettableClock, folder: Path) -> None:
    made = desk.subscribe(merchant)
    over, sent_again = desk.publish(merchant, number=1), desk.publish(merchant, number=2)
    desk.work()
    delivery_id = next(
        each["delivery_id"] for each in desk.log(merchant, made["webhook_id"]) if each["event_id"] == sent_again
    )
    desk.transport.always(status=500)
    pending = desk.publish(merchant, number=3)
    desk.work()
    assert desk.delivery(pending).status == "pending"
    clock.set(END + timedelta(days=1))
    path = f"/api/v1/webhook_delivery/{delivery_id}/redeliver"
    assert desk.client.post(path, headers=merchant.headers()).status_code == 200
    with desk.resources.database.write() as session:  # nobody has worked since, so the third is still waiting
        session.get_one(WebhookDelivery, delivery_id).status = "failed"
        session.add(WebhookAttempt(delivery_id=delivery_id, attempt=2, at=clock.now(), duration_ms=1))
    assert run_archive(desk.resources, folder) == 1
    assert list_stored(desk.resources) == {pending, sent_again}
    assert [row["event"]["id"] for row in read_files(folder)] == [over]


def test_who_asks_for_what_was_archived_is_told_so(
    desk: Desk, merchant: Merchant, clock: SettableClock, folder: Path
) -> None:
    made = desk.subscribe(merchant)
    event_id = desk.publish(merchant, order_id=None)
    desk.work()
    delivery_id = desk.log(merchant, made["webhook_id"])[0]["delivery_id"]
    clock.set(END + timedelta(days=1))
    missing = make_id(IdPrefix.EVENT, clock.now())
    run_archive(desk.resources, folder)

    def ask(path: str) -> tuple[int, dict[str, Any]]:
        answer = desk.client.get(path, headers=merchant.headers())
        return answer.status_code, answer.get_json()

    status, body = ask(f"/api/v1/events/{event_id}")
    assert (status, body["code"]) == (410, "410")
    assert "before 2025-01-01T00:00:00.000Z is in the archive" in body["message"]
    assert "read the order" in body["message"]
    again = desk.client.post(f"/api/v1/webhook_delivery/{delivery_id}/redeliver", headers=merchant.headers())
    assert again.status_code == 410
    status, body = ask(f"/api/v1/events?since={event_id}")
    assert (status, body["error"][0]["path"]) == (400, "since")
    assert "give that moment" in body["error"][0]["message"]
    assert ask("/api/v1/events?since=2025-01-01T00:00:00Z")[0] == 200
    assert ask(f"/api/v1/events/{missing}")[0] == 404, "one that is young enough was never there"


def test_a_full_disk_loses_nothing(
    desk: Desk, merchant: Merchant, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = {desk.publish(merchant) for _ in range(3)}

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(archive, "write_private_file", fail)
        with pytest.raises(OSError, match="No space"):
            run_archive(desk.resources, folder)
    assert list_stored(desk.resources) == events
    with monkeypatch.context() as patch:
        patch.setattr(archive, "_note_batch", fail)
        with pytest.raises(OSError, match="No space"):
            run_archive(desk.resources, folder)
    assert list_stored(desk.resources) == events, "what a transaction did not commit"
    assert run_archive(desk.resources, folder) == 3
    assert len(read_files(folder)) == 3, "the same file was written again, not another"


def test_a_damaged_file_is_noticed_before_anything_is_deleted(
    desk: Desk, merchant: Merchant, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event_id = desk.publish(merchant)
    monkeypatch.setattr(
        archive, "write_private_bytes", lambda path, *_, **__: path.write_bytes(gzip.compress(b"something else"))
    )
    with pytest.raises(archive.ArchiveFailed, match="see to the disk"):
        run_archive(desk.resources, folder)
    assert list_stored(desk.resources) == {event_id}


def test_what_is_sent_again_at_this_very_moment_stays(desk: Desk, merchant: Merchant, folder: Path) -> None:
    if desk.resources.database.engine.dialect.name == "sqlite":
        return  # has one writer: it is before or after
    desk.subscribe(merchant)
    held, other = desk.publish(merchant), desk.publish(merchant)
    desk.work()
    mine = select(WebhookDelivery).where(WebhookDelivery.event_id == held).with_for_update()
    with desk.resources.database.write() as session:
        session.scalars(mine).one()
        assert run_archive(desk.resources, folder) == 1
        assert list_stored(desk.resources) == {held}
    assert {row["event"]["id"] for row in read_files(folder)} == {held, other}, "it stands in a file all the same"
    assert run_archive(desk.resources, folder) == 1


def test_killed_again_and_again_it_ends_with_everything_once(desk: Desk, merchant: Merchant, folder: Path) -> None:
    desk.subscribe(merchant)
    events = {desk.publish(merchant, number=number) for number in range(40)}
    desk.work()
    for _ in range(5):
        desk.work()
    resources = desk.resources
    environment = {
        **os.environ,
        "DATABASE_URL": resources.config.database_url,
        "DATA_DIR": str(resources.config.data_dir),
    }
    command = [sys.executable, "-c", SLOW, "db", "archive", "--before", f"{END:%Y-%m-%d}", "--to", str(folder)]
    for goal in (3, 8):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE_S
        while len(list(folder.glob("*.gz"))) < goal and process.poll() is None:
            assert time.monotonic() < deadline
            threading.Event().wait(0.002)
        process.kill()
        process.wait()
        in_files = {row["event"]["id"] for row in read_whole(folder)}
        assert list_stored(resources) | in_files == events, "each is here or there"
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    assert done.stdout.endswith("events were archived.\n")
    assert list_stored(resources) == set()
    assert {row["event"]["id"] for row in read_files(folder)} == events


def read_whole(folder: Path) -> list[dict[str, Any]]:
    """Return what the files hold whose name they have been given: a kill may have come before the sum's."""
    return [
        json.loads(line)
        for path in folder.glob("events-*.jsonl.gz")
        for line in gzip.decompress(path.read_bytes()).splitlines()
    ]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)  # a copy of PostgreSQL needs its own pg_dump
def test_a_folder_that_is_not_there_is_made_for_the_service_alone(resources: Resources, tmp_path: Path) -> None:
    environment = {"DATABASE_URL": resources.config.database_url, "DATA_DIR": str(resources.config.data_dir)}
    for words, place in ((("archive", "--to"), tmp_path / "old" / "events"), (("backup",), tmp_path / "copies")):
        done = CliRunner().invoke(main, ["db", *words, str(place)], env=environment)
        assert done.exit_code == 0, done.output
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
        assert stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    (tmp_path / "file").touch()
    done = CliRunner().invoke(main, ["db", "archive", "--to", str(tmp_path / "file" / "in")], env=environment)
    assert (done.exit_code, "it can't be made: Not a directory" in done.output) == (1, True)


def test_what_is_young_is_not_archived_by_mistake(resources: Resources, folder: Path) -> None:
    environment = {"DATABASE_URL": resources.config.database_url, "DATA_DIR": str(resources.config.data_dir)}
    day = f"{datetime.now(UTC) - timedelta(days=29):%Y-%m-%d}"
    done = CliRunner().invoke(main, ["db", "archive", "--before", day, "--to", str(folder)], env=environment)
    assert done.exit_code == 1
    assert "may be sent again" in done.output

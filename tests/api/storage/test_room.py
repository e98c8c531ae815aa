"""Whether PostgreSQL has room to grow: found by taking some, and said where its disk can be seen."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest
from flask.testing import FlaskClient
from sqlalchemy import make_url, text

from api.services.operations import writing
from api.services.operations.doctor.database import check_database
from api.services.operations.doctor.room import check_room, is_local
from api.services.operations.writing import try_growing
from api.services.resources import Resources

ROOM = "make room on its disk"


def _is_sqlite(resources: Resources) -> bool:
    return resources.database.engine.dialect.name == "sqlite"


def test_the_room_of_postgresql_is_told_where_it_can_be_seen(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    if _is_sqlite(resources):
        assert list(check_room(resources)) == []
        return
    (told,) = check_room(resources)
    assert (told.level, " MB are free where PostgreSQL is (/" in told.message) == ("ok", True)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=3 * 2**20, total=2**30))
    (told,) = check_room(resources)
    assert (told.level, told.message[:29]) == ("wrong", "3 of 1,024 MB are free where ")
    monkeypatch.setattr("api.services.operations.doctor.room.is_local", lambda _: False)
    (told,) = check_room(resources)
    assert told.message == "how full PostgreSQL's is can't be seen from here: watch it on its machine"


def test_the_doctor_and_readiness_say_the_same_of_a_database_without_room(
    resources: Resources, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much is free where the disk can be seen: it may be another one, or a quota."""
    fault = "OperationalError SQLITE_FULL" if _is_sqlite(resources) else "DiskFull 53100"
    monkeypatch.setattr(writing, "try_growing", lambda _: fault)
    said = [each for each in (*check_database(resources), *check_room(resources)) if each.level == "wrong"]
    told = {each.about: f"{each.message}: {each.remedy}" for each in said}
    assert told["database"].endswith(f" has no room to grow ({fault}), so orders and payments are not taken: {ROOM}")
    ready = client.get("/readyz").get_json()["message"]
    assert ready.startswith(f"the database has no room to grow ({fault}), so no worker can do ")
    assert ready.endswith(f": {ROOM}")
    if not _is_sqlite(resources):
        assert told["disk"].startswith(f"PostgreSQL has no room to grow ({fault}), though ")
        monkeypatch.setattr("api.services.operations.doctor.room.is_local", lambda _: False)
        (away,) = check_room(resources)
        assert (away.level, away.message) == ("wrong", f"PostgreSQL has no room to grow ({fault})")


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("127.0.0.1/x", True), ("localhost/x", True), ("[::1]/x", True), ("/x", True),
        ("/x?host=/run/postgresql", True),
        ("db1/x", False), ("10.0.0.1/x", False), ("/x?host=127.0.0.1:5432&host=db2:5432", False),
    ],
)  # fmt: skip
def test_this_machine_is_known_by_its_names(place: str, expected: bool) -> None:
    assert is_local(make_url(f"postgresql+psycopg://{place}")) is expected


def test_only_the_disk_s_own_faults_are_taken_for_a_full_one(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    if _is_sqlite(resources):
        return
    assert try_growing(resources) == ""
    with resources.database.read() as session:
        assert session.scalar(writing._SPILL) == 96 * 2000
        session.execute(writing._PLACE)
        plan = session.execute(text(f"EXPLAIN (ANALYZE) {writing._SPILL.text}")).scalars()
        assert any("Sort Method: external merge  Disk:" in line for line in plan), "it takes room on the disk"
    limited = text("SELECT set_config('work_mem', '64kB', true), set_config('temp_file_limit', '64kB', true)")
    monkeypatch.setattr(writing, "_PLACE", limited)
    assert try_growing(resources) == "", "a limit of its own tells nothing of the disk"

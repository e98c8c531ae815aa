"""Leases and their tokens, on SQLite and on PostgreSQL."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import event, select, text
from structlog.testing import capture_logs

from api.domain.duties import Duty
from api.services.resources import Resources
from api.storage import process
from api.storage.db import Database, read_database_time
from api.storage.fencing import IDLE_MS, Fence, LeaseLost
from api.storage.process import Process, name_process
from api.storage.tables import JobSlot, Lease
from api.worker.leases import LEASE_S, Leases
from tests.api.conftest import START

PATIENCE_S = 20


class Stopwatch:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def make(resources: Resources) -> Iterator[Callable[..., Leases]]:
    made: list[Leases] = []

    def build(**options: object) -> Leases:
        made.append(Leases(resources.database, **options))  # type: ignore[arg-type]  # named by each test
        return made[-1]

    yield build
    for each in made:
        each.close()


def test_that_leases_can_not_be_had_is_said_once_with_the_databases_word_for_it(
    resources: Resources, make: Callable[..., Leases], tmp_path: Path
) -> None:
    """A full disk and a lock were one word, written five times a second."""
    leases, other = make(), Database(f"sqlite:///{tmp_path / 'without-tables.db'}")
    whole, leases._database = leases._database, other
    with capture_logs() as logs:
        for database in (other, other, whole, whole, other):
            leases._database = database
            leases.keep(Duty)
    leases._database = whole
    other.close()
    told = [(each["event"], each.get("kind") or each["was"]) for each in logs if each["event"].startswith("leases_")]
    away = ("leases_unavailable", "OperationalError SQLITE_ERROR")
    assert told == [away, ("leases_available", away[1]), away]


def expire(resources: Resources, duty: Duty) -> None:
    with resources.database.write() as session:
        session.get_one(Lease, duty).expires_at = read_database_time(session) - timedelta(seconds=1)


def slots(resources: Resources) -> list[str]:
    with resources.database.read() as session:
        return list(session.scalars(select(JobSlot.job)))


def write_slot(database: Database, job: str) -> None:
    with database.write() as session:
        session.add(JobSlot(job=job, slot=1, taken_at=START))


def test_one_holds_a_duty_and_each_holder_has_a_higher_token(resources: Resources, make: Callable[..., Leases]) -> None:
    first, second = make(), make()
    assert first.keep(Duty) == dict.fromkeys(Duty, 1)
    assert second.keep(Duty) == {}
    first.release(Duty.CHAINS)
    assert second.keep(Duty) == {Duty.CHAINS: 2}
    expire(resources, Duty.WEBHOOKS)
    assert second.keep(Duty) == {Duty.CHAINS: 2, Duty.WEBHOOKS: 2}


def test_a_lease_is_renewed_as_long_as_its_holder_lives(resources: Resources, make: Callable[..., Leases]) -> None:
    stopwatch = Stopwatch()
    holder = make(stopwatch=stopwatch)
    holder.keep([Duty.CHAINS])
    expire(resources, Duty.CHAINS)
    stopwatch.now += 1
    assert holder.keep([Duty.CHAINS]) == {Duty.CHAINS: 1}
    assert make().keep([Duty.CHAINS]) == {}


def test_a_holder_that_was_replaced_notices(resources: Resources, make: Callable[..., Leases]) -> None:
    stopwatch = Stopwatch()
    stopped = make(stopwatch=stopwatch)
    stopped.keep([Duty.CHAINS])
    expire(resources, Duty.CHAINS)
    make().keep([Duty.CHAINS])
    stopwatch.now += LEASE_S
    assert stopped.keep([Duty.CHAINS]) == {}


def test_a_holder_that_cannot_renew_gives_up_by_its_own_clock(
    resources: Resources, make: Callable[..., Leases], make_database_url: Callable[[str], str]
) -> None:
    stopwatch = Stopwatch()
    holder = make(stopwatch=stopwatch)
    holder.keep([Duty.CHAINS])
    with resources.database.write() as session:
        session.get_one(Lease, Duty.CHAINS, with_for_update=True)  # and on SQLite nobody else writes meanwhile
        stopwatch.now += LEASE_S + 0.1
        assert holder.keep([Duty.CHAINS]) == {}


def test_a_database_clock_that_was_set_back_keeps_nobody_in_office(
    resources: Resources, make: Callable[..., Leases]
) -> None:
    make().keep([Duty.CHAINS])
    with resources.database.write() as session:
        session.get_one(Lease, Duty.CHAINS).expires_at += timedelta(hours=1)
    stopwatch = Stopwatch()
    follower = make(stopwatch=stopwatch)
    assert follower.keep([Duty.CHAINS]) == {}
    stopwatch.now += LEASE_S + 0.1
    assert follower.keep([Duty.CHAINS]) == {Duty.CHAINS: 2}


def test_of_many_who_try_one_takes_over(resources: Resources, make: Callable[..., Leases]) -> None:
    make().keep([Duty.CHAINS])
    expire(resources, Duty.CHAINS)
    together = threading.Barrier(8)
    rivals = [make() for _ in range(8)]

    def take(leases: Leases) -> int:
        together.wait(PATIENCE_S)
        return len(leases.keep([Duty.CHAINS]))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, rivals)) == 1
    with resources.database.read() as session:
        assert session.get_one(Lease, Duty.CHAINS).token == 2


def test_a_fence_is_one_question_and_holds_for_its_transaction_alone(
    resources: Resources, make: Callable[..., Leases]
) -> None:
    fenced = resources.database.fenced(Fence(duty=Duty.CHAINS, token=make().keep([Duty.CHAINS])[Duty.CHAINS]))
    on_postgresql = resources.database.engine.dialect.name == "postgresql"
    told: list[str] = []
    with fenced.write() as session:
        connection = session.connection()
        event.listen(connection, "before_cursor_execute", lambda *asked: told.append(asked[2]))
        Fence(duty=Duty.CHAINS, token=1).check(session)
        if on_postgresql:
            assert session.scalar(text("SHOW idle_in_transaction_session_timeout")) == f"{IDLE_MS // 1000}s"
    assert len(told) == 1 + on_postgresql
    if on_postgresql:
        with resources.database.write() as session:
            assert session.scalar(text("SHOW idle_in_transaction_session_timeout")) != f"{IDLE_MS // 1000}s"


def test_what_is_written_with_an_old_token_is_refused(resources: Resources, make: Callable[..., Leases]) -> None:
    first = make()
    fenced = resources.database.fenced(Fence(duty=Duty.CHAINS, token=first.keep([Duty.CHAINS])[Duty.CHAINS]))
    write_slot(fenced, "in office")
    first.release(Duty.CHAINS)
    make().keep([Duty.CHAINS])
    with pytest.raises(LeaseLost, match="chains was taken over"):
        write_slot(fenced, "too late")
    with pytest.raises(LeaseLost):
        fenced.require_lease()
    write_slot(resources.database, "nobody's duty")
    assert slots(resources) == ["in office", "nobody's duty"]


def test_taking_over_waits_for_a_transaction_that_was_allowed(
    resources: Resources, make: Callable[..., Leases]
) -> None:
    """Between the check and the commit nobody takes over: then the commit would come after the other's reads."""
    first, second = make(), make()
    fenced = resources.database.fenced(Fence(duty=Duty.CHAINS, token=first.keep([Duty.CHAINS])[Duty.CHAINS]))
    expire(resources, Duty.CHAINS)
    with fenced.write() as session:
        session.add(JobSlot(job="allowed", slot=1, taken_at=START))
        session.flush()
        assert second.keep([Duty.CHAINS]) == {}
    assert slots(resources) == ["allowed"]
    assert second.keep([Duty.CHAINS]) == {Duty.CHAINS: 2}


def test_renewing_waits_for_no_transaction_on_postgresql(resources: Resources, make: Callable[..., Leases]) -> None:
    if resources.database.engine.dialect.name == "sqlite":
        return  # has one writer
    stopwatch = Stopwatch()
    holder = make(stopwatch=stopwatch)
    fenced = resources.database.fenced(Fence(duty=Duty.CHAINS, token=holder.keep([Duty.CHAINS])[Duty.CHAINS]))
    with resources.database.read() as session:
        before = session.get_one(Lease, Duty.CHAINS).expires_at
    with fenced.write() as session:
        stopwatch.now += 2
        assert holder.keep([Duty.CHAINS]) == {Duty.CHAINS: 1}  # while the transaction of this very thread is open
    with resources.database.read() as session:
        assert session.get_one(Lease, Duty.CHAINS).expires_at > before


def test_processes_are_known_by_more_than_their_number() -> None:
    present = Process.find_present()
    assert Process.parse(name_process()) == present
    assert len(name_process()) <= 63
    assert present.is_here
    assert not present.is_stopped
    later = Process(host=present.host, pid=present.pid, started=present.started + 1)
    elsewhere = Process(host="elsewhere", pid=present.pid, started=present.started)
    assert not later.is_here
    assert not elsewhere.is_here
    for name in ("", "psql", "checkout a b c", "checkout host 1"):
        assert Process.parse(name) is None


def test_nobody_has_ended_where_the_machine_can_not_be_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in containers that hide parts of /proc: they took one another for dead, and sent each webhook again."""
    monkeypatch.setattr(process, "BOOT_ID", Path("/nowhere"))
    hosts = []
    for _ in range(2):
        process._find_host.cache_clear()
        hosts.append(Process.find_present().host)
    try:
        assert hosts[0] != hosts[1]
        dead = replace(Process.find_present(), host=hosts[0], pid=2**22 + 1, started=1)
        assert not dead.has_ended
    finally:
        process._find_host.cache_clear()


def test_the_lease_of_a_process_that_has_ended_is_free_at_once(
    resources: Resources, make: Callable[..., Leases]
) -> None:
    holder = make()
    assert holder.keep([Duty.CHAINS]) == {Duty.CHAINS: 1}
    with subprocess.Popen(["sleep", "60"]) as child:
        dead = replace(Process.find_present(), pid=child.pid, started=read_start(child.pid))
        with resources.database.write() as session:
            for row in session.scalars(select(Lease)):  # as that process would have written them
                row.holder = f"{dead.name}/{row.holder.partition('/')[2]}"
                row.expires_at = read_database_time(session) + timedelta(hours=1)
        heir = make()
        assert heir.keep([Duty.CHAINS]) == {}
        assert not dead.has_ended
        child.kill()
        while Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
            threading.Event().wait(0.01)
        assert dead.has_ended  # though its parent has not asked for its end
        assert wait_for(heir, Duty.CHAINS) == {Duty.CHAINS: 2}
        assert heir.is_orphaned(Duty.CHAINS)
    assert dead.has_ended
    heir.release(Duty.CHAINS)
    after = make()
    assert wait_for(after, Duty.CHAINS) == {Duty.CHAINS: 3}
    assert not after.is_orphaned(Duty.CHAINS)


def test_nobody_counts_as_dead_who_may_live() -> None:
    present = Process.find_present()
    free = next(number for number in range(2**22 - 1, 1, -1) if not Path(f"/proc/{number}").exists())
    gone = replace(present, pid=free)
    assert gone.has_ended
    assert replace(present, started=present.started + 1).has_ended  # its number went to this process
    for may_live in (
        present,
        replace(gone, host="elsewhere"),
        replace(gone, host=f"{present.host.rpartition('-')[0]}-00000000"),  # a container with this machine's name
        replace(gone, started=0),
    ):
        assert not may_live.has_ended


def read_start(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def wait_for(leases: Leases, duty: Duty) -> Mapping[str, int]:
    """Keep asking, as a worker does, for less time than a lease lasts."""
    deadline = time.monotonic() + LEASE_S - 1
    while time.monotonic() < deadline:
        if duty in (mine := leases.keep([duty])):
            return mine
        threading.Event().wait(0.1)
    return {}

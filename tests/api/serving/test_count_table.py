"""Requests are counted exactly by any number of processes, whatever becomes of one of them."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from api.counting import count_table
from api.counting.count_table import NAME, SIZE, CountTable
from api.counting.recent_requests import RecentRequests

COUNT = """
import sys, threading
from pathlib import Path
from api.counting.recent_requests import RecentRequests
counted, taken = RecentRequests(Path(sys.argv[1])), []
def take():
    taken.extend(counted.acquire_entry("key", 500, 60) for _ in range(250))
threads = [threading.Thread(target=take) for _ in range(4)]
sys.stdin.readline()
for each in threads: each.start()
for each in threads: each.join()
print(sum(taken))
"""
HOLD = """
import sys, threading
from pathlib import Path
from api.counting.count_table import CountTable
table = CountTable(Path(sys.argv[1]))
table.take("key", 2)
with table._alone():
    print("held", flush=True)
    sys.stdin.readline()
"""


def begin(program: str, folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, str(folder)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


class Clock:
    """Time of the table; a test moves it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.25
        monkeypatch.setattr(count_table.time, "monotonic", lambda: self.now)


@pytest.mark.rule("limits.1")
def test_processes_of_one_installation_count_as_one(tmp_path: Path) -> None:
    processes = [begin(COUNT, tmp_path) for _ in range(3)]
    taken = sum(int(each.communicate("go\n")[0]) for each in processes)
    assert taken == 500
    table = CountTable(tmp_path)
    left_s, count = table.read("key")
    assert count == 500
    assert 0 < left_s <= 61


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_process_that_is_killed_or_stands_still_with_the_lock_keeps_nobody_out(tmp_path: Path, number: int) -> None:
    holder = begin(HOLD, tmp_path)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    holder.send_signal(number)
    try:
        table = CountTable(tmp_path)
        assert [table.take("key", 2) for _ in range(2)] == [True, False]
    finally:
        holder.kill()
        holder.communicate()


def test_who_has_waited_for_the_lock_does_not_wait_for_each_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, waits = Clock(monkeypatch), list[float]()

    def lock_in_vain(_file: int, wait_s: float) -> bool:
        waits.append(wait_s)
        return False

    monkeypatch.setattr(count_table, "lock_file", lock_in_vain)
    table = CountTable(tmp_path)
    for _ in range(3):
        table.read("key")
    assert waits == [count_table.LOCK_WAIT_S, 0.0, 0.0, 0.0]
    clock.now += count_table.HURRY_S
    table.read("key")
    assert waits[-1] == count_table.LOCK_WAIT_S


def test_no_more_than_the_limit_counts_within_a_minute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, table = Clock(monkeypatch), CountTable(tmp_path)
    assert [table.take("key", 2) for _ in range(3)] == [True, True, False]
    assert table.take("other", 2)
    assert table.read("key") == (60.75, 2)
    assert table.read("nobody") == (0.0, 0)
    clock.now = 1_060.9
    assert not table.take("key", 2), "the first second is not over for a minute yet"
    clock.now = 1_061.0
    assert table.read("key") == (0.0, 0)
    assert table.take("key", 2)
    clock.now = 3.0
    assert table.take("key", 1), "the machine has started anew"


def test_the_library_is_told_moments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    monkeypatch.setattr(count_table.time, "time", lambda: 50_000.0)
    counted = RecentRequests(tmp_path)
    assert counted.acquire_entry("key", 2, 60)
    assert counted.get_moving_window("key", 2, 60) == (50_000.75, 1)
    assert counted.get_moving_window("nobody", 2, 60) == (50_000.0, 0)
    with pytest.raises(ValueError, match="3600"):
        counted.acquire_entry("key", 2, 3600)


def test_who_came_least_is_forgotten_when_there_is_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(count_table, "_find_place", lambda _: count_table.mmap.PAGESIZE)
    table = CountTable(tmp_path)
    for _ in range(3):
        table.take("often", 9)
    for number in range(100):
        assert table.take(f"once {number}", 1)
    assert table.read("often")[1] == 3
    assert not table.take("once 99", 1)
    assert table.take("once 0", 1)


def test_the_file_is_the_accounts_own_and_keeps_its_size(tmp_path: Path) -> None:
    table = CountTable(tmp_path)
    for number in range(1_000):
        table.take(str(number), 1)
    found = (tmp_path / NAME).stat()
    assert (stat.S_IMODE(found.st_mode), found.st_size) == (0o600, SIZE)
    other = tmp_path / "other"
    other.mkdir()
    (other / NAME).symlink_to(tmp_path / "target")
    with pytest.raises(OSError, match="symbolic"):
        CountTable(other)


def test_without_room_on_the_disk_a_process_counts_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    table, other = CountTable(tmp_path), CountTable(tmp_path)
    assert [table.take("key", 1), table.take("key", 1), other.take("key", 1)] == [True, False, True]

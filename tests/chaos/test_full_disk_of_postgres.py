"""PostgreSQL's disk is full: orders are refused until there is room, also where that ends the server for a while."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chaos.full_disk import BEFORE, REFUSED
from tests.support.machines import make_machine_folder
from tests.support.small_disk import write_command

ROOT = Path(__file__).parents[2]
SIZE = "150m"


@pytest.mark.small_disk
@pytest.mark.timeout(600)
def test_a_full_disk_of_postgres_loses_nothing_and_costs_no_500(tmp_path: Path) -> None:
    disk = make_machine_folder()
    command = [sys.executable, "-m", "tests.chaos.full_disk_of_postgres", str(disk), str(tmp_path)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    try:
        ended = subprocess.run(
            write_command(disk, SIZE, command), cwd=ROOT, env=environment, check=True, capture_output=True, text=True
        )
    finally:
        shutil.rmtree(disk)
    told = json.loads(ended.stdout.splitlines()[-1])
    rows, log = told["rounds"]
    print({name: value for name, value in told.items() if name not in ("acknowledged", "stored")})
    assert set(told["statuses"]) == {"200", "503"}
    assert told["without_remedy"] == 0
    assert rows.pop("ready").startswith("the database has no room to grow (DiskFull 53100), so orders")
    assert rows.pop("metric") == "0.0", "somebody is woken, though workers write in place that they are there"
    assert rows.pop("doctor").endswith(" has no room to grow (DiskFull 53100), so orders and payments are not taken")
    assert rows == {"fell": False, "read": 200, "refused": REFUSED, "refused_after": 0}, "reading goes on"
    assert log == {"fell": True, "read": 503, "refused": REFUSED, "refused_after": 0}
    assert len(told["acknowledged"]) > BEFORE + 2 * REFUSED
    assert told["stored"] == told["acknowledged"]

"""A process dies while its threads write together: each has written all or nothing, and who was told has written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from api.storage.db import Database
from api.storage.migrations import upgrade
from tests.chaos.group_of_writers import WRITERS


def test_whoever_was_told_has_written_whatever_step_the_process_dies_at(tmp_path: Path) -> None:
    file = tmp_path / "one.db"
    database = Database(f"sqlite:///{file}")
    upgrade(database.engine)
    database.close()
    command = [sys.executable, "-m", "tests.chaos.group_of_writers", str(file)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, timeout=60).stdout)
    runs, parts = found["runs"], set(found["kept"])
    assert [run["is_dead"] for run in runs].count(False) == 2, "each group got to its end once"
    assert len(runs) > 30, "a group has many steps"
    kept = {name.rpartition("_")[0] for name in parts}
    assert parts == {f"{name}_{part}" for name in kept for part in "ab"}, "nobody has written a half"
    assert not any(name.endswith("faulty") for name in kept)
    told = {f"{run['prefix']}_{name}" for run in runs for name in run["told"]}
    assert told <= kept, "nobody was told of what was not kept"
    assert [len(run["told"]) for run in runs if not run["is_dead"]] == [WRITERS, WRITERS]

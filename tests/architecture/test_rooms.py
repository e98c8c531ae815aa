"""No package has a circle of imports between its rooms."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.architecture.__main__ import main
from tests.architecture.exceptions import CIRCLES
from tests.architecture.rooms import draw_plans


def test_no_rooms_import_each_other() -> None:
    found = {plan.package: plan.circles for plan in draw_plans() if plan.circles}
    assert found == CIRCLES, "cut the circles that are new; take those that are cut off the list"


def test_plans_count_rooms_floors_arrows_and_circles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sources = {
        "api/__init__.py": "",
        "api/roof.py": "from api.walls import beam, window\n",
        "api/walls/__init__.py": "",
        "api/walls/beam.py": "import api.cellar\n",
        "api/walls/window.py": "def open_it():\n    from api.walls.beam import hold\n",
        "api/cellar.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from api.stairs import Step\n",
        "api/stairs.py": "from api.cellar import floor\nimport ast\n",
    }
    for name, text in sources.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    house, walls = draw_plans(tmp_path)
    assert (house.package, house.rooms, house.floors, house.arrows) == ("api", 4, 3, 4)
    assert house.circles == (("cellar", "stairs"),)
    assert (walls.package, walls.rooms, walls.floors, walls.arrows) == ("api.walls", 2, 2, 1)
    assert walls.circles == ()
    main(tmp_path)
    assert "cellar ↔ stairs" in capsys.readouterr().out

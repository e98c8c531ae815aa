"""Every command of the guide is run, against the service of its first page."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.support.console import Reader, count_commands, list_environment
from tests.support.running import RunningService, find_free_port

pytestmark = [pytest.mark.xdist_group("guide"), pytest.mark.timeout(240)]
ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "guide"
BIN = Path(sys.executable).parent
SHOP = "shop.md"
BEGUN = ("quickstart.md", SHOP)
"""Pages that say themselves where the service is; on the others the reader has read that."""


def read_page(name: str) -> str:
    return (GUIDE / name).read_text(encoding="utf-8")


PAGES = sorted(path.name for path in GUIDE.glob("*.md") if count_commands(path.read_text(encoding="utf-8")))
BESIDE = "../executable-routes.md"
"""A page beside the guide, whose commands are those of its reader too."""


def make_reader(service: RunningService, name: str, folder: Path) -> Reader:
    """Return a reader whose service runs already, on another port than the document's."""
    receiver, shop = (f"127.0.0.1:{find_free_port()}" for _ in range(2))
    (folder / "welcome").write_text(service.welcome)
    replaced = {
        "make serve": f"cat {folder / 'welcome'}",
        "pip install -q ./clients/python": "true",  # the tests of the clients install it
        "$PWD/.venv/bin": str(BIN),
        "http://127.0.0.1:8000": service.url,
        "localhost:3000": receiver,
        "127.0.0.1:5000": shop,
        "--port 5000": f"--port {shop.rpartition(':')[2]}",
    }
    environment = list_environment(BIN) | {
        "DATA_DIR": str(service.data_dir),
        "PORT": receiver.rpartition(":")[2],
        "SHOP_DATABASE": str(folder / "shop.db"),
    }
    if name not in BEGUN:
        environment |= {"CHECKOUT_URL": service.url, "CHECKOUT_API_KEY": service.key}
    reader = Reader(environment=environment, replaced=replaced, folder=folder)
    reader.note(service.welcome)
    return reader


@pytest.mark.parametrize("name", [BESIDE, *(name for name in PAGES if name != SHOP)])
def test_the_commands_of_a_page_do_what_it_says(name: str, guide_service: RunningService, tmp_path: Path) -> None:
    text = read_page(name)
    with make_reader(guide_service, name, tmp_path) as reader:
        assert reader.follow(text) == count_commands(text)


def test_the_first_command_is_the_one_that_is_run() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^serve: .*\n\t@exec \$\(BIN\)/checkout up --port \$\(PORT\)", makefile, re.MULTILINE)
    assert "PORT ?= 8000" in makefile
    assert shutil.which("checkout", path=str(BIN))

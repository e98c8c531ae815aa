"""What the README says is run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from adapters.base import BadPayload
from adapters.feed.feed import refresh
from adapters.testing import check_market
from tests.support.markets import token

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = re.findall(r"^\$ (routing-engine .*)$", README, re.MULTILINE)


def test_the_example_of_the_library_runs(capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(PYTHON[0], "README.md", "exec"), {})
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("WETH@1 -[")
    assert shown[0].endswith("USDC@8453")
    gross, net = map(int, shown[1].split())
    assert gross > net > 0
    assert 0 < int(shown[-1]) < 10**18
    assert len(PYTHON[0].strip().splitlines()) <= 15


def test_the_example_of_an_adapter_runs() -> None:
    names: dict[str, Any] = {}
    exec(compile(PYTHON[1], "README.md", "exec"), names)

    class Client:
        def __init__(self, reserve: str) -> None:
            self.reserve = reserve

        def get(self, what: str) -> list[dict[str, str]]:
            return [{"id": "0xab", "token0": "A", "token1": "B", "reserve0": self.reserve, "reserve1": "2000000"}]

    tokens = {"A": token("A"), "B": token("B")}
    good = refresh([names["MyDexAdapter"](Client("1000000"), tokens)])
    (market,) = good.snapshot.markets.values()
    check_market(market)
    bad = names["MyDexAdapter"](Client("many"), tokens)
    assert refresh([bad]).degraded
    with pytest.raises(BadPayload, match="reserves"):
        bad.parse(bad.fetch())


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_run(command: str) -> None:
    program = Path(sys.executable).parent / "routing-engine"
    done = subprocess.run([program, *shlex.split(command)[1:]], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_two_commands_exist_and_links_lead_somewhere() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert re.findall(r"^\$ make (\w+)", README, re.MULTILINE) == ["serve", "test"]
    assert "\nserve:" in makefile
    assert "\ntest:" in makefile
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_setting_is_one_that_the_service_reads() -> None:
    config = (ROOT / "api" / "config.py").read_text()
    settings = re.findall(r"^\| `([A-Z_]+)` \|", README, re.MULTILINE)
    assert len(settings) >= 5
    for setting in settings:
        assert setting in config, setting

"""Chains of an operator's file: in a process of their own, since the chains of a process never change."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "operator_chains"
FILE = FOLDER / "bnb_and_avalanche.json"
ROOT = Path(__file__).parents[3]
MAIN = "from routing_engine.cli import main; main()"


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the tree, without what the test run itself set."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COV_"))}
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=kept | environment, capture_output=True, text=True, check=False
    )


def test_two_chains_are_data() -> None:
    plugins = ("-p", "no:cacheprovider", "-p", "tests.api.operator_chains.plugin")
    done = run("-m", "pytest", "-q", "-x", *plugins, str(FOLDER / "checks.py"))
    assert done.returncode == 0, done.stdout[-4000:]
    (passed,) = re.findall(r"(\d+) passed", done.stdout)
    defined = re.findall(r"(?m)^def test_(\w+)\((.*)\)", (FOLDER / "checks.py").read_text())
    assert int(passed) == sum(2 if "shop" in given else 1 for _, given in defined), "both databases where there is one"


def test_they_are_off_unless_they_are_named() -> None:
    code = "from routing_engine.reference.chains import CHAINS; print(list(CHAINS))"
    assert json.loads(run("-c", code).stdout) == [1, 10, 137, 8453, 42161]


def test_the_command_line_takes_the_file() -> None:
    request = ("route", "--from", "USDC@56", "--to", "USDC@8453", "--amount", "100", "--format", "json")
    done = run("-c", MAIN, "--chains", str(FILE), *request)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["token_out"].endswith("@8453")
    refused = run("-c", MAIN, *request)
    assert refused.returncode == 2
    assert "USDC@56" in refused.stderr


def test_the_service_reads_the_setting(tmp_path: Path) -> None:
    code = (
        "from api import create_app\n"
        "from api.config import Config\n"
        "create_app(Config.from_env())\n"
        "from routing_engine.reference.chains import CHAINS\n"
        "print(CHAINS[56].name)\n"
    )
    done = run("-c", code, CHAINS_FILE=str(FILE), DATA_DIR=str(tmp_path / "data"))
    assert done.stdout == "BNB Chain\n", done.stderr


def test_a_wrong_file_stops_the_start(tmp_path: Path) -> None:
    wrong = json.loads(FILE.read_text())
    wrong["chains"][1]["gas_model"] = "free"
    (tmp_path / "chains.json").write_text(json.dumps(wrong))
    setting = {"CHAINS_FILE": str(tmp_path / "chains.json"), "DATA_DIR": str(tmp_path / "data")}
    done = run("-m", "api.cli", "db", "upgrade", **setting)
    assert done.returncode == 1
    said = "CHAINS_FILE: .*chains.json: chains\\[1\\].gas_model: must be one of eip1559, op_stack, arbitrum, not 'free'"
    assert re.search(said, done.stderr), done.stderr

"""The tables of benchmarks in the documents are those of the run that is published, and what they name exists."""

from __future__ import annotations

import json
import re
from configparser import ConfigParser
from importlib import import_module

import jsonschema_rs

from benchmarks.cli import bench
from benchmarks.harness.replay import Fault
from benchmarks.reports.document import read_run
from tests.support.bench_tables import PUBLISHED, ROOT, write_documents

TEXT = (ROOT / "docs" / "benchmarks.md").read_text()


def test_tables_are_of_the_published_run() -> None:
    for path, text in write_documents().items():
        assert path.read_text() == text, "run python -m tests.support.bench_tables"


def test_published_runs_are_whole_and_of_the_documented_form() -> None:
    schema = json.loads((ROOT / "benchmarks" / "reports" / "run.schema.json").read_text())
    for suite, path in PUBLISHED.items():
        run = read_run(str(path))
        jsonschema_rs.validator_for(schema).validate(run)
        assert (run["suite"], run.get("cut")) == (suite, None)


def test_solvers_are_documented_and_can_be_loaded() -> None:
    settings = ConfigParser(interpolation=None)
    settings.read(ROOT / "setup.cfg")
    lines = settings["options.entry_points"]["routing_engine.solvers"].strip().splitlines()
    named = set(re.findall(r"`([a-z_]+)`", TEXT.partition("| solver | what it is |")[2].partition("Each peer")[0]))
    for line in lines:
        name, _, target = line.partition(" = ")
        module, _, found = target.partition(":")
        assert name in named
        assert callable(getattr(import_module(module), found))


def test_every_reason_and_option_is_documented() -> None:
    for fault in Fault:
        assert f"`{fault}`" in TEXT
    options = {option for command in bench.commands.values() for each in command.params for option in each.opts}
    assert {option for option in options if option.startswith("--")} <= set(re.findall(r"--[a-z][a-z-]+", TEXT))
    assert set(re.findall(r"--[a-z][a-z-]+", TEXT)) <= options

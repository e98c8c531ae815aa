"""The operator's commands: settings, vendors, and a database that is not as it should be."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from api.domain.env import EnvMode
from api.domain.scopes import ALL_SCOPES
from api.services.resources import Resources
from api.services.vendors.api_keys import find_key
from api.settings import SETTINGS
from tests.api.conftest import Merchant, Run


def test_settings_are_listed_with_their_values_but_no_secret(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOG_LEVEL", raising=False)
    monkeypatch.setenv("PORT", "8123")
    monkeypatch.setenv("METRICS_TOKEN", "s3cret")
    printed = run("settings", "--json").output
    rows = {row["setting"]: row for row in map(json.loads, printed.splitlines())}
    assert set(rows) == set(SETTINGS)
    assert rows["PORT"] == {"setting": "PORT", "value": "8123", "from": "environment"}
    assert rows["METRICS_TOKEN"] == {"setting": "METRICS_TOKEN", "value": "(set; not shown)", "from": "environment"}
    assert rows["LOG_LEVEL"] == {"setting": "LOG_LEVEL", "value": "INFO", "from": "default"}
    assert "s3cret" not in printed + run("settings").output


def test_an_address_of_a_database_that_is_none_is_said_without_its_password(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://me:s3cret@db:port/checkout")
    result = run("vendors", "list")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: DATABASE_URL is no address of a database")
    assert "s3cret" not in result.output


@pytest.mark.rule("keys.10", "keys.13")
def test_a_vendor_is_made_with_keys_that_work(run: Run, resources: Resources) -> None:
    result = run("vendors", "create", "Tea & Co", "--json")
    assert result.exit_code == 0, result.output
    made = json.loads(result.stdout)
    assert set(made) == {"vendor_id", "name", "test_key", "live_key"}
    with resources.database.read() as session:
        for env_mode in EnvMode:
            key = find_key(session, made[f"{env_mode}_key"], resources.clock.now())
            assert key is not None
            assert key.scopes == ALL_SCOPES
            assert (key.vendor_id, key.env_mode) == (made["vendor_id"], env_mode)
    listed = [json.loads(line) for line in run("vendors", "list", "--json").stdout.splitlines()]
    assert [row["name"] for row in listed] == ["Tea & Co"]
    assert made["test_key"] not in run("vendors", "list").output


def test_a_name_is_no_vendors_id(run: Run, merchant: Merchant) -> None:
    for name in (merchant.id, f" {merchant.id.upper()}"):
        result = run("vendors", "create", name)
        assert result.exit_code == 1
        assert "name: Must not begin like an id" in result.output
    assert merchant.id in run("keys", "list", merchant.id, "--json").output


@pytest.mark.in_turns
@pytest.mark.parametrize("name", ["", " ", "x" * 201, "a\nb"])
def test_a_vendor_needs_a_name(run: Run, name: str) -> None:
    result = run("vendors", "create", name)
    assert result.exit_code == 1
    assert "name: Must be 1 to 200 printable characters" in result.output


def test_a_name_is_given_once(run: Run) -> None:
    assert run("vendors", "create", "Tea").exit_code == 0
    result = run("vendors", "create", "Tea")
    assert result.exit_code == 1
    assert "choose another name" in result.output


def test_an_old_schema_is_said(
    run: Run, monkeypatch: pytest.MonkeyPatch, make_database_url: Callable[[str], str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", make_database_url("sqlite"))
    assert "checkout db upgrade" in run("vendors", "list").output
    assert run("db", "upgrade").exit_code == 0
    assert run("vendors", "list").exit_code == 0


def test_no_database_is_made_where_the_service_has_none(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path / 'other.db'}")
    result = run("vendors", "list")
    assert result.exit_code == 1
    assert "DATABASE_URL or DATA_DIR as the service has them" in result.output
    assert not (tmp_path / "other.db").exists()


def test_a_bad_setting_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "eighty")
    result = run("vendors", "list")
    assert result.exit_code == 1
    assert "PORT" in result.output
    assert "Traceback" not in result.output


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys, api.cli.commands; "
        "print([m for m in ('flask', 'sqlalchemy', 'numba', 'uvicorn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

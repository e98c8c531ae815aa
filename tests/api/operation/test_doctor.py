"""What `checkout doctor` finds wrong with settings, files and databases: it says what to do, and no secret."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from adapters.feed.plan import Plan
from api.cli.commands import main
from api.config import Config
from api.domain.env import EnvMode
from api.services.operations.doctor.findings import Finding
from api.services.operations.doctor.settings import check_files, check_settings
from api.services.operations.shares import list_shares
from api.services.resources import Resources
from api.storage.db import Database
from api.storage.tables import Lease, WatchCursor
from tests.api.conftest import Run
from tests.support.doctor import HASH, list_bad


@pytest.fixture
def run(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.setenv("DATABASE_URL", resources.config.database_url)
    monkeypatch.setenv("DATA_DIR", str(resources.config.data_dir))
    monkeypatch.setenv("BASE_URL", "http://127.0.0.1:9")  # nobody is there
    resources.config.data_dir.chmod(0o700)

    def invoke(*words: str, **settings: str) -> Result:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        return CliRunner().invoke(main, ("doctor", *words))

    return invoke


def test_what_is_wrong_is_said_with_its_remedy_and_fails(run: Run) -> None:
    result = run("--json")
    assert result.exit_code == 1
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert {row["about"]: row["level"] for row in rows} == {
        "settings": "ok",
        "files": "ok",
        "database": "ok",
        "secrets": "ok",
        "webhooks": "ok",
        "vendors": "warning",
        "worker": "wrong",
        "api": "warning",
        "receivers": "ok",
        "market": "ok",
        "chains": "ok",
    } | ({"clock": "ok", "disk": "ok"} if any(row["about"] == "clock" for row in rows) else {})
    (worker,) = [row for row in rows if row["about"] == "worker"]
    assert worker["message"].startswith("nobody does the duties ")
    assert worker["remedy"].startswith("start `checkout worker`")
    shown = run().stdout
    assert "wrong   worker: nobody does the duties" in shown
    assert "        → start `checkout worker`" in shown


def test_with_a_worker_all_is_well(run: Run, resources: Resources) -> None:
    soon = datetime.now(UTC) + timedelta(minutes=5)
    with resources.database.write() as session:
        for share in list_shares(resources):
            session.add(Lease(duty=share, holder="w", token=1, expires_at=soon))
        for chain_id in resources.ledgers[EnvMode.TEST].chain_ids:
            read = {"block_number": 1, "block_hash": HASH, "final_number": 0, "mined_at": soon, "updated_at": soon}
            session.add(WatchCursor(env_mode="test", chain_id=chain_id, **read))
    result = run()
    assert result.exit_code == 0, result.output


def test_a_bad_setting_is_all_that_is_said(run: Run) -> None:
    result = run(PORT="eighty")
    assert result.exit_code == 1
    assert "PORT" in result.stdout
    assert "database" not in result.stdout


def test_a_database_that_is_not_there_is_not_made(run: Run, tmp_path: Path) -> None:
    result = run(DATABASE_URL="", DATA_DIR=str(tmp_path / "new"))
    assert result.exit_code == 1
    assert "there is none at" in result.stdout
    assert not (tmp_path / "new").exists()


def test_a_database_that_was_there_until_lately_is_not_made_anew(run: Run, tmp_path: Path) -> None:
    """Its log lies there still, and whoever runs writes to a file without a name: an empty one would take its place."""
    (tmp_path / "checkout.db-wal").write_bytes(b"written")
    said = run("--json", DATABASE_URL="", DATA_DIR=str(tmp_path)).stdout
    assert "docs/runbook.md" in said
    assert "db upgrade" not in said
    refused = CliRunner().invoke(main, ("db", "upgrade"))
    assert refused.exit_code == 1
    assert "docs/runbook.md" in refused.output
    assert not (tmp_path / "checkout.db").exists()


def test_a_database_that_does_not_answer_is_said_without_its_password(run: Run) -> None:
    result = run("--json", DATABASE_URL="postgresql://me:hunter2@127.0.0.1:9/x")
    assert result.exit_code == 1
    assert "x on PostgreSQL at 127.0.0.1:9 does not answer (" in result.stdout
    assert "Connection refused" in result.stdout
    assert "hunter2" not in result.output


def test_a_misspelled_setting_is_named_with_the_one_that_is_meant(run: Run) -> None:
    said = run(
        "--json",
        DATABSE_URL="postgresql://me:hunter2@127.0.0.1:9/x",
        RPC_URL="x",
        HOSTNAME="shop",
        CONFIRMATIONS="8543:1=1",
    ).stdout
    assert "DATABSE_URL is no setting, so nobody reads it" in said
    assert "write DATABASE_URL if that is meant" in said
    assert "write RPC_URLS if that is meant" in said
    assert "HOSTNAME" not in said
    assert "CONFIRMATIONS has chain 8543, which nobody describes" in said
    assert "hunter2" not in said


def test_one_check_that_fails_hides_no_other(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> Iterator[Finding]:
        raise LookupError("nobody expected this")

    monkeypatch.setattr("api.services.operations.doctor.redis.check_redis", fail)
    rows = [json.loads(line) for line in run("--json").stdout.splitlines() if line.startswith("{")]
    found = {row["about"]: row["message"] for row in rows}
    assert found["redis"] == "could not be looked at: LookupError"
    assert {"market", "chains"} < found.keys()


def test_what_an_endpoint_says_moves_no_cursor(
    run: Run, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: one could wipe the screen, and write there that all is well."""
    fault = {"code": -32005, "message": "\x1b[2J\x1b[Hok      chains: all is well"}

    def refuse(request: Request) -> Response:
        asked = request.get_json()
        told = [{"id": each["id"], "error": fault} for each in (asked if isinstance(asked, list) else [asked])]
        return Response(json.dumps(told if isinstance(asked, list) else told[0]), mimetype="application/json")

    httpserver.expect_request("/").respond_with_handler(refuse)
    monkeypatch.setenv("RPC_URLS", f"8453=http://127.0.0.1:{httpserver.port}/")
    shown = CliRunner().invoke(main, ("doctor",), color=True).stdout
    assert "all is well" in shown
    assert "\x1b[2J" not in shown


def test_an_old_schema_is_said(run: Run, make_database_url: Callable[[str], str]) -> None:
    url = make_database_url("sqlite")
    Database(url).engine.connect().close()
    result = run(DATABASE_URL=url)
    assert result.exit_code == 1
    assert "run `checkout db upgrade`" in result.stdout


def test_files_that_others_may_use_are_named(config: Config, tmp_path: Path) -> None:
    mine = replace(config, data_dir=tmp_path / "d", database_url=f"sqlite:///{tmp_path / 'd' / 'checkout.db'}")
    mine.data_dir.mkdir(0o700)
    for name in ("secret.key", "checkout.db", "checkout.db-wal"):
        (mine.data_dir / name).touch(0o600)
    assert list_bad(check_files(mine)) == {}
    for path in (mine.data_dir / "secret.key", mine.data_dir / "checkout.db-wal", mine.data_dir):
        mode = path.stat().st_mode
        path.chmod(0o755)
        (message,) = list_bad(check_files(mine)).values()
        assert message.startswith(f"others may use {path} (mode 0755) → chmod")
        assert path.stat().st_mode & 0o777 == 0o755, "it changes nothing"
        path.chmod(mode)


def test_a_disk_that_is_full_is_said(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    class Usage:
        free = 5 * 2**20

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage)
    config.data_dir.chmod(0o700)
    assert list_bad(check_files(config))["wrong files"].startswith("5 MB are free")


def test_settings_that_promise_too_much_are_named(config: Config) -> None:
    live = {8453: ("https://rpc.example/SECRET", "https://other.example/SECRET")}
    market = Plan(adapters=("chain",), rpc_urls=live)
    sane = replace(config, market=market, forwarded_allow_ips="127.0.0.1", metrics_token="s3cret" * 4)
    assert list_bad(check_settings(sane)) == {}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"market": Plan(rpc_urls=live)}, "wrong settings: live orders are priced on the sandbox"),
        ({"market": Plan(rpc_urls=live), "market_file": Path("m.json")}, "warning settings: live orders are priced on"),
        ({"base_url": "http://pay.example"}, "wrong settings: BASE_URL is plain http"),
        ({"allow_local_webhooks": True}, "warning settings: ALLOW_LOCAL_WEBHOOKS"),
        ({"web_workers": 2}, "warning settings: each of 2 HTTP processes reads"),
        ({"metrics_token": None}, "warning settings: /metrics is closed"),
        ({"metrics_token": "a"}, "warning settings: METRICS_TOKEN is short enough to be guessed"),
        ({"forwarded_allow_ips": ""}, "warning settings: behind a proxy"),
        (
            {"market": Plan(adapters=("chain",), rpc_urls={1: ("https://rpc.example/SECRET",)})},
            "warning settings: chain 1 has one endpoint",
        ),
    ]
    for changes, wanted in cases:
        ((about, message),) = list_bad(check_settings(replace(sane, **changes))).items()
        assert f"{about}: {message}".startswith(wanted)
        assert "SECRET" not in message

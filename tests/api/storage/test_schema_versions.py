"""Old processes go on on a schema that only grew, and stop being ready on one that took something away."""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from click.testing import CliRunner, Result
from flask.testing import FlaskClient
from sqlalchemy import create_engine, text

from api.cli.commands import main
from api.services.resources import Resources
from api.storage import migrations
from api.storage.db import Database
from api.storage.tables import Base
from tests.support.databases import DIALECTS

NEWER = "9999"
TAKING = {"drop_column", "drop_table", "drop_constraint", "rename_table", "alter_column", "create_unique_constraint"}
VERSIONS = Path(migrations.__file__).parent / "versions"


@pytest.fixture
def grown(resources: Resources) -> Iterator[Callable[[str | None], None]]:
    """Let the database be as a newer version leaves it, which names the oldest that works on it."""
    wanted = migrations.find_latest_revision()

    def grow(oldest: str | None) -> None:
        with resources.database.engine.begin() as connection:
            connection.execute(text(f"UPDATE alembic_version SET version_num = '{NEWER}'"))
            connection.execute(text("DELETE FROM schema_compatibility"))
            if oldest is not None:
                connection.execute(text(f"INSERT INTO schema_compatibility VALUES ('{NEWER}', '{oldest}')"))

    yield grow
    with resources.database.engine.begin() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{wanted}'"))


@pytest.fixture
def run(resources: Resources, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    monkeypatch.setenv("DATA_DIR", str(resources.config.data_dir))
    monkeypatch.setenv("DATABASE_URL", resources.config.database_url)
    return lambda *words: CliRunner().invoke(main, words)


@pytest.mark.rule("operation.12")
def test_an_old_process_stays_ready_on_a_newer_schema_that_works_for_it(
    client: FlaskClient, resources: Resources, grown: Callable[[str | None], None], run: Callable[..., Result]
) -> None:
    grown(migrations.find_latest_revision())
    assert client.get("/readyz/api").get_json() == {"status": "ready", "revision": NEWER}
    assert run("vendors", "list").exit_code == 0


@pytest.mark.parametrize("oldest", ["9998", None])
def test_a_schema_that_took_something_away_or_says_nothing_is_not_used(
    client: FlaskClient, grown: Callable[[str | None], None], run: Callable[..., Result], oldest: str | None
) -> None:
    grown(oldest)
    refused = client.get("/readyz/api")
    assert refused.status_code == 503
    assert "too old: install the newer one" in refused.get_json()["message"]
    done = run("vendors", "list")
    assert done.exit_code == 1
    assert "too old" in done.output


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_rolling_upgrade_is_refused_where_old_processes_would_not_work(
    dialect: str, make_database_url: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = make_database_url(dialect)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("DATABASE_URL", url)
    run = CliRunner().invoke
    assert run(main, ("db", "upgrade", "--rolling")).exit_code == 0, "nothing runs on an empty database"
    database = Database(url)
    command.downgrade(migrations.make_alembic_config(database.engine), "0007")
    refused = run(main, ("db", "upgrade", "--rolling"))
    assert refused.exit_code == 1
    assert "Processes of revision 0007 do not work on" in refused.output
    assert migrations.read_current_revision(database.engine) == "0007"
    assert run(main, ("db", "upgrade")).exit_code == 0
    assert run(main, ("db", "upgrade", "--rolling")).exit_code == 0
    with database.read() as session:
        row = session.execute(text("SELECT revision, oldest FROM schema_compatibility")).one()
    assert tuple(row) == (migrations.find_latest_revision(), "0008")
    database.close()


def test_a_migration_gives_way_to_whoever_holds_a_lock(make_database_url: Callable[[str], str]) -> None:
    """It would wait longer than the requests that queue up behind it; so it lets them through, and begins anew."""
    database = Database(make_database_url("postgresql"))
    config = migrations.make_alembic_config(database.engine)
    command.upgrade(config, "0006")
    plain = create_engine(database.engine.url)
    with plain.connect() as busy:
        busy.execute(text("LOCK TABLE payment_orders IN ROW EXCLUSIVE MODE"))
        threading.Timer(2.5, busy.rollback).start()
        assert migrations.upgrade(database.engine) == migrations.find_latest_revision()
    plain.dispose()
    database.close()


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_index_that_the_operator_has_made_before_is_left_as_it_is(
    dialect: str, make_database_url: Callable[[str], str]
) -> None:
    """As the runbook says it, without what only PostgreSQL knows."""
    runbook = (Path(__file__).parents[3] / "docs" / "runbook.md").read_text(encoding="utf-8")
    statements = re.findall(r"`(CREATE INDEX CONCURRENTLY ix_[^`]*)`", runbook)
    assert len(statements) == 4
    database = Database(make_database_url(dialect))
    command.upgrade(migrations.make_alembic_config(database.engine), "0009")
    plain = create_engine(database.engine.url, isolation_level="AUTOCOMMIT")
    with plain.connect() as connection:
        for each in statements:
            connection.execute(text(each if dialect == "postgresql" else each.replace(" CONCURRENTLY", "")))
    plain.dispose()
    assert migrations.upgrade(database.engine) == migrations.find_latest_revision()
    with database.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    database.close()


def find_losses(source: str) -> list[str]:
    """Say what a migration does that code of the revision before may not survive."""
    module = ast.parse(source)
    (upgrade,) = (each for each in module.body if isinstance(each, ast.FunctionDef) and each.name == "upgrade")
    found = []
    for node in ast.walk(upgrade):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr in TAKING:
            found.append(node.func.attr)
        if node.func.attr == "add_column" and isinstance(column := node.args[1], ast.Call):
            given = {word.arg: ast.unparse(word.value) for word in column.keywords}
            if given.get("nullable") == "False" and "server_default" not in given:
                found.append("add_column")
    return found


def test_migrations_that_call_themselves_compatible_only_add() -> None:
    scripts = ScriptDirectory(str(VERSIONS.parent))
    before = ""
    for script in reversed(list(scripts.walk_revisions())):
        oldest = getattr(script.module, "oldest", script.revision)
        assert script.revision.isdecimal(), "revisions are compared"
        assert len(script.revision) == 4
        assert before <= oldest <= script.revision, script.path
        before = oldest
        if oldest < script.revision:
            assert find_losses(Path(script.path).read_text(encoding="utf-8")) == [], script.path


@pytest.mark.parametrize(
    ("step", "found"),
    [
        ("op.drop_column('vendors', 'name')", ["drop_column"]),
        ("op.alter_column('vendors', 'name', nullable=False)", ["alter_column"]),
        ("op.add_column('vendors', sa.Column('x', sa.Text(), nullable=False))", ["add_column"]),
        ("op.add_column('vendors', sa.Column('x', sa.Text(), nullable=False, server_default=''))", []),
        ("op.add_column('vendors', sa.Column('x', sa.Text(), nullable=True))", []),
        ("op.create_table('x')", []),
    ],
)
def test_what_takes_away_is_noticed(step: str, found: list[str]) -> None:
    assert find_losses(f"def upgrade():\n    {step}") == found

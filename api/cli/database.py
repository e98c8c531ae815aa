"""The operator's commands for the database."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import click

from api.cli.support import open_resources


@click.group()
def db() -> None:
    """Look after the database."""


@db.command("upgrade")
@click.option("--rolling", is_flag=True, help="Refuse unless processes of the version before go on working.")
def db_upgrade(rolling: bool) -> None:
    """Bring the database's schema up to this version."""
    with open_resources(check_schema=False) as resources:
        from api.start_checks import check_start
        from api.storage.migrations import NotRolling, require_rolling, upgrade

        try:
            if rolling:
                require_rolling(resources.database.engine)
        except NotRolling as error:
            raise click.ClickException(str(error)) from error
        click.echo(f"The database is at revision {upgrade(resources.database.engine)}.")
        check_start(resources)


@db.command("backup")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path))
def db_backup(folder: Path) -> None:
    """Copy the database into FOLDER while the service runs, and print the copy's name.

    PostgreSQL needs `pg_dump`, and a DATABASE_URL that leads to it and not to a pooler.
    """
    with open_resources(check_schema=False) as resources:
        from api.storage.backup import BackupFailed, back_up

        try:
            click.echo(back_up(resources.database.engine.url, folder, resources.clock.now()))
        except BackupFailed as error:
            raise click.ClickException(str(error)) from error


@db.command("archive")
@click.option("--before", type=click.DateTime(["%Y-%m-%d"]), help="A day, in UTC; KEEP_EVENTS_DAYS ago by default.")
@click.option(
    "--to",
    "folder",
    type=click.Path(exists=True, file_okay=False, writable=True, path_type=Path),
    required=True,
    help="Where the files go.",
)
def db_archive(before: datetime | None, folder: Path) -> None:
    """Move old events into files, with their deliveries and attempts, while the service runs.

    Compressed JSON lines, each file with its sum beside it for `sha256sum --check`. Nothing leaves the database that is
    not in a file that was read back; end the command at any moment, and begin it again. Orders, transfers and refunds
    stay.
    """
    with open_resources() as resources:
        from api.services.operations.archive import ArchiveFailed, archive_events, choose_end

        events = 0
        try:
            for batch in archive_events(resources, choose_end(resources, before), folder):
                click.echo(batch.name)
                events += batch.events
        except (ArchiveFailed, OSError) as error:
            raise click.ClickException(f"{error}; what was not archived is in the database") from error
        click.echo(f"{events} events were archived.")

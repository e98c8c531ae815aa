"""The operator's commands for the database."""

from __future__ import annotations

import os
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
    """Bring the database's schema up to this version.

    Workers that are not heard of any more are forgotten: after an upgrade all are started anew, and in a copy that was
    restored they are those of the old database.
    """
    with open_resources(check_schema=False) as resources:
        from api.services.operations.duty_health import forget_silent_workers
        from api.startup.start_checks import check_start
        from api.storage.migrations import NotRolling, require_rolling, upgrade

        try:
            if rolling:
                require_rolling(resources.database.engine)
        except NotRolling as error:
            raise click.ClickException(str(error)) from error
        click.echo(f"The database is at revision {upgrade(resources.database.engine)}.")
        if forgotten := forget_silent_workers(resources):
            click.echo(f"Forgot {forgotten} workers that ended or hang; look after those that should run.")
        check_start(resources)


@db.command("backup")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def db_backup(folder: Path) -> None:
    """Copy the database into FOLDER while the service runs, and print the copy's name.

    FOLDER is made, for the service's account alone, if it is not there.

    PostgreSQL needs `pg_dump`, and a DATABASE_URL that leads to it and not to a pooler.
    """
    with open_resources(check_schema=False) as resources:
        from sqlalchemy.exc import SQLAlchemyError

        from api.services.operations.backups import note_backup
        from api.storage.backup import BackupFailed, back_up
        from api.storage.fault_names import name_fault

        _make_folder(folder)
        begun_at = resources.clock.now()
        try:
            click.echo(back_up(resources.database.engine.url, folder, begun_at))
        except BackupFailed as error:
            raise click.ClickException(str(error)) from error
        try:
            note_backup(resources, begun_at)
        except SQLAlchemyError as error:
            message = (
                f"The copy is whole, but the database can't note that ({name_fault(error)}): it tells an older age."
            )
            click.echo(message, err=True)


@db.command("archive")
@click.option("--before", type=click.DateTime(["%Y-%m-%d"]), help="A day, in UTC; KEEP_EVENTS_DAYS ago by default.")
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    required=True,
    help="Where the files go; made, for the service's account alone, if it is not there.",
)
def db_archive(before: datetime | None, folder: Path) -> None:
    """Move old events into files, with their deliveries and attempts, while the service runs.

    Compressed JSON lines, each file with its sum beside it for `sha256sum --check`. Nothing leaves the database that is
    not in a file that was read back; end the command at any moment, and begin it again. Orders, transfers and refunds
    stay.
    """
    with open_resources() as resources:
        from api.services.operations.archive import ArchiveFailed, archive_events, choose_end

        _make_folder(folder)
        events = 0
        try:
            for batch in archive_events(resources, choose_end(resources, before), folder):
                click.echo(batch.name)
                events += batch.events
        except (ArchiveFailed, OSError) as error:
            raise click.ClickException(f"{error}; what was not archived is in the database") from error
        click.echo(f"{events} events were archived.")


def _make_folder(folder: Path) -> None:
    """Make a folder that nobody else may enter, unless it is there; one that is keeps its rights."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise click.ClickException(f"There is no folder {folder}, and it can't be made: {error.strerror}") from error
    if not os.access(folder, os.W_OK):
        raise click.ClickException(f"The folder {folder} can't be written")

"""What all commands of the operator share."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from api.services.resources import Resources

PRIVATE_UMASK = 0o077
"""What the service's processes write is for their own account alone."""

ENV_MODES = click.Choice(["test", "live"])


@contextmanager
def open_resources(*, check_schema: bool = True) -> Iterator[Resources]:
    """Give a command its resources, and turn what goes wrong into one line for the operator."""
    from sqlalchemy.exc import OperationalError

    from api.config import Config, ConfigError
    from api.context import build_resources
    from api.domain.errors import RequestRefused
    from api.secrets.keys import SecretKeyFault
    from api.storage import migrations

    resources, umask = None, os.umask(PRIVATE_UMASK)
    try:
        config = Config.from_env()
        _require_database(config.database_url, may_be_new=not check_schema)
        resources = build_resources(config)
        if check_schema and not (schema := migrations.check_schema(resources.database.engine)).is_usable:
            raise click.ClickException(schema.describe())
        yield resources
    except (ConfigError, SecretKeyFault) as error:
        raise click.ClickException(str(error)) from error
    except RequestRefused as error:
        detail = "; ".join(f"{problem.path}: {problem.message}" for problem in error.problems)
        raise click.ClickException(f"{error.message}{f' ({detail})' if detail else ''}") from error
    except OperationalError as error:
        raise click.ClickException(f"The database does not answer: {error.orig}") from error
    finally:
        os.umask(umask)
        if resources is not None:
            resources.database.close()


def _require_database(url: str, *, may_be_new: bool) -> None:
    """Refuse a file that is not there, before a database is made in its place that the service does not use."""
    from sqlalchemy import make_url

    from api.storage.missing_file import explain_missing, is_newly_gone

    place = make_url(url)
    if place.get_backend_name() != "sqlite" or not place.database or Path(place.database).exists():
        return
    if not may_be_new or is_newly_gone(Path(place.database)):
        raise click.ClickException(
            f"There is no database at {place.database}: {explain_missing(Path(place.database))}."
        )


def echo(values: dict[str, str], as_json: bool) -> None:
    """Print named values for a person, or for a program."""
    if as_json:
        click.echo(json.dumps(values))
        return
    width = max(12, *(len(name) + 2 for name in values))
    for name, value in values.items():
        click.echo(f"{name + ':':<{width}}{_show(value)}")


def echo_table(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool) -> None:
    """Print rows: for a program whole, one JSON object in each line; for a person these columns, one under another."""
    if as_json:
        for row in rows:
            click.echo(json.dumps(row))
        return
    if not rows:
        click.echo("None.", err=True)
    table = [[name.replace("_", " ") for name in columns], *([_show(row[name]) for name in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for cells in table if rows else ():
        line = "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        click.echo(line.rstrip())


def make_plain(text: str) -> str:
    """Leave out what would move a terminal's cursor: whoever wrote it could write over what is true."""
    return "".join(character for character in text if character.isprintable())


def _show(value: Any) -> str:
    """Write a value in one line."""
    return make_plain("-" if value is None or value == "" else str(value))

"""The operator's command that says what is wrong with an installation."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

import click

from api.cli.http import URL
from api.cli.support import PRIVATE_UMASK, make_plain

if TYPE_CHECKING:
    from api.config import Config
    from api.services.operations.doctor.findings import Finding

COLOURS = {"ok": "green", "warning": "yellow", "wrong": "red"}
WIDTH = 110


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def doctor(as_json: bool) -> None:
    """Say what is wrong with this installation, and what to do; the exit status is 1 if something is.

    Settings, files, database, its disk, secrets, clock, worker, webhooks, keys, accounts, Redis, the API's address,
    receivers, market and chains are looked at. No secret is printed. Warnings alone leave the status 0.
    """
    is_wrong = False
    for finding in examine():
        is_wrong = is_wrong or finding.level == "wrong"
        if as_json:
            click.echo(json.dumps(asdict(finding)))
        else:
            _show(finding)
    raise SystemExit(1 if is_wrong else 0)


def examine() -> Iterator[Finding]:
    """Yield findings as they are made; what rests on something that is wrong is left out."""
    from api.config import Config, ConfigError
    from api.services.operations.doctor.findings import blame
    from api.services.operations.doctor.settings import check_files, check_settings, find_database_file
    from api.storage.missing_file import explain_missing

    try:
        config = Config.from_env()
    except ConfigError as error:
        yield blame("settings", str(error), "correct this variable in the environment of every process")
        return
    yield from check_settings(config)
    yield from check_files(config)
    file = find_database_file(config)
    if file is not None and not file.exists():
        yield blame("database", f"there is none at {file}", explain_missing(file))
        return
    yield from _examine_resources(config)


def _examine_resources(config: Config) -> Iterator[Finding]:
    import structlog

    from api.config import ConfigError
    from api.context import build_resources
    from api.services.operations.doctor.chains import check_chains
    from api.services.operations.doctor.database import check_database
    from api.services.operations.doctor.findings import blame
    from api.services.operations.doctor.market import check_market
    from api.services.operations.doctor.reach import check_reach
    from api.services.operations.doctor.redis import check_redis
    from api.services.operations.doctor.room import check_room

    log, umask = structlog.get_logger(__name__), os.umask(PRIVATE_UMASK)
    try:
        resources = build_resources(config)
    except (ConfigError, OSError) as error:
        yield blame("settings", str(error), "correct this setting")
        return
    finally:
        os.umask(umask)
    try:
        # Without a BASE_URL of its own this shell knows nothing of the service's, but perhaps where it is.
        address = None if os.environ.get("BASE_URL") else os.environ.get(URL)
        reach = partial(check_reach, address=address or None)
        for name, check in (
            ("database", check_database),
            ("disk", check_room),
            ("redis", check_redis),
            ("api", reach),
            ("market", check_market),
            ("chains", check_chains),
        ):
            try:
                yield from check(resources)
            except Exception as fault:  # one check's fault must not hide what the others find
                log.exception("check_failed", check=name)
                yield blame(
                    name, f"could not be looked at: {type(fault).__name__}", "the traceback above says where; report it"
                )
    finally:
        with suppress(OSError):
            resources.database.close()


def _show(finding: Finding) -> None:
    head = f"{finding.level:<8}{finding.about}: "
    lines = textwrap.wrap(head + make_plain(finding.message), WIDTH, subsequent_indent=" " * 8)
    click.echo(click.style(lines[0][:8], fg=COLOURS[finding.level]) + "\n".join([lines[0][8:], *lines[1:]]))
    if finding.remedy:
        click.echo(textwrap.fill(f"→ {finding.remedy}", WIDTH, initial_indent=" " * 8, subsequent_indent=" " * 10))

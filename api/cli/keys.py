"""The operator's commands for vendors' API keys."""

from __future__ import annotations

import re
import shlex
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import click

from api.cli.support import ENV_MODES, echo, echo_table, open_resources

if TYPE_CHECKING:
    from api.services.vendors.key_management import IssuedKey
    from api.storage.tables import ApiKeyRow

SCOPES = click.Choice(["read", "orders", "refunds", "webhooks"])
"""As `api.domain.scopes` has them; written out, so that `--help` is fast."""
UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1)}
LONGEST = timedelta(days=3660)
COLUMNS = ("key_id", "name", "env_mode", "key", "scopes", "state", "created_at", "last_used_at", "expires_at")


def _read_lifetime(_: click.Context, __: click.Parameter, value: str | None) -> timedelta | None:
    """Read a number of hours or days, such as 12h or 90d."""
    if value is None:
        return None
    found = re.fullmatch(r"(\d{1,5})([hd])", value, re.ASCII)
    lifetime = int(found[1]) * UNITS[found[2]] if found else timedelta()
    if not timedelta() < lifetime <= LONGEST:
        raise click.BadParameter(f"Expected a number of hours or days up to {LONGEST.days}d, such as 12h or 90d.")
    return lifetime


@click.group()
def keys() -> None:
    """Make, list, rotate and revoke vendors' API keys."""


@keys.command("list")
@click.argument("vendor")
@click.option("--env", "env_mode", type=ENV_MODES, help="Only the keys of one environment.")
@click.option("--all", "with_ended", is_flag=True, help="Revoked and expired keys too.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON lines.")
def keys_list(vendor: str, env_mode: str | None, with_ended: bool, as_json: bool) -> None:
    """List the keys of VENDOR (id or name); their texts are not kept."""
    with open_resources() as resources:
        from api.domain.env import EnvMode
        from api.services.vendors.key_management import list_keys
        from api.services.vendors.vendors import find_vendor

        with resources.database.read() as session:
            found = list_keys(session, find_vendor(session, vendor).id, EnvMode(env_mode) if env_mode else None)
        rows = [_describe(row, resources.clock.now()) for row in found]
    echo_table([row for row in rows if with_ended or row["state"] == "live"], COLUMNS, as_json=as_json)


@keys.command("create")
@click.argument("vendor")
@click.option("--env", "env_mode", type=ENV_MODES, required=True)
@click.option("--name", required=True, help="What the key is for, such as 'bookkeeping'.")
@click.option("--scope", "scopes", type=SCOPES, multiple=True, help="What it may do; may be repeated. All without it.")
@click.option("--expires-in", "lifetime", callback=_read_lifetime, help="When it stops working, such as 12h or 90d.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def keys_create(
    vendor: str, env_mode: str, name: str, scopes: tuple[str, ...], lifetime: timedelta | None, as_json: bool
) -> None:
    """Make a key for VENDOR (id or name) and print it, this once."""
    with open_resources() as resources:
        from api.domain.env import EnvMode
        from api.domain.scopes import ALL_SCOPES, Scope
        from api.services.vendors.key_management import create_key
        from api.services.vendors.vendors import find_vendor

        given, now = frozenset(Scope(scope) for scope in scopes) or ALL_SCOPES, resources.clock.now()
        with resources.database.write() as session:
            owner = find_vendor(session, vendor).id, EnvMode(env_mode)
            made = create_key(session, owner, now, name=name, scopes=given, lifetime=lifetime)
    _tell(made, now, as_json)


@keys.command("rotate")
@click.argument("vendor")
@click.option("--env", "env_mode", type=ENV_MODES, required=True)
@click.option("--name", help="Whose next key it is; 'default' without it.")
@click.option(
    "--revoke-all",
    is_flag=True,
    help="Stop every earlier key of the name at once, for one that leaked. Needs --name where keys of others are live.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def keys_rotate(vendor: str, env_mode: str, name: str | None, revoke_all: bool, as_json: bool) -> None:
    """Make the next key of a name of VENDOR (id or name); the newest earlier one works until the next rotation."""
    with open_resources() as resources:
        from api.domain.env import EnvMode
        from api.services.vendors.key_management import FIRST_NAME, list_live_names, rotate_key
        from api.services.vendors.vendors import find_vendor

        now, wanted = resources.clock.now(), name or FIRST_NAME
        with resources.database.write() as session:
            owner = find_vendor(session, vendor).id, EnvMode(env_mode)
            live = list_live_names(session, owner, now)
            others = sorted(live - {wanted}) if revoke_all else []
            if others and name is None:
                raise click.ClickException(_explain_names(env_mode, sorted(live)))
            made = rotate_key(session, owner, now, name=wanted, revoke_all=revoke_all)
    _tell(made, now, as_json)
    if others:
        names = ", ".join(map(shlex.quote, others))
        click.echo(f"Still live in {env_mode} mode: {names}. If those leaked too, do the same for each.", err=True)


@keys.command("revoke")
@click.argument("vendor")
@click.argument("key_id")
def keys_revoke(vendor: str, key_id: str) -> None:
    """Stop the key KEY_ID of VENDOR (id or name), from its next request on."""
    with open_resources() as resources:
        from api.domain.clock import format_time
        from api.services.vendors.key_management import revoke_key
        from api.services.vendors.vendors import find_vendor

        with resources.database.write() as session:
            row = revoke_key(session, find_vendor(session, vendor).id, key_id, resources.clock.now())
            at = row.revoked_at
    click.echo(f"{key_id} ({row.name}, {row.env_mode}) is revoked since {format_time(at) if at else 'now'}.")


def _explain_names(env_mode: str, names: list[str]) -> str:
    """Say why a leak is not ended by one name's keys, and how it is."""
    options = ", ".join(f"--name {shlex.quote(name)}" for name in names)
    return (
        f"Nothing was revoked: keys of several names are live in {env_mode} mode. Run this once for each that leaked, "
        f"or for all of them if you do not know: {options}"
    )


def _tell(made: IssuedKey, now: datetime, as_json: bool) -> None:
    echo({**_describe(made.row, now), "key": made.text}, as_json)
    click.echo("The key is not shown again.", err=True)


def _describe(row: ApiKeyRow, now: datetime) -> dict[str, str]:
    from api.domain.clock import format_time
    from api.services.vendors.key_management import find_state

    times = {name: getattr(row, name) for name in ("created_at", "last_used_at", "expires_at")}
    return {
        "key_id": row.id,
        "vendor_id": row.vendor_id,
        "name": row.name,
        "env_mode": row.env_mode,
        "key": f"sk_{row.env_mode}_…{row.last4}",
        "scopes": row.scopes,
        "state": find_state(row, now),
        **{name: format_time(at) if at else "" for name, at in times.items()},
    }
